// An old HIT in its frame: what it hands out becomes the answer of this page, which is then saved like any other.
// Nothing that the frame says is run or shown; it can only give the height it wants and the fields of its form.
const form = document.querySelector("form[data-page]");
const frame = document.querySelector("iframe.hit");
const name = frame.dataset.name;
const LEAST = 240, MOST = 30_000; // pixels

// A frame that left its page no longer answers, and is brought back, a few times.
let returns = 0;
let here = true;
frame.addEventListener("load", () => {
  here = false;
  frame.contentWindow.postMessage({ kind: "panelist-ask" }, "*");
  setTimeout(() => {
    if (here || returns >= 5) return;
    returns += 1;
    frame.src = frame.getAttribute("src");
  }, 1000);
});

// Whether somebody touched this page, the frame included. That somebody touched one before says nothing: browsers
// remember it from page to page.
let touched = false;
const look = () => { touched ||= navigator.userActivation?.isActive ?? true; };
setInterval(look, 250);

addEventListener("message", ({ source, data }) => {
  if (source !== frame.contentWindow || typeof data !== "object" || data === null) return;
  if (data.kind === "panelist-here") {
    here = true;
  } else if (data.kind === "panelist-height" && Number.isFinite(data.height)) {
    frame.style.blockSize = `${Math.min(Math.max(data.height, LEAST), MOST)}px`;
  } else if (data.kind === "panelist-submit" && typeof data.fields === "object" && data.fields !== null) {
    look();
    if (!touched) return; // no rater gave that answer
    const fields = Object.fromEntries(Object.entries(data.fields).map(([key, value]) => [key, String(value)]));
    const value = JSON.stringify(fields);
    form.elements[name].value = value;
    form.dispatchEvent(new CustomEvent("answer", { detail: { name, value, raw: null } }));
    form.requestSubmit(document.querySelector("#next"));
  }
});
