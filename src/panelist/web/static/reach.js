// What a text answers stays above it, and while the next question without an answer is out of sight, a link at the
// foot of the page leads there.
const prompt = document.querySelector(".prompt");
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

/** A long prompt is there in full at first; scrolled past, it keeps a part of the window and leaves the rest of its
 * place empty, so that nothing below it jumps. */
function pin() {
  if (!prompt) return;
  const above = prompt.previousElementSibling.getBoundingClientRect().bottom < 0;
  prompt.classList.toggle("above", above);
  const hidden = prompt.scrollHeight - prompt.clientHeight;
  prompt.style.marginBlockEnd = above && hidden > 0 ? `${hidden}px` : "";
  if (!above) prompt.scrollTop = 0;
}

let asked = 0;
const lookSoon = () => { asked ||= requestAnimationFrame(() => { asked = 0; pin(); look(); }); };
for (const event of ["scroll", "resize"]) addEventListener(event, lookSoon, { passive: true });
for (const event of ["change", "answer"]) form.addEventListener(event, lookSoon);
prompt?.classList.add("pinned");
prompt?.addEventListener("toggle", lookSoon, { capture: true });
pin();
look();
