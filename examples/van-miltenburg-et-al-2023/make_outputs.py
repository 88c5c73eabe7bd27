"""Write outputs.csv: 20 basketball games in the summaries of five writers, from results made up here.

Run ``python make_outputs.py`` in this folder. Nothing is drawn at random, so the file is the same everywhere.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Game:
    """What the table of one game holds; teams are named by their towns, players by their positions."""

    item: str
    day: str
    home: str
    home_points: int
    home_record: str
    guest: str
    guest_points: int
    guest_record: str
    half: str
    """The score at half-time, home team first."""
    top: tuple[str, int, int]
    """The winners' best player: position, points, rebounds."""
    best_loser: tuple[str, int, int]
    threes: int
    """Three-pointers made by the winners."""
    mistakes: int
    """Turnovers of the losers."""
    following: str
    """The winners' next opponents."""

    @property
    def winner(self) -> str:
        """Return the team that won."""
        return self.home if self.home_points > self.guest_points else self.guest

    @property
    def loser(self) -> str:
        """Return the team that lost."""
        return self.guest if self.home_points > self.guest_points else self.home

    @property
    def score(self) -> str:
        """Return the score, the winners' points first."""
        points = sorted((self.home_points, self.guest_points), reverse=True)
        return f"{points[0]}–{points[1]}"

    @property
    def margin(self) -> int:
        """Return by how many points the game was won."""
        return abs(self.home_points - self.guest_points)

    @property
    def records(self) -> tuple[str, str]:
        """Return wins and losses of the winners and of the losers."""
        pair = (self.home_record, self.guest_record)
        return pair if self.winner == self.home else pair[::-1]


def _game(line: str) -> Game:
    head, *rest = (part.strip() for part in line.split("|"))
    day, home, points, record, guest, guest_points, guest_record, half, top, best, threes, lost, then = rest
    return Game(
        item=head,
        day=day,
        home=home,
        home_points=int(points),
        home_record=record,
        guest=guest,
        guest_points=int(guest_points),
        guest_record=guest_record,
        half=half,
        top=_player(top),
        best_loser=_player(best),
        threes=int(threes),
        mistakes=int(lost),
        following=then,
    )


POSITIONS = {
    "PG": "point guard",
    "SG": "shooting guard",
    "SF": "small forward",
    "PF": "power forward",
    "C": "centre",
}


def _player(text: str) -> tuple[str, int, int]:
    position, points, rebounds = text.split()
    return POSITIONS[position], int(points), int(rebounds)


GAMES = [
    _game(line)
    for line in """\
g01|Saturday|Northmoor|98|12-3|Saltby|91|8-7|51-44|C 27 11|PG 22 4|9|14|Wexcombe
g02|Sunday|Wexcombe|84|5-10|Easthaven|103|11-4|40-55|SG 31 3|C 18 12|14|17|Saltby
g03|Monday|Easthaven|110|12-4|Millbrook|108|9-7|52-60|PG 29 6|PF 26 10|11|9|Northmoor
g04|Tuesday|Saltby|95|9-7|Harrow Point|77|3-13|48-39|SF 24 8|C 20 9|8|19|Easthaven
g05|Wednesday|Millbrook|88|9-8|Northmoor|102|13-3|41-50|C 30 14|SG 19 2|10|15|Harrow Point
g06|Friday|Harrow Point|99|4-13|Wexcombe|97|5-11|45-49|PF 25 12|PG 28 5|7|12|Millbrook
g07|Saturday|Northmoor|120|14-3|Easthaven|115|12-5|58-61|SG 34 4|PG 33 7|16|11|Saltby
g08|Sunday|Saltby|86|9-8|Millbrook|93|10-8|47-43|PG 21 9|SF 23 6|12|13|Wexcombe
g09|Monday|Wexcombe|101|6-11|Millbrook|90|10-9|54-42|C 26 13|PF 17 11|9|18|Northmoor
g10|Tuesday|Easthaven|94|12-6|Saltby|96|10-8|50-41|SF 28 7|C 24 10|10|10|Harrow Point
g11|Wednesday|Northmoor|87|14-4|Harrow Point|92|5-13|44-47|C 23 15|C 22 11|6|16|Easthaven
g12|Friday|Millbrook|105|11-9|Wexcombe|89|6-12|57-40|SG 30 5|PG 25 4|15|20|Saltby
g13|Saturday|Saltby|100|11-8|Easthaven|99|12-7|46-52|PG 26 8|SG 32 3|11|12|Northmoor
g14|Sunday|Harrow Point|81|5-14|Northmoor|106|15-4|38-59|PF 22 13|SF 16 7|13|22|Millbrook
g15|Monday|Wexcombe|112|7-12|Saltby|109|11-9|55-53|SG 35 2|SF 27 9|17|8|Easthaven
g16|Tuesday|Easthaven|97|13-7|Harrow Point|80|5-15|49-36|C 25 16|PG 21 3|8|17|Wexcombe
g17|Wednesday|Millbrook|91|12-9|Saltby|85|11-10|43-45|SF 24 10|PF 20 12|9|14|Northmoor
g18|Friday|Northmoor|111|16-4|Wexcombe|93|7-13|60-44|PG 28 11|C 19 8|14|16|Saltby
g19|Saturday|Harrow Point|104|6-15|Easthaven|102|13-8|51-51|SG 29 4|PF 27 9|12|10|Northmoor
g20|Sunday|Saltby|90|11-11|Northmoor|94|17-4|42-40|C 24 12|C 23 13|7|13|Millbrook""".splitlines()
]


def pick(options: Sequence[str], number: int) -> str:
    """Return one of the options, in turn."""
    return options[number % len(options)]


def half_time(game: Game) -> tuple[int, int]:
    """Return the points at half-time, the winners' first."""
    home, guest = (int(points) for points in game.half.split("-"))
    return (home, guest) if game.winner == game.home else (guest, home)


def reporter(game: Game, number: int) -> str:
    """Write as a person does: the story of the game, then the figures that carry it."""
    ahead, behind = half_time(game)
    place = "at home" if game.winner == game.home else f"in {game.home}"
    if game.margin <= 5:
        opening = pick(
            (
                f"{game.winner} held their nerve {place} on {game.day} and beat {game.loser} {game.score}.",
                f"It took {game.winner} until the last minute to shake off {game.loser}, {game.score}, "
                f"{place} on "
                f"{game.day}.",
            ),
            number,
        )
    else:
        opening = pick(
            (
                f"{game.winner} had little trouble with {game.loser} {place} on {game.day} and won "
                f"{game.score}.",
                f"A strong evening {place} on {game.day} gave {game.winner} a {game.score} win over "
                f"{game.loser}.",
            ),
            number,
        )
    if ahead > behind:
        middle = f"They led {ahead}–{behind} at the break and never let {game.loser} back in."
    elif ahead == behind:
        middle = f"Nothing separated the two sides at the break, {ahead}–{behind}."
    else:
        middle = (
            f"They were {behind - ahead} points down at the break and turned it round after the interval."
        )
    position, points, rebounds = game.top
    star = f"The {position} led the way with {points} points and {rebounds} rebounds"
    other, lost_points, _ = game.best_loser
    return (
        f"{opening} {middle} {star}; the {lost_points} points of {game.loser}'s {other} were not enough. "
        f"{game.winner} ({game.records[0]}) play {game.following} next."
    )


def slots(game: Game, number: int) -> str:
    """Fill the same sentences every time."""
    position, points, rebounds = game.top
    other, lost_points, lost_rebounds = game.best_loser
    return (
        f"{game.winner} ({game.records[0]}) defeated {game.loser} ({game.records[1]}) {game.score} on "
        f"{game.day}. "
        f"The {position} of {game.winner} scored {points} points and took {rebounds} rebounds. "
        f"The {other} of {game.loser} scored {lost_points} points and took {lost_rebounds} rebounds. "
        f"{game.winner} made {game.threes} three-pointers. {game.loser} lost the ball {game.mistakes} times. "
        f"The next game of {game.winner} is against {game.following}."
    )


def stream(game: Game, number: int) -> str:
    """Write smoothly, repeat phrases, and get a figure wrong now and then."""
    position, points, rebounds = game.top
    wrong = points + 6 if number % 3 == 0 else points
    phrase = pick(("had been looking forward to this evening", "had prepared well for this evening"), number)
    return (
        f"It was {game.score} when {game.winner} beat {game.loser} on {game.day}. {game.winner} "
        f"{phrase}, and it "
        f"could be seen. {game.loser} {phrase} as well, and it could be seen as well. With {wrong} "
        f"points the "
        f"{position} had the most points, and the {position} had {rebounds} rebounds as well. "
        f"{game.winner} {phrase} "
        f"and will now look forward to an evening against {game.following}."
    )


def nested(game: Game, number: int) -> str:
    """Give every fact its sentence, in the order of the table and not of the game."""
    position, points, rebounds = game.top
    other, lost_points, lost_rebounds = game.best_loser
    ahead, behind = half_time(game)
    return (
        f"{game.loser} lost the ball {game.mistakes} times and their {other} had {lost_points} points. "
        f"{game.winner} play {game.following} next. At half-time it was {ahead}–{behind} from the point "
        f"of view of "
        f"{game.winner}. {game.winner} had {game.threes} three-pointers. {game.winner} beat "
        f"{game.loser} {game.score} "
        f"on {game.day}. The {position} with {points} points and {rebounds} rebounds was the best of "
        f"{game.winner}, and "
        f"{lost_rebounds} rebounds had the {other}."
    )


def planned(game: Game, number: int) -> str:
    """Plan paragraphs first: well ordered, a little stiff, with a comma too many here and there."""
    position, points, rebounds = game.top
    other, lost_points, _ = game.best_loser
    ahead, behind = half_time(game)
    lead = "led" if ahead > behind else "trailed" if ahead < behind else "were level"
    comma = "," if number % 4 == 1 else ""
    return (
        f"{game.winner} beat {game.loser} {game.score} on {game.day}{comma} in {game.home}. "
        f"{game.winner} {lead} "
        f"{ahead}–{behind} after the first half, and they made {game.threes} three-pointers in all. The "
        f"{position} of "
        f"{game.winner}{comma} had {points} points with {rebounds} rebounds. For {game.loser}, who lost "
        f"the ball "
        f"{game.mistakes} times, the {other} had {lost_points} points. {game.winner} improve to "
        f"{game.records[0]} and "
        f"host or visit {game.following} next."
    )


SYSTEMS: dict[str, Callable[[Game, int], str]] = {
    write.__name__: write for write in (reporter, slots, stream, nested, planned)
}


def make_rows() -> list[dict[str, str]]:
    """Return the rows of outputs.csv."""
    return [
        {"item": game.item, "system": name, "output": write(game, number)}
        for number, game in enumerate(GAMES)
        for name, write in SYSTEMS.items()
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
