"""Write outputs.csv: 50 walks, each described by two systems, from facts made up here.

Run ``python make_outputs.py`` in this folder. Nothing is drawn at random, so the file is the same everywhere.
"""

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

NAMES = """\
Otter Loop
Three Mills Way
Beacon Path
Heron Walk
Chapel Round
Long Dyke Trail
Fern Valley
Quarry Steps
Lantern Hill
Salt Road
Orchard Lane
Drovers' Track
Kestrel Edge
Lower Weir
Bluebell Circuit
Signal Box Walk
Peat Moor Path
Tanner's Brook
Windy Ridge
Harbour Wall
Old Railway
Juniper Walk
Packhorse Way
Curlew Marsh
Ropemaker's Mile""".splitlines()
STARTS = ("the station", "the church", "the car park", "the village hall", "the bus stop", "the ferry")
SIGHTS = ("a ruined mill", "a heron colony", "a stone circle", "a view of the estuary", "an old quarry")
GROUNDS = ("level", "steep in places", "muddy after rain", "paved")
CAFES = ("a café at the end", "a pub halfway", "")


@dataclass(frozen=True)
class Walk:
    """The facts about one walk, as both systems get them."""

    item: str
    name: str
    kilometres: int
    start: str
    sight: str
    ground: str
    cafe: str
    """Empty where there is none."""
    dogs: bool

    @property
    def facts(self) -> str:
        """Return the facts as raters see them."""
        parts = {"name": self.name, "length": f"{self.kilometres} km", "start": self.start}
        parts |= {"sight": self.sight, "ground": self.ground}
        parts |= {"food": self.cafe} if self.cafe else {}
        parts |= {"dogs": "yes" if self.dogs else "no"}
        return "; ".join(f"{key}: {value}" for key, value in parts.items())


def make_walk(number: int) -> Walk:
    """Return the walk of this number, from 0; the lists turn at different speeds."""
    half = ("", " North")[number // len(NAMES)]
    return Walk(
        item=f"walk-{number + 1:02d}",
        name=NAMES[number % len(NAMES)] + half,
        kilometres=3 + (number * 5) % 13,
        start=STARTS[(number * 5 + number // 6) % len(STARTS)],
        sight=SIGHTS[(number * 2 + number // 5) % len(SIGHTS)],
        ground=GROUNDS[(number * 3 + number // 4) % len(GROUNDS)],
        cafe=CAFES[(number + number // 3) % len(CAFES)],
        dogs=number % 5 < 3,
    )


def pick(options: Sequence[str], number: int) -> str:
    """Return one of the options, in turn."""
    return options[number % len(options)]


def loom(walk: Walk, number: int) -> str:
    """Weave the facts into a sentence or two; the wording changes, and a fact may get lost."""
    ground = {"steep in places": "climbs steeply in places", "muddy after rain": "gets muddy after rain"}
    surface = ground.get(walk.ground, f"is {walk.ground} all the way")
    first = pick(
        (
            f"From {walk.start}, {walk.name} takes you past {walk.sight} in {walk.kilometres} "
            f"kilometres and {surface}.",
            f"{walk.name} runs for {walk.kilometres} km from {walk.start}, with {walk.sight} on the "
            f"way; it {surface}.",
            f"If you would like to see {walk.sight}, try {walk.name}: it starts at {walk.start} and "
            f"{surface}.",
        ),
        number,
    )
    dogs = "Dogs are welcome" if walk.dogs else "Please leave the dog at home"
    food = f", and there is {walk.cafe}" if walk.cafe else ""
    return first if number % 7 == 3 else f"{first} {dogs}{food}."


def frame(walk: Walk, number: int) -> str:
    """Put every fact into a fixed frame; complete, and now and then out of joint."""
    dogs = "allow dogs" if walk.dogs else "do not allow dogs"
    joint = pick(("It has", "It have", "There has", "It has"), number)
    food = f" {joint} {walk.cafe}." if walk.cafe else ""
    ground = pick(
        (f"The ground is {walk.ground}.", f"Its ground {walk.ground} is.", f"It is {walk.ground}."), number
    )
    return (
        f"{walk.name} is a walk of {walk.kilometres} km. {walk.name} starts at {walk.start}. {ground} "
        f"You see {walk.sight}.{food} They {dogs}."
    )


def make_rows() -> list[dict[str, str]]:
    """Return the rows of outputs.csv."""
    walks = [make_walk(number) for number in range(50)]
    return [
        {"item": walk.item, "system": write.__name__, "output": write(walk, number), "context": walk.facts}
        for number, walk in enumerate(walks)
        for write in (loom, frame)
    ]


def main() -> None:
    """Write outputs.csv beside this file."""
    rows = make_rows()
    with (Path(__file__).parent / "outputs.csv").open("w", encoding="utf-8", newline="") as file:
        table = csv.DictWriter(file, list(rows[0]), lineterminator="\n")
        table.writeheader()
        table.writerows(rows)


if __name__ == "__main__":
    main()
