// What a rater has seen and heard, recorded; asked for before Next only where the study says so.
const form = document.querySelector("form[data-page]");
const outputs = [...document.querySelectorAll("[data-output].text")];
const notice = document.querySelector("#unseen");
const SECOND = 1000;
const WHOLE = 0.95; // players differ in the last moments
const PATIENCE = 8 * SECOND;

const seen = new Map(outputs.map((box) => [box, { end: false, view: 0, since: 0, shown: 0 }]));
const players = [...form.querySelectorAll("audio, video")];
const heard = new Map(players.map((player) => [player, { plays: 0, speed: 0 }]));

// A mark behind the last line; it counts once it was on the screen for a second.
const ends = new Map();
for (const box of outputs) {
  const mark = document.createElement("span");
  mark.className = "end";
  box.append(mark);
  ends.set(mark, box);
}
const timers = new Map();
const endWatch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    clearTimeout(timers.get(target));
    if (!isIntersecting) continue;
    timers.set(target, setTimeout(() => { seen.get(ends.get(target)).end = true; settle(); }, SECOND));
  }
});
for (const mark of ends.keys()) endWatch.observe(mark);

// How long each output was in view, while the page itself was.
function clock(box, runs) {
  const about = seen.get(box);
  const now = performance.now();
  if (about.since) about.view += now - about.since;
  about.since = runs ? now : 0;
}
const viewWatch = new IntersectionObserver((entries) => {
  for (const { target, isIntersecting } of entries) {
    seen.get(target).shown = isIntersecting;
    clock(target, isIntersecting && !document.hidden);
  }
});
for (const box of outputs) viewWatch.observe(box);
function clockAll() {
  for (const box of outputs) clock(box, seen.get(box).shown && !document.hidden);
}
document.addEventListener("visibilitychange", clockAll);

// The texts of each output by its place: a dialogue has several, some shared.
const placesOf = (box) => box.dataset.output.split(" ");
const boxesOf = new Map();
for (const box of outputs) {
  for (const place of placesOf(box)) boxesOf.set(place, [...(boxesOf.get(place) ?? []), box]);
}

/** Whether outputs stand one above the other, where there are several. */
function isFolded() {
  const own = (place) => outputs.find((box) => box.dataset.output === place)?.getBoundingClientRect();
  const [first, second] = [...boxesOf.keys()].map(own).filter(Boolean);
  return Boolean(second) && (second.top >= first.bottom || second.bottom <= first.top);
}

const boxOf = (player) => player.closest("[data-output]");
const isBroken = (player) => player.closest(".player")?.querySelector(".unplayable input")?.checked;

/** The seconds that were played, however often: seeking over something does not play it. */
function measure(player) {
  let total = 0;
  for (let n = 0; n < player.played.length; n += 1) total += player.played.end(n) - player.played.start(n);
  return total;
}
const length = (player) => (Number.isFinite(player.duration) ? player.duration : 0);
const share = (player) => (length(player) ? Math.min(1, measure(player) / length(player)) : 0);

for (const player of players) {
  const about = heard.get(player);
  let wait = 0;
  const complain = () => player.closest(".player")?.classList.add("broken");
  player.addEventListener("play", () => {
    for (const other of players) if (other !== player) other.pause(); // one plays at a time
    if (player.currentTime < 0.5 || player.ended) about.plays += 1;
    about.speed = Math.max(about.speed, player.playbackRate);
    wait = setTimeout(() => { if (!measure(player)) complain(); }, PATIENCE);
  });
  player.addEventListener("ratechange", () => {
    if (!player.paused) about.speed = Math.max(about.speed, player.playbackRate);
  });
  player.addEventListener("timeupdate", () => clearTimeout(wait));
  player.addEventListener("error", complain);
  player.addEventListener("ended", () => { fetchAhead(); settle(); });
  if (player.error) complain(); // it failed before this script ran
}

/** The media of the next page, once those of this one were played. */
let fetched = false;
function fetchAhead() {
  if (fetched || players.some((player) => !heard.get(player).plays && !isBroken(player))) return;
  fetched = true;
  for (const address of (form.dataset.ahead ?? "").split(" ").filter(Boolean)) {
    fetch(`${form.dataset.home}/media/${address}`, { priority: "low" }).catch(() => null);
  }
}
if (!players.length) setTimeout(fetchAhead, 2 * SECOND);

function collect() {
  const facts = { outputs: {} };
  clockAll();
  for (const [place, boxes] of boxesOf) {
    const view = boxes.reduce((sum, box) => sum + seen.get(box).view, 0);
    const about = { seen_end: boxes.every((box) => seen.get(box).end), in_view: Math.round(view) / 1000 };
    const own = players.filter((player) => boxes.includes(boxOf(player)));
    if (own.length) {
      const sum = (of) => own.reduce((all, player) => all + of(player), 0);
      const whole = sum(length);
      const played = sum((player) => Math.min(measure(player), length(player)));
      about.played = whole ? Math.min(1, played / whole) : 0;
      about.plays = sum((player) => heard.get(player).plays);
      about.speed = Math.max(...own.map((player) => heard.get(player).speed));
    }
    facts.outputs[place] = about;
  }
  if (boxesOf.size > 1) facts.folded = isFolded();
  return facts;
}

/** What is still to be seen or heard, by the study's rule; nothing where all was. */
function findUnseen() {
  const { read, played } = form.dataset;
  const unheard = { whole: (player) => share(player) < WHOLE, once: (player) => !heard.get(player).plays }[played];
  const player = unheard && players.find((one) => !isBroken(one) && unheard(one));
  if (player) return { what: "played", box: boxOf(player), target: player };
  const box = read === "end" && outputs.find((one) => !seen.get(one).end);
  return box ? { what: "read", box, target: box.querySelector(".end") } : null;
}

/** The message goes once what it names was seen or heard. */
let said = null;
function settle() {
  if (said && findUnseen()?.target !== said) notice.hidden = true;
}

function say({ what, box, target }) {
  said = target;
  const id = box?.closest("article")?.getAttribute("aria-labelledby") ?? `output-${box && placesOf(box)}`;
  const name = document.getElementById(id);
  const which = (name?.querySelector(".letter")?.nextSibling.data ?? name?.textContent)?.trim();
  notice.querySelector("span").textContent = which
    ? notice.dataset[what].replace("{which}", which)
    : notice.dataset[`${what}One`];
  notice.hidden = false;
  target.scrollIntoView({ block: "center" });
  (target.matches("audio, video") ? target : notice).focus({ preventScroll: true });
}

// Before the page is handed in; Pause and Back, and a page whose time is up, are never held.
document.addEventListener("submit", (event) => {
  if (event.target !== form) return;
  form.elements.facts.value = JSON.stringify(collect());
  const leaves = event.submitter?.hasAttribute("formaction") || form.elements.timed_out?.value;
  const unseen = notice && !leaves && findUnseen();
  if (!unseen) return;
  event.preventDefault();
  event.stopImmediatePropagation();
  say(unseen);
}, { capture: true });
