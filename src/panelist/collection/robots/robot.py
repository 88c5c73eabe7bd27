"""One simulated rater: opens the link, reads what the page asks, answers as its script would, and continues.

Whatever happens to the server, the robot does what a page does: it keeps what was not acknowledged, sends it
again under the same key, and comes back through its link.
"""

import asyncio
import json
import secrets
from collections.abc import Mapping
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from time import perf_counter
from urllib.parse import parse_qsl, quote, urlencode

from panelist.collection.pages.translations import Words
from panelist.collection.robots.browser import FORM, JSON, Address, Browser, Reply, ReplyLost
from panelist.collection.robots.mind import Mind, hash_bytes, join_hashes
from panelist.collection.robots.page_reader import PageContent, read_sheet
from panelist.collection.robots.record import ConfirmedAnswer, Record, RobotLost, Stay
from panelist.core.prose import list_words
from panelist.core.tables.columns import SIMULATED, SIMULATED_YES

MOST_PAGES = 20_000
MOST_TRIES = 3  # of a page that the server shows again
WIDTH = 1280
LATER = frozenset({429, 502, 503, 504})
ENDS = list_words(
    "finished screened_out declined paused closed full released timed_out waiting unknown trouble"
)


@dataclass(frozen=True)
class Habits:
    """How robots behave."""

    think: tuple[float, float] | None = None
    """Least and most seconds on a page of the plan; None continues at once."""
    twice: float = 0.0
    """The share of answers sent twice, as by a double click."""
    scripts: bool = True
    """Whether each answer is sent the moment it is given; without it, only the form is."""
    patience: float = 120.0
    """How many seconds to wait for a server that is down."""
    first_wait: float = 0.05
    longest_wait: float = 1.0


class Robot:
    """A simulated rater with its own connection."""

    def __init__(
        self,
        address: Address,
        mind: Mind,
        words: Words,
        record: Record,
        habits: Habits,
        badge: Mapping[str, str],
    ) -> None:
        self.address = address
        self.mind = mind
        self.words = words
        self.record = record
        self.habits = habits
        self.badge = badge
        self.browser = Browser(address)
        self.link = ""

    async def take_part(self, door: AbstractAsyncContextManager[None] | None = None) -> Stay:
        """Return how the visit ended, once it has; the robot joins when the door allows it."""
        try:
            async with door or nullcontext():
                reply = await self._enter()
            return await self._visit(reply)
        finally:
            self.browser.close()

    async def _visit(self, reply: Reply) -> Stay:
        tries, last = 0, ""
        for pages in range(MOST_PAGES):
            sheet = read_sheet(reply.text)
            if not sheet.action:
                return Stay(self.mind.rater, self.link, self._find_end(sheet), sheet.code, pages)
            tries = tries + 1 if sheet.page == last and reply.status == 422 else 0
            last = sheet.page
            if tries >= MOST_TRIES:
                raise RobotLost(f"The page {sheet.page} of {self.link} is shown again and again.")
            reply = await self._answer(sheet)
        raise RobotLost(f"{self.link} does not end after {MOST_PAGES} pages.")

    async def _enter(self) -> Reply:
        """Return the first page: by the open link, or by a personal one."""
        path, query = self.address.path, dict(parse_qsl(self.address.query))
        query[SIMULATED] = SIMULATED_YES  # the server keeps it with the visit
        if "/r/" in path:
            self.link = path
            return await self._ask("look", "GET", f"{path}?{urlencode(query, quote_via=quote)}")
        query = {**self.badge, **query}
        if self.mind.group and not any(one.groups for one in self.mind.world.study.file.background):
            query.setdefault("group", self.mind.group)
        reply = await self._ask("join", "GET", f"{path}?{urlencode(query, quote_via=quote)}")
        return await self._follow(reply)

    async def _follow(self, reply: Reply) -> Reply:
        """Return the page that a reply leads to: itself, unless it leads elsewhere."""
        if reply.status != 303:
            return reply
        self.link = reply.headers["location"]
        return await self._ask("look", "GET", self.link)

    async def _answer(self, sheet: PageContent) -> Reply:
        """Fill in the form of a page, send it, and return the page that follows."""
        form = dict(sheet.hidden)
        if names := sheet.names:
            await self._think()
            seconds = self.mind.take_seconds()
            heard = await self._play(sheet)
            if sheet.frame:
                answers = await self._fill_hit(sheet, form)
            else:
                answers = self._fill_in(sheet, names, form, heard)
            for count, (name, value) in enumerate(answers.items(), start=1):
                form[f"key-{name}"] = key = secrets.token_hex(16)
                if self.habits.scripts:
                    spent = round(seconds * count / len(answers), 1)
                    await self._send_answer(sheet, name, value, key, spent)
            form["seconds"] = str(seconds)
        else:
            form |= sheet.boxes
            self._introduce(sheet, form)
        button = sheet.primary
        if button is not None and button.name:
            form[button.name] = button.value
        reply = await self._ask("page", "POST", sheet.action, urlencode(form).encode(), FORM)
        if reply.status == 303 and names:
            token = self._token()
            for name, value in answers.items():
                self.record.receipts.append(
                    ConfirmedAnswer(token, sheet.page, name, value, form[f"key-{name}"])
                )
        return await self._follow(reply)

    async def _play(self, sheet: PageContent) -> dict[int, str]:
        """Fetch the media of a page as a player does; return what each output is known by."""
        found: dict[int, list[str]] = {}
        for address in sheet.media:
            part = address.rpartition("/")[2].split("-")[2]
            reply = await self._ask("look", "GET", address)
            if part.isdecimal():
                found.setdefault(int(part), []).append(hash_bytes(reply.body))
        return {place: join_hashes(hashes) for place, hashes in found.items()}

    def _fill_in(
        self, sheet: PageContent, names: list[str], form: dict[str, str], heard: Mapping[int, str]
    ) -> dict[str, str]:
        """Put an answer to every question into the form; return those that were not there before."""
        view = self.mind.world.recognition.look(sheet, heard)
        if heard:
            about = {"seen_end": True, "played": 1, "plays": 1, "speed": 1}
            form["facts"] = json.dumps({"outputs": {str(place): about for place in heard}})
        if not (view.told or view.practice):
            self.record.unknown += sum(seen.system < 0 for seen in view.outputs)
        form |= sheet.chosen
        new: dict[str, str] = {}
        for name in names:
            if form.get(name):
                continue  # it was answered before the page was opened again
            new[name] = form[name] = value = self.mind.answer(name, view)
            self._press(sheet, name, value, form)
        return new

    async def _fill_hit(self, sheet: PageContent, form: dict[str, str]) -> dict[str, str]:
        """Open the old HIT in its frame, fill in its form, and return it as the page sends it."""
        reply = await self._ask("look", "GET", sheet.frame)
        [name] = sheet.names
        form[name] = self.mind.fill_hit(reply.text, sheet.frame.rpartition("/")[2])
        return {name: form[name]}

    def _press(self, sheet: PageContent, name: str, value: str, form: dict[str, str]) -> None:
        """Set the controls that make an answer; nobody can choose what is not on the page."""
        choices = sheet.choices
        if name in choices:
            parts = {name: value}
        elif f"{name}-best" in choices:
            best, _, worst = value.partition(",")
            parts = {f"{name}-best": best, f"{name}-worst": worst}
        elif f"{name}-1" in choices:
            parts = {f"{name}-{place}": rank for place, rank in enumerate(value.split(","), start=1)}
        elif name in sheet.lines or name in sheet.words:
            return
        else:
            raise RobotLost(f"The page {sheet.page} asks for {name}, but has no control for it.")
        for control, chosen in parts.items():
            if chosen not in choices.get(control, ()):
                raise RobotLost(f"The page {sheet.page} does not offer {chosen!r} for {control}.")
            form[control] = chosen

    def _introduce(self, sheet: PageContent, form: dict[str, str]) -> None:
        """Answer the questions about the rater."""
        for name in (*sheet.choices, *sheet.words):
            if name.startswith("b") and name[1:].isdigit():
                form[name] = self.mind.introduce(int(name[1:]), sheet.choices.get(name, []))
            elif name.startswith("q") and name[1:].isdigit():
                form[name] = self.mind.understand(int(name[1:]), sheet.choices.get(name, []))
            elif name == "word":
                form[name] = self.mind.hear()
            else:
                form.setdefault(name, "")

    async def _send_answer(self, sheet: PageContent, name: str, value: str, key: str, seconds: float) -> None:
        message = {
            "page": sheet.page,
            "name": name,
            "value": value,
            "key": key,
            "seconds_first": round(seconds / 2, 1),
            "seconds": seconds,
            "changes": 0,
            "raw": float(value) if name in sheet.lines else None,
            "width": WIDTH,
        }
        body = json.dumps(message).encode()
        again = self.habits.twice and self.mind.rng.random() < self.habits.twice
        for _ in range(2 if again else 1):
            reply = await self._ask("answer", "POST", sheet.answer, body, JSON)
            if reply.status == 200 and json.loads(reply.body).get("saved"):
                self.record.receipts.append(ConfirmedAnswer(self._token(), sheet.page, name, value, key))
            else:
                self.record.refused.append(f"{reply.status} {reply.text[:200]}")

    async def _ask(self, what: str, method: str, path: str, body: bytes = b"", content: str = "") -> Reply:
        """Return the reply to a request, sent again until the server is ready to take it."""
        record, habits = self.record, self.habits
        begun, wait = perf_counter(), habits.first_wait
        while True:
            sent = perf_counter()
            record.requests += 1
            pause = wait
            try:
                reply = await self.browser.send(method, path, body, content)
            except ReplyLost as error:
                why = str(error)
            else:
                if reply.status < 500 and reply.status not in LATER:
                    record.times[what].append(perf_counter() - sent)
                    return reply
                why = f"the server said {reply.status}"
                record.faults[reply.status] += 1
                later = reply.headers.get("retry-after", "")
                if later.isdigit():
                    pause = max(wait, min(float(later), 60.0)) if reply.status == 429 else wait
            if perf_counter() - begun > habits.patience:
                raise RobotLost(f"{method} {path} was tried for {habits.patience:.0f} seconds: {why}.")
            record.retries += 1
            await asyncio.sleep(pause * (0.5 + self.mind.rng.random()))
            wait = min(2 * wait, habits.longest_wait)

    async def _think(self) -> None:
        if self.habits.think is not None:
            await asyncio.sleep(float(self.mind.rng.uniform(*self.habits.think)))

    def _find_end(self, sheet: PageContent) -> str:
        """Return which end a page is, by its heading."""
        return next((end for end in ENDS if self.words.say(f"{end}_title") == sheet.heading), "elsewhere")

    def _token(self) -> str:
        return self.link.rpartition("/")[2]
