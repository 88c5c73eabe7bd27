// The planner follows the form: whatever is moved is simulated at once, and the curve is drawn again as it
// becomes known. Without this script the form is sent, and the page comes back with what is known by then.
const form = document.querySelector("#design");
const problem = document.querySelector("#problem");
const news = document.querySelector("#news");
const PAUSE = 250; // milliseconds for which a slider must rest
let source = null;
let timer = 0;

/** Put new content in place; who had the keyboard, or had opened or scrolled something there, keeps that. */
function place(part, html) {
  const kept = "summary, .scroller, a[href]";
  const index = [...part.querySelectorAll(kept)].indexOf(document.activeElement);
  const open = [...part.querySelectorAll("details")].map((details) => details.open);
  const scrolled = [...part.querySelectorAll(".scroller")].map((scroller) => scroller.scrollLeft);
  part.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  part.querySelectorAll("details").forEach((details, n) => { details.open = open[n] ?? false; });
  part.querySelectorAll(".scroller").forEach((scroller, n) => { scroller.scrollLeft = scrolled[n] ?? 0; });
  if (index >= 0) part.querySelectorAll(kept)[index]?.focus({ preventScroll: true });
}

function tell(words) {
  problem.hidden = !words;
  problem.querySelector("span").textContent = words;
}

function show({ parts, over, problem: said }) {
  for (const [name, html] of Object.entries(parts)) {
    const part = document.querySelector(`[data-part="${name}"]`);
    if (part.dataset.shown === html) continue;
    part.dataset.shown = html;
    place(part, html);
  }
  tell(said);
  if (over) {
    stop();
    news.textContent = said || document.querySelector(".finding").textContent;
  }
  form.dataset.updated = String(Date.now());
}

function stop() {
  source?.close();
  source = null;
}

function start() {
  clearTimeout(timer);
  stop();
  if (!form.checkValidity()) return;
  const query = new URLSearchParams(new FormData(form));
  history.replaceState(null, "", `?${query}&live=1`); // who comes back here need not wait for the page
  source = new EventSource(`${form.dataset.live}?${query}`);
  source.addEventListener("curve", ({ data }) => show(JSON.parse(data)));
  source.addEventListener("error", () => {
    if (source?.readyState !== EventSource.CLOSED) return; // it tries again by itself
    stop();
    tell("The server does not simulate this. Send the form to see why, or log in again.");
  });
}

function follow(event) {
  const { target } = event;
  const other = target.dataset.for
    ? form.elements[target.dataset.for]
    : form.querySelector(`[data-for="${target.name}"]`);
  if (other) other.value = target.value;
  if (target.name === "criterion") { // another scale: other choices
    const query = new URLSearchParams(new FormData(form));
    query.delete("model");
    location.search = `${query}&live=1`;
    return;
  }
  stop(); // what was asked for is no longer wanted
  clearTimeout(timer);
  timer = setTimeout(start, PAUSE);
}

for (const slider of form.querySelectorAll(".scale")) slider.hidden = false;
form.addEventListener("input", follow);
form.addEventListener("submit", (event) => {
  if (!form.reportValidity()) return;
  event.preventDefault();
  start();
});
document.addEventListener("click", (event) => {
  const link = event.target.closest?.("a[data-items]");
  if (!link || event.ctrlKey || event.metaKey || event.shiftKey) return;
  event.preventDefault();
  for (const [name, value] of [["items", link.dataset.items], ["ratings_per_item", link.dataset.ratings]]) {
    form.elements[name].value = value;
    form.querySelector(`[data-for="${name}"]`).value = value;
  }
  document.querySelector("#main").scrollIntoView();
  start();
});
addEventListener("pagehide", stop);
if (problem.hidden) start();
