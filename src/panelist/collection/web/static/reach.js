// While the next question without an answer is out of sight, a link at the foot of the page leads there.
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

let asked = 0;
const lookSoon = () => { asked ||= requestAnimationFrame(() => { asked = 0; look(); }); };
for (const event of ["scroll", "resize"]) addEventListener(event, lookSoon, { passive: true });
for (const event of ["change", "answer"]) form.addEventListener(event, lookSoon);
look();
