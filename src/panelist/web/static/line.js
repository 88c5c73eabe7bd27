// A line with no pointer until it is answered. A click anywhere counts, also in the middle; a page scroll that
// starts on the line does not. The hidden input is what the form sends, never the range itself.
const STEPS = { ArrowUp: 1, ArrowDown: -1, PageUp: 10, PageDown: -10 };
const SETTLED = 600; // ms without a key: the answer stands

for (const scale of document.querySelectorAll(".scale")) {
  const range = scale.querySelector("[type=range]");
  const answer = scale.querySelector("[type=hidden]");
  const how = document.querySelector(`#${answer.name}-how`);
  const rtl = getComputedStyle(range).direction === "rtl";
  let before = answer.value;
  let timer = 0;

  const show = (value) => {
    answer.value = value;
    if (value !== "") range.value = value;
    scale.toggleAttribute("data-answered", value !== "");
    range.setAttribute("aria-valuetext", value === "" ? scale.dataset.none : scale.dataset.some.replace("{n}", Math.round(value)));
    if (how && value !== "" && how.dataset.answered) how.textContent = how.dataset.answered;
  };

  const settle = () => {
    clearTimeout(timer);
    if (answer.value === "" || answer.value === before) return;
    before = answer.value;
    const detail = { name: answer.name, value: answer.value, raw: Number(answer.value) };
    scale.dispatchEvent(new CustomEvent("answer", { bubbles: true, detail }));
  };

  const valueAt = ({ clientX }) => {
    const thumb = parseFloat(getComputedStyle(scale).getPropertyValue("--thumb"));
    const { left, width } = range.getBoundingClientRect();
    const share = Math.min(1, Math.max(0, (clientX - left - thumb / 2) / (width - thumb)));
    return (100 * (rtl ? 1 - share : share)).toFixed(1);
  };

  range.addEventListener("pointerdown", (event) => {
    range.setPointerCapture(event.pointerId);
    show(valueAt(event));
  });
  range.addEventListener("pointermove", (event) => {
    if (range.hasPointerCapture(event.pointerId)) show(valueAt(event));
  });
  range.addEventListener("pointerup", (event) => { show(valueAt(event)); settle(); });
  range.addEventListener("pointercancel", () => show(before));
  // Browsers differ in how far a key moves a line without steps, so the keys are handled here.
  range.addEventListener("keydown", (event) => {
    const sideways = { ArrowRight: rtl ? -1 : 1, ArrowLeft: rtl ? 1 : -1 }[event.key];
    const from = Number(range.value);
    const to = { Home: 0, End: 100, " ": from, Enter: from }[event.key] ?? from + (sideways ?? STEPS[event.key]);
    if (Number.isNaN(to) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.key === "Enter" && answer.value !== "") return; // a given answer stands: Enter goes on
    event.preventDefault();
    show(Math.min(100, Math.max(0, to)).toFixed(1));
    clearTimeout(timer);
    timer = setTimeout(settle, SETTLED);
  });
  range.addEventListener("input", () => show(Number(range.value).toFixed(1))); // assistive technology
  range.addEventListener("change", settle);
  range.addEventListener("blur", settle);
  range.form.addEventListener("submit", settle, { capture: true });
  show(answer.value);
}
