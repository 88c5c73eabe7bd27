// Answers that the server has not yet confirmed. They are written down before they are sent, so that a lost
// connection, a closed tab or a flat battery costs nothing; the key of each lets the server know it again.
const LONGEST_WAIT = 30_000;
const place = `panelist:${location.pathname}`;

let memory = []; // where the browser keeps nothing (private windows), this page at least does

function read() {
  try {
    return JSON.parse(localStorage.getItem(place)) ?? [];
  } catch {
    return memory;
  }
}

function write(waiting) {
  memory = waiting;
  try {
    if (waiting.length) localStorage.setItem(place, JSON.stringify(waiting));
    else localStorage.removeItem(place);
  } catch { /* memory holds them */ }
}

/** Send answers to `url` one after the other; `tell(state)` hears "saved", "sending", "kept" or "refused". */
export function openQueue(url, tell) {
  let wait = 1000;
  let timer = 0;
  let sending = null;

  async function post(answer) {
    const reply = await fetch(url, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(answer),
      signal: AbortSignal.timeout(15_000),
    });
    if (reply.ok) return "saved";
    // What the server is too busy for comes later; what it does not want would never be taken.
    return reply.status >= 500 || reply.status === 408 || reply.status === 429 ? "kept" : "refused";
  }

  async function drain() {
    let state = "saved";
    for (let answer = read()[0]; answer; answer = read()[0]) {
      tell("sending");
      const said = await post(answer).catch(() => "kept");
      if (said === "kept") return "kept";
      if (said === "refused") state = "refused";
      write(read().filter(({ key }) => key !== answer.key)); // read again: another tab may have added some
    }
    return state;
  }

  function flush() {
    clearTimeout(timer);
    sending ??= drain().then((state) => {
      sending = null;
      wait = state === "kept" ? Math.min(2 * wait, LONGEST_WAIT) : 1000;
      if (state === "kept") timer = setTimeout(flush, wait);
      tell(state);
      return state;
    });
    return sending;
  }

  addEventListener("online", flush);
  return {
    add(answer) {
      write([...read(), answer]);
      return flush();
    },
    flush,
    get length() { return read().length; },
  };
}

/** Return a new key: 128 random bits. */
export function makeKey() {
  return [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}
