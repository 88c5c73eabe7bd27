// The dashboard follows the collecting: parts that have changed are replaced, and times are shown in the
// reader's own zone. Without this script the page shows how it stood when it was opened.
const long = new Intl.DateTimeFormat("en-GB", { weekday: "long", day: "numeric", month: "long", hour: "2-digit", minute: "2-digit" });
const short = new Intl.DateTimeFormat("sv-SE", { dateStyle: "short", timeStyle: "medium" });

function tellTimes(root) {
  for (const time of root.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    time.textContent = (time.hasAttribute("data-short") ? short : long).format(at);
  }
}

/** Put new content in place; who had the keyboard, or had scrolled or opened something there, keeps that. */
function place(part, html) {
  const focused = part.contains(document.activeElement) ? document.activeElement : null;
  const href = focused?.getAttribute("href");
  const scrolled = [...part.querySelectorAll(".scroller")].map((scroller) => scroller.scrollLeft);
  const open = [...part.querySelectorAll("details")].map((details) => details.open);
  const index = focused ? [...part.querySelectorAll(".scroller, summary")].indexOf(focused) : -1;
  part.replaceChildren(...new DOMParser().parseFromString(html, "text/html").body.childNodes);
  tellTimes(part);
  part.querySelectorAll(".scroller").forEach((scroller, n) => { scroller.scrollLeft = scrolled[n] ?? 0; });
  part.querySelectorAll("details").forEach((details, n) => { details.open = open[n] ?? false; });
  if (!focused) return;
  const again = index >= 0
    ? part.querySelectorAll(".scroller, summary")[index]
    : [...part.querySelectorAll("a[href]")].find((link) => link.getAttribute("href") === href);
  again?.focus({ preventScroll: true });
}

function follow(board) {
  const shown = new Map();
  const source = new EventSource(board.dataset.live);
  source.addEventListener("board", ({ data }) => {
    const { state, parts } = JSON.parse(data);
    if (state !== board.dataset.state) { location.reload(); return; } // other buttons
    for (const [name, html] of Object.entries(parts)) {
      if (shown.get(name) === html) continue;
      const part = board.querySelector(`[data-part="${name}"]`);
      if (part) place(part, html);
      shown.set(name, html);
    }
    board.dataset.updated = String(Date.now());
  });
  addEventListener("pagehide", () => source.close());
}

tellTimes(document);
const board = document.querySelector("#board");
if (board) follow(board);
