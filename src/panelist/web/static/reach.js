// What a text answers stays above it, the answers below it if there is room; a link leads to the next open question.
const prompt = document.querySelector(".prompt");
const dock = document.querySelector(".dock");
const PINNED = 0.3; // of the window, at most, for the prompt: see rate.css
const READ = 1 / 3; // of the window, at least, for the text between
const form = document.querySelector("form[data-page]");
const link = document.querySelector("#reach");
const names = [...form.elements].filter(({ name }) => name.startsWith("key-")).map(({ name }) => name.slice(4));

function look() {
  const given = new FormData(form);
  const name = names.find((one) => !given.get(one));
  const control = name && document.getElementById(`${name}-1`);
  const box = control?.closest("fieldset, section")?.getBoundingClientRect();
  const foot = link.closest(".foot-bar").offsetHeight;
  link.hidden = !box || (box.top < innerHeight - foot && box.bottom > 0);
  if (control) link.hash = `#${control.id}`;
}

/** Scrolled past to its end, a long prompt keeps a part of the window, and its place: nothing below it jumps. */
function pin() {
  if (!prompt) return;
  const top = prompt.previousElementSibling.getBoundingClientRect().bottom;
  const above = top + prompt.scrollHeight < PINNED * innerHeight;
  // The place is kept below it, not as its own margin: that would end its stay as much too early. It is there
  // before it is needed, since a page that was shorter for a moment would scroll back.
  const { style } = prompt.nextElementSibling;
  const keep = (hidden) => { style.marginBlockStart = above && hidden > 0 ? `${hidden}px` : ""; };
  if (above && !prompt.classList.contains("above")) keep(prompt.scrollHeight - PINNED * innerHeight);
  prompt.classList.toggle("above", above);
  keep(prompt.scrollHeight - prompt.clientHeight);
  if (!above) prompt.scrollTop = 0;
}

/** Answers that would leave too little of the text in view stay at the end of the page. */
function moor() {
  if (!dock) return;
  dock.classList.add("pinned"); // which makes it lower
  const above = prompt ? Math.min(prompt.scrollHeight, PINNED * innerHeight) : 0;
  const below = dock.offsetHeight + link.closest(".foot-bar").offsetHeight;
  dock.classList.toggle("pinned", above + below <= (1 - READ) * innerHeight);
}

let asked = 0;
const lookSoon = () => { asked ||= requestAnimationFrame(() => { asked = 0; pin(); look(); }); };
const moorSoon = () => requestAnimationFrame(() => { moor(); lookSoon(); });
for (const event of ["scroll", "resize"]) addEventListener(event, lookSoon, { passive: true });
for (const event of ["change", "answer"]) form.addEventListener(event, lookSoon);
prompt?.addEventListener("toggle", moorSoon, { capture: true });
addEventListener("resize", moorSoon, { passive: true });
moor();
pin();
look();
