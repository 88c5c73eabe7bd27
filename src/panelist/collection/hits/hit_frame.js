// What an old HIT finds in place of the platform: it runs first in the frame, hands the fields of the form to the
// page around it, and draws the crowd elements. It must not disturb the names that the HIT's own scripts use.
(() => {
  "use strict";
  // Connections between browsers pass every content policy that browsers know today: so there are none here.
  for (const name of ["RTCPeerConnection", "webkitRTCPeerConnection", "mozRTCPeerConnection"]) {
    Object.defineProperty(window, name, { value: undefined });
  }
  // The scripts of the HIT look for this first, and do nothing in a window that has not been closed in this way.
  Object.defineProperty(window, "panelistFrame", { value: true });
  const RESERVED = new Set(["assignmentId", "hitId", "workerId", "turkSubmitTo"]);
  const crowd = []; // functions that put the answers of crowd elements among the fields
  let sent = false;
  const tell = (message) => parent.postMessage(message, "*"); // the frame has no origin, and the parent checks the sender

  addEventListener("message", ({ source, data }) => {
    if (source === parent && data?.kind === "panelist-ask") tell({ kind: "panelist-here" });
  });

  function put(fields, name, value) {
    if (!name || RESERVED.has(name) || name.startsWith("__crowd")) return;
    fields[name] = name in fields ? `${fields[name]}|${value}` : String(value); // as the platform joined them
  }

  function collect(form, submitter) {
    const fields = {};
    let data;
    try { data = new FormData(form, submitter); } catch { data = new FormData(form); }
    for (const [name, value] of data) if (typeof value === "string") put(fields, name, value);
    for (const add of crowd) add(fields);
    return fields;
  }

  function finish(form, submitter) {
    if (sent) return;
    sent = true;
    tell({ kind: "panelist-submit", fields: collect(form, submitter) });
    setTimeout(() => { sent = false; }, 3000); // the page around shows it again where it was not taken
  }

  // The HIT's own handlers come first: what they prevent is prevented.
  addEventListener("submit", (event) => {
    if (event.defaultPrevented) return;
    event.preventDefault();
    finish(event.target, event.submitter);
  });
  HTMLFormElement.prototype.submit = function submit() { finish(this); };

  // What the platform's own script offered.
  window.turkSetAssignmentID ??= () => {};
  window.turkGetParam ??= (name, otherwise = "") => new URLSearchParams(location.search).get(name) ?? otherwise;
  window.turkGetSubmitToHost ??= () => "";

  // A frame without an origin has nowhere to keep things: for as long as the page is open, here.
  for (const name of ["localStorage", "sessionStorage"]) {
    const kept = new Map();
    const store = {
      getItem: (key) => kept.get(String(key)) ?? null,
      setItem: (key, value) => { kept.set(String(key), String(value)); },
      removeItem: (key) => { kept.delete(String(key)); },
      clear: () => kept.clear(),
      key: (place) => [...kept.keys()][place] ?? null,
      get length() { return kept.size; },
    };
    try { Object.defineProperty(window, name, { value: store, configurable: true }); } catch { /* as it is */ }
  }

  // A boxed-in page may open no dialogue: what it would have said is said at its top.
  window.alert = (words) => {
    const box = make("div", { className: "panelist-alert", textContent: String(words), title: "×" });
    box.setAttribute("role", "alert");
    box.addEventListener("click", () => box.remove());
    for (const old of document.querySelectorAll(".panelist-alert")) old.remove();
    document.body.prepend(box);
    box.scrollIntoView();
  };
  window.confirm = () => true;
  window.prompt = (_, otherwise = "") => otherwise;

  // Crowd elements, drawn with the browser's own controls.
  let groups = 0;
  const make = (tag, props = {}, ...inside) => {
    const made = Object.assign(document.createElement(tag), props);
    made.append(...inside);
    return made;
  };
  const labelled = (control, words) => make("label", {}, control, " ", ...words);

  function drawRadio(element, group) {
    const name = element.getAttribute("name") ?? "";
    const value = element.getAttribute("value") ?? name;
    const input = make("input", { type: "radio", name: group, required: true, value, checked: element.hasAttribute("checked") });
    const words = [...element.childNodes];
    element.replaceChildren(labelled(input, words));
    crowd.push((fields) => put(fields, `${name}.${value}`, input.checked));
  }

  function drawCheckbox(element) {
    const name = element.getAttribute("name") ?? "";
    const value = element.getAttribute("value") ?? "on";
    const input = make("input", { type: "checkbox", name: "__crowd-box", checked: element.hasAttribute("checked") });
    const words = [...element.childNodes];
    element.replaceChildren(labelled(input, words));
    crowd.push((fields) => put(fields, `${name}.${value}`, input.checked));
  }

  function drawSlider(element) {
    const input = make("input", { type: "range", name: element.getAttribute("name") ?? "" });
    for (const key of ["min", "max", "step"]) if (element.hasAttribute(key)) input[key] = element.getAttribute(key);
    input.value = element.getAttribute("value") ?? input.min;
    input.setAttribute("aria-label", input.name);
    const shown = make("output", {}, input.value);
    input.addEventListener("input", () => { shown.value = input.value; });
    element.append(input, shown);
  }

  function drawInput(element, tag) {
    const control = make(tag, { name: element.getAttribute("name") ?? "", required: element.hasAttribute("required") });
    control.value = element.getAttribute("value") ?? "";
    if (element.hasAttribute("placeholder")) control.placeholder = element.getAttribute("placeholder");
    if (tag === "input" && element.hasAttribute("type")) control.type = element.getAttribute("type");
    element.append(make("label", {}, element.getAttribute("label") ?? "", " ", control));
  }

  function drawClassifier(element, several) {
    const name = element.getAttribute("name") ?? "";
    let categories = [];
    try { categories = JSON.parse((element.getAttribute("categories") ?? "[]").replaceAll("'", '"')); } catch { /* none */ }
    const group = `__crowd-${groups++}`;
    const inputs = categories.map((value) => make("input", { type: several ? "checkbox" : "radio", name: group, value, required: !several }));
    const box = make("fieldset", {}, make("legend", {}, element.getAttribute("header") ?? ""));
    inputs.forEach((input, place) => box.append(labelled(input, [categories[place]])));
    element.append(box);
    crowd.push((fields) => {
      const chosen = inputs.filter((input) => input.checked).map((input) => input.value);
      if (several) put(fields, `${name}.labels`, JSON.stringify(chosen));
      else if (chosen.length) put(fields, `${name}.label`, chosen[0]);
    });
  }

  function drawForm(element) {
    const form = make("form");
    form.append(...element.childNodes);
    element.append(form);
    const buttons = [...form.querySelectorAll("crowd-button")];
    for (const button of buttons) {
      const submits = (button.getAttribute("form-action") ?? "none") === "submit";
      const made = make("button", { type: submits ? "submit" : "button" });
      made.append(...button.childNodes);
      button.append(made);
    }
    const ready = form.querySelector("button[type=submit], input[type=submit], button:not([type])");
    if (!ready) form.append(make("p", {}, make("button", { type: "submit", className: "crowd-submit" }, "Submit")));
    element.submit = () => form.requestSubmit();
  }

  function draw() {
    for (const group of document.querySelectorAll("crowd-radio-group")) {
      const name = `__crowd-${groups++}`;
      for (const one of group.querySelectorAll("crowd-radio-button")) drawRadio(one, name);
    }
    for (const one of document.querySelectorAll("crowd-checkbox")) drawCheckbox(one);
    for (const one of document.querySelectorAll("crowd-slider")) drawSlider(one);
    for (const one of document.querySelectorAll("crowd-input")) drawInput(one, "input");
    for (const one of document.querySelectorAll("crowd-text-area")) drawInput(one, "textarea");
    for (const one of document.querySelectorAll("crowd-classifier")) drawClassifier(one, false);
    for (const one of document.querySelectorAll("crowd-classifier-multi-select")) drawClassifier(one, true);
    for (const one of document.querySelectorAll("crowd-form")) drawForm(one);
    const size = () => tell({ kind: "panelist-height", height: document.documentElement.scrollHeight });
    new ResizeObserver(size).observe(document.body);
    size();
  }
  document.addEventListener("DOMContentLoaded", draw);
})();
