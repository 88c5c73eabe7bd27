// Each answer is sent the moment it is given, with what a study of ratings wants to know about it.
// The form itself works without this script; then the answers travel with Next.
import { makeKey, openQueue } from "./queue.js";

const form = document.querySelector("form[data-page]");
const status = document.querySelector("#saved");
const next = document.querySelector("#next");
const shown = performance.now();
const given = new Map(); // name of an answer → what has happened to it on this page

const seconds = () => Math.round(performance.now() - shown) / 1000;

function tell(state) {
  if (state === "sending") return; // too short to be read, and a flicker for everybody else
  status.querySelector("span").textContent = status.dataset[state];
  status.classList.toggle("warn", state !== "saved");
}

const queue = openQueue(form.dataset.answer, tell);

function answer(name, value, raw = null) {
  const now = seconds();
  const before = given.get(name) ?? { first: now, changes: -1, value: null };
  if (before.value === value) return;
  const changes = before.changes + 1;
  const key = makeKey();
  given.set(name, { first: before.first, changes, value });
  holdKey(name).value = key; // Next repeats the answer under its key, which makes no second one
  queue.add({
    page: form.dataset.page, name, value, key,
    seconds_first: before.first, seconds: now, changes, raw, width: innerWidth,
  });
  count();
}

/** The field of an answer's key; a reason gets one with its first words. */
function holdKey(name) {
  const found = form.elements[`key-${name}`];
  if (found) return found;
  const made = Object.assign(document.createElement("input"), { type: "hidden", name: `key-${name}` });
  form.append(made);
  return made;
}

/** Say how many questions have an answer, where a page has many. */
function count() {
  const line = document.querySelector("#count");
  if (!line) return;
  const asked = ({ name }) => name.startsWith("key-") && !name.endsWith("-why");
  const names = [...form.elements].filter(asked).map(({ name }) => name.slice(4));
  const done = names.filter((name) => new FormData(form).get(name)).length;
  line.textContent = line.dataset.text.replace("{n}", done);
}

// Native controls say "change"; lines, best-worst and rankings say "answer" once theirs is complete.
form.addEventListener("change", ({ target }) => {
  if (/^c\d+(p\d+)?(s\d+)?(-why)?$/.test(target.name)) answer(target.name, target.value.trim());
});
form.addEventListener("answer", ({ detail }) => answer(detail.name, detail.value, detail.raw));

// The first touch counts as the first action, even if the answer comes later.
form.addEventListener("input", ({ target }) => {
  const name = target.name || target.dataset.for;
  if (name && !given.has(name)) given.set(name, { first: seconds(), changes: -1, value: null });
});

// What is missing is said by the server, in the words of the page and with the focus there. Browsers say it in their
// own language or, with the focus nowhere, not at all; then Enter means Next, too.
form.noValidate = true;
const CONTROLS = "a, button, input, select, textarea, summary, label, audio, video";
document.addEventListener("keydown", (event) => {
  const free = event.key === "Enter" && !event.repeat && !event.defaultPrevented && !event.target.closest(CONTROLS);
  if (free && !document.querySelector("iframe.hit")) form.requestSubmit(next);
});

// Next: everything is saved first; then the page is handed in, again and again until the server has it.
let going = false;
form.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (going) return; // a second click
  going = true;
  next.setAttribute("aria-disabled", "true");
  form.action = event.submitter?.getAttribute("formaction") ?? form.action; // Pause and Back go elsewhere
  const body = new URLSearchParams(new FormData(form, event.submitter));
  body.set("seconds", seconds());
  for (let wait = 1000; ; wait = Math.min(2 * wait, 30_000)) {
    if (await queue.flush() !== "kept") {
      const reply = await fetch(form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
      if (reply?.type === "opaqueredirect" || reply?.ok) return location.assign(form.dataset.home);
      if (reply && reply.status < 500 && reply.status !== 429) return form.submit(); // the server explains
      tell("kept");
    }
    await new Promise((again) => {
      setTimeout(again, wait);
      addEventListener("online", again, { once: true });
    });
  }
});
addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

// The study may set a limit for a page; the server measures it too.
if (form.dataset.seconds) {
  setTimeout(() => {
    form.elements.timed_out.value = "1";
    form.noValidate = true;
    form.requestSubmit();
  }, 1000 * form.dataset.seconds);
}

document.querySelector("#missing")?.focus(); // so that it is read out and seen
count();
if (queue.length) queue.flush(); // left over from an earlier visit
