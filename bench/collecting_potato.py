"""Potato (potato-annotation on PyPI) under the same load: the strongest of the other rating tools.

It is installed into a virtual environment of its own below the temporary folder, or taken from where the
variable PANELIST_POTATO says its program is. Its robot comes in two kinds. The short one sends the least that
an answer needs: save it, ask for the next item, load the page. The whole one sends what Potato 2.12.1's page
was seen to send in Chromium: it saves twice, follows what the rater does, and asks for what it draws.
"""

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from time import perf_counter

from bench.report import say
from panelist.collection.robots.browser import FORM, JSON, Address, Browser, Reply, ReplyLost
from panelist.collection.robots.record import Record

PROGRAM = "PANELIST_POTATO"
INSTALL_SECONDS = 600
SCHEME = "fluency"
_LOADED = (  # by the page, once it is there
    *("/api/colors", "/api/spans/{item}", "/pocket/api/routing", "/api/keyword_highlights/{item}"),
    *("/api/schemas", "/api/colors", "/api/spans/{item}"),
    *("/api/keyword_highlights/{item}", "/api/keyword_highlights/{item}"),
)
_INSTANCE = re.compile(r'<input id="instance_id"[^>]*value="([^"]*)"')


def find_potato() -> Path | None:
    """Return the program, installed if need be; None, with a word about it, where that cannot be."""
    if given := os.environ.get(PROGRAM):
        return Path(given)
    home = Path(tempfile.gettempdir()) / "panelist-bench-potato"
    program = home / "bin" / "potato"
    if program.exists():
        return program
    say("  installing potato-annotation …")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(home)], check=True, timeout=INSTALL_SECONDS)
        pip = [str(home / "bin" / "python"), "-m", "pip", "install", "-qq", "potato-annotation"]
        subprocess.run(pip, check=True, timeout=INSTALL_SECONDS, capture_output=True)
    except (subprocess.SubprocessError, OSError) as error:
        say(f"  potato-annotation cannot be installed ({error}): it is left out")
        return None
    return program


def write_task(folder: Path, texts: list[str], pages: int) -> Path:
    """Return the configuration of a task with one question of five points about each text."""
    (folder / "data").mkdir()
    lines = [json.dumps({"id": f"i{n}", "text": text}) for n, text in enumerate(texts)]
    (folder / "data" / "items.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    config = {
        "annotation_task_name": "Load",
        "task_dir": ".",
        "output_annotation_dir": "annotation_output",
        "output_annotation_format": "json",
        "data_files": ["data/items.jsonl"],
        "item_properties": {"id_key": "id", "text_key": "text"},
        "require_password": False,
        "user_config": {"allow_all_users": True, "users": []},
        "max_annotations_per_user": pages,
        "annotation_schemes": [
            {
                "annotation_type": "likert",
                "name": SCHEME,
                "description": "How fluent is it?",
                "min_label": "very poor",
                "max_label": "very good",
                "size": 5,
            }
        ],
    }
    path = folder / "config.yaml"
    path.write_text(json.dumps(config), encoding="utf-8")  # JSON is YAML
    return path


def find_command(program: Path, config: Path, port: int) -> list[str]:
    """Return the command that serves the task on the loopback address, as its documentation starts it."""
    return [str(program), "start", str(config), "-p", str(port), "--host", "127.0.0.1"]


async def annotate(address: Address, users: int, pages: int, record: Record, whole: bool) -> None:
    """Let so many users annotate so many items each, all at once; ``whole`` as the page in a browser does."""
    await asyncio.gather(*(_User(address, number, record, whole).work(pages) for number in range(users)))


class _User:
    def __init__(self, address: Address, number: int, record: Record, whole: bool) -> None:
        self.browser = Browser(address, cookies=True)
        self.number = number
        self.record = record
        self.whole = whole

    async def work(self, pages: int) -> None:
        try:
            await self.ask("join", "POST", "/auth", f"email=user{self.number}&pass=".encode(), FORM)
            for page in range(pages):
                reply = await self.ask("look", "GET", "/annotate")
                found = _INSTANCE.search(reply.text)
                if found is None:
                    return
                await self.answer(found[1], str(1 + page % 5))
        finally:
            self.browser.close()

    async def answer(self, item: str, value: str) -> None:
        """Choose a point for an item, and press Next."""
        saved = {
            "instance_id": item,
            "annotations": {f"{SCHEME}:{value}": value},
            "cleared_schemas": [],
            "span_annotations": [],
            "response_time_seconds": 2.0,
        }
        if self.whole:
            for path in _LOADED:
                await self.ask("more", "GET", path.format(item=item))
            change = {"instance_id": item, "schema_name": SCHEME, "label_name": value, "action": "select"}
            await self.post("more", "/api/track_annotation_change", change | {"new_value": value})
        await self.post("answer", "/updateinstance", saved)
        if self.whole:
            await self.post("more", "/updateinstance", saved)
            await self.post("more", "/api/track_interactions", {"instance_id": item, "events": []})
        await self.post("page", "/annotate", {"action": "next_instance", "instance_id": item})

    async def post(self, what: str, path: str, message: Mapping[str, object]) -> Reply:
        """Send a message as JSON."""
        return await self.ask(what, "POST", path, json.dumps(message).encode(), JSON)

    async def ask(self, what: str, method: str, path: str, body: bytes = b"", content: str = "") -> Reply:
        """Return the reply; one that is lost or an error is counted and asked for again."""
        while True:
            self.record.requests += 1
            sent = perf_counter()
            try:
                reply = await self.browser.send(method, path, body, content)
            except ReplyLost:
                self.record.retries += 1
                await asyncio.sleep(0.2)
                continue
            if reply.status < 400:
                self.record.times[what].append(perf_counter() - sent)
                return reply
            self.record.faults[reply.status] += 1
            await asyncio.sleep(0.2)
