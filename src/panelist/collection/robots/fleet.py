"""Many simulated raters at once, until the places they came for are filled."""

import asyncio
import secrets
import sys
from collections.abc import Coroutine
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, TypeVar

from panelist.collection.pages.translations import load_words
from panelist.collection.recruiting.badges import write_badge
from panelist.collection.robots.browser import Address, read_address
from panelist.collection.robots.mind import Mind, World
from panelist.collection.robots.record import Record, RobotLost, Stay
from panelist.collection.robots.robot import Habits, Robot
from panelist.core.progress import OnProgress, Progress
from panelist.design.plan import Plan
from panelist.study.panels import find_panel
from panelist.study.study import Study

NOT_FILLED = ("screened_out", "declined", "released", "timed_out", "excluded")
MOST_TO_ONE = 3  # replacements allowed for each rater wanted

T = TypeVar("T")


@dataclass(frozen=True, kw_only=True)
class Fleet:
    """Who comes: how many, in which groups, how fast."""

    raters: int
    groups: tuple[str, ...] = ()
    """The group of each, in turn; none where the plan has none."""
    seed: int = 1
    careless: float = 0.0
    habits: Habits = field(default_factory=Habits)
    ramp: float = 0.0
    """The seconds within which they arrive."""
    in_turn: bool = False
    """Whether each waits until the one before has a place, so that a seed always gives the same ratings."""
    name: str = ""
    """What the ids of these people begin with; drawn where it is empty."""
    secret: str = ""
    """The study's key, where its panel admits only people with a link that the researcher made."""


def send_robots(study: Study, url: str, fleet: Fleet, on_progress: OnProgress | None = None) -> Record:
    """Return what simulated raters did at the server of a study, once all have ended.

    Where one is screened out or released, another comes for the place, as a panel would send one.
    """
    address = read_address(url)
    allow_connections(fleet.raters)
    return run_in_loop(visit(study, address, fleet, on_progress))


def find_groups(plan: Plan) -> tuple[str, ...]:
    """Return the group of each place of a plan, in order; none where it has no groups."""
    first = plan.table.drop_duplicates("rater")["group"].astype(str).tolist()
    return tuple(first) if any(first) else ()


async def visit(
    study: Study,
    address: Address,
    fleet: Fleet,
    on_progress: OnProgress | None = None,
    record: Record | None = None,
) -> Record:
    """Send the robots within a running event loop; ``record`` is filled while they work."""
    record = Record() if record is None else record
    world = World(study, fleet.raters * MOST_TO_ONE, fleet.seed, fleet.careless)
    words = load_words(study.file.language)
    name = fleet.name or f"robot-{secrets.token_hex(4)}"
    panel = find_panel(study.file.recruiting) if study.file.recruiting is not None else None
    between = fleet.ramp / max(fleet.raters, 1)
    door = asyncio.Lock() if fleet.in_turn else nullcontext()

    async def fill(place: int) -> None:
        await asyncio.sleep(place * between)
        group = fleet.groups[place % len(fleet.groups)] if fleet.groups else ""
        for turn in range(MOST_TO_ONE):
            rater = place + turn * fleet.raters
            badge = write_badge(panel, fleet.secret, f"{name}-{rater + 1}")
            robot = Robot(address, Mind(world, rater, group), words, record, fleet.habits, badge)
            try:
                stay = await robot.take_part(door)
            except RobotLost as error:
                stay = Stay(rater, robot.link, f"lost: {error}")
            record.stays.append(stay)
            if on_progress is not None:
                on_progress(Progress(len(record.stays), fleet.raters))
            if stay.end not in NOT_FILLED:
                return

    await asyncio.gather(*(fill(place) for place in range(fleet.raters)))
    return record


def run_in_loop(work: Coroutine[Any, Any, T]) -> T:
    """Return what ``work`` returns, run in an event loop: uvloop's, where there is one, costs half."""
    if sys.platform == "win32":
        return asyncio.run(work)
    import uvloop

    return uvloop.run(work)


def allow_connections(count: int) -> None:
    """Allow this process, and those it starts, ``count`` connections, as far as the system permits."""
    if sys.platform == "win32":
        return
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = count + 100 if hard == resource.RLIM_INFINITY else min(count + 100, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
