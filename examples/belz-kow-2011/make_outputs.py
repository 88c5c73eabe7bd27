"""Write outputs.csv: 22 marine forecasts in the manner of eleven writers, from weather data made up here.

Run ``python make_outputs.py`` in this folder. Nothing is drawn at random, so the file is the same everywhere.
"""

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

POINTS = ("N", "NE", "E", "SE", "S", "SW", "W", "NW")
WORDS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")


@dataclass(frozen=True)
class Weather:
    """The weather of one forecast: what a forecaster would have on the desk."""

    item: str
    heading: str
    wind: tuple[str, int, int]
    """Direction, lowest and highest speed in knots, at first."""
    hour: int
    """When the wind changes."""
    later: tuple[str, int, int]
    gust: int
    """0 where there is nothing to say."""
    sky: str
    later_sky: str
    sight: str
    """Visibility: good, moderate, poor."""


def _day(line: str) -> Weather:
    item, heading, wind, hour, later, gust, sky, later_sky, sight = (part.strip() for part in line.split("|"))
    return Weather(item, heading, _wind(wind), int(hour), _wind(later), int(gust), sky, later_sky, sight)


def _wind(text: str) -> tuple[str, int, int]:
    direction, low, high = text.split()
    return direction, int(low), int(high)


DAYS = [
    _day(line)
    for line in """\
d01 | Monday, 0600 to midnight | SW 12 16 | 21 | S 20 24 | 32 | rain | fair | good
d02 | Monday night | S 20 24 | 3 | W 10 14 | 0 | showers | cloudy | good
d03 | Tuesday, 0600 to midnight | W 8 12 | 15 | NW 14 18 | 0 | fair | showers | good
d04 | Tuesday night | NW 14 18 | 2 | N 22 28 | 38 | showers | sleet | moderate
d05 | Wednesday, 0600 to midnight | N 24 30 | 18 | NE 14 20 | 40 | snow showers | cloudy | poor
d06 | Wednesday night | NE 12 16 | 4 | E 5 10 | 0 | cloudy | mist | moderate
d07 | Thursday, 0600 to midnight | E 4 8 | 12 | SE 8 12 | 0 | fog | hazy sunshine | poor
d08 | Thursday night | SE 8 12 | 1 | S 16 20 | 26 | fair | rain | good
d09 | Friday, 0600 to midnight | S 18 24 | 14 | SW 26 32 | 44 | heavy rain | showers | moderate
d10 | Friday night | SW 26 32 | 23 | W 18 22 | 42 | thundery showers | showers | moderate
d11 | Saturday, 0600 to midnight | W 16 20 | 16 | W 10 12 | 28 | showers | fair | good
d12 | Saturday night | W 8 10 | 5 | SW 6 8 | 0 | fair | cloudy | good
d13 | Sunday, 0600 to midnight | SW 6 10 | 11 | S 12 18 | 0 | cloudy | drizzle | moderate
d14 | Sunday night | S 14 18 | 22 | SW 20 26 | 34 | drizzle | rain | moderate
d15 | Monday, gale warning | SW 28 34 | 13 | NW 36 42 | 55 | rain | squally showers | poor
d16 | Monday night, gale warning | NW 34 40 | 4 | NW 24 28 | 50 | squally showers | showers | moderate
d17 | Tuesday, after the gale | NW 20 24 | 17 | W 8 12 | 30 | showers | fair | good
d18 | Tuesday night | W 5 8 | 24 | S 5 8 | 0 | fair | mist | good
d19 | Wednesday, 0600 to midnight | S 6 10 | 10 | SE 12 16 | 0 | fog | cloudy | poor
d20 | Wednesday night | SE 14 18 | 2 | E 20 24 | 30 | cloudy | rain | moderate
d21 | Thursday, 0600 to midnight | E 22 26 | 19 | NE 16 20 | 34 | rain | drizzle | moderate
d22 | Thursday night | NE 12 16 | 6 | N 4 8 | 0 | drizzle | fair | good""".splitlines()
]


def word(point: str) -> str:
    """Return a compass point in words."""
    return WORDS[POINTS.index(point)]


def turn(weather: Weather) -> str:
    """Return how the wind changes direction: backing is against the clock, veering with it."""
    steps = (POINTS.index(weather.later[0]) - POINTS.index(weather.wind[0])) % 8
    return "" if steps == 0 else "veering" if steps <= 4 else "backing"


def change(weather: Weather) -> str:
    """Return how the wind changes in strength."""
    before, after = sum(weather.wind[1:]), sum(weather.later[1:])
    return "increasing" if after > before + 4 else "easing" if after < before - 4 else "holding"


def clock(hour: int) -> str:
    """Return the hour as a seaman's part of the day."""
    parts = {4: "in the early hours", 8: "around dawn", 11: "by mid-morning", 13: "around noon"}
    parts |= {17: "during the afternoon", 20: "in the early evening", 23: "by late evening"}
    return next((text for last, text in parts.items() if hour <= last), "around midnight")


def pick(options: Sequence[str], number: int) -> str:
    """Return one of the options, in turn."""
    return options[number % len(options)]


def forecaster(weather: Weather, number: int) -> str:
    """Write as a person does: short, varied, the change of the wind as one movement."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    move = {"increasing": ("freshening", "rising"), "easing": ("easing", "dropping")}
    move |= {"holding": ("staying", "holding")}
    turned = f"{turn(weather)} {end} and " if turn(weather) else ""
    strength = pick(move[change(weather)], number) if turned else pick(move[change(weather)], number + 1)
    text = f"{start} {low}–{high} knots, {turned}{strength} {low2}–{high2} {clock(weather.hour)}"
    if weather.gust:
        text += pick((f", gusts {weather.gust}", f" with gusts to {weather.gust} on exposed coasts"), number)
    skies = (f"{weather.sky}, then {weather.later_sky}", f"{weather.sky} giving way to {weather.later_sky}")
    return f"{text}. {pick(skies, number).capitalize()}. Visibility {weather.sight}."


def alder(weather: Weather, number: int) -> str:
    """Write full sentences, always the same ones."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    gust = f" Gusts may reach {weather.gust} knots." if weather.gust else ""
    return (
        f"The wind will be from the {word(start)} at {low} to {high} knots. It will change "
        f"{clock(weather.hour)} "
        f"to {word(end)} at {low2} to {high2} knots.{gust} The weather will be {_sky(weather.sky)} at "
        f"first and "
        f"{_sky(weather.later_sky)} later. Visibility will be {weather.sight}."
    )


def birch(weather: Weather, number: int) -> str:
    """Write as tersely as can be."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    gust = f" G{weather.gust}." if weather.gust else ""
    return (
        f"{start} {low}-{high}, {end} {low2}-{high2} after {weather.hour:02d}.{gust} "
        f"{weather.sky.capitalize()}/{weather.later_sky}. Vis {weather.sight}."
    )


def cedar(weather: Weather, number: int) -> str:
    """Write twice as many words as it takes."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    opening = ("It is expected that", "Those at sea should bear in mind that", "We anticipate that")
    gust = (
        f" It must be added that, furthermore, gusts of up to {weather.gust} knots are possible."
        if weather.gust
        else ""
    )
    return (
        f"{pick(opening, number)} the wind, which at the beginning of the period will be blowing from a "
        f"{word(start)}erly direction at a speed of between {low} and {high} knots, will "
        f"{clock(weather.hour)} come "
        f"to blow from a {word(end)}erly direction, at a speed which will then lie between {low2} and "
        f"{high2} "
        f"knots.{gust} As far as the weather is concerned, there will be {_noun(weather.sky)}, which is "
        f"to be "
        f"followed by {_noun(weather.later_sky)}, and the visibility can be described as {weather.sight}."
    )


def elder(weather: Weather, number: int) -> str:
    """Say things twice."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    gust = f" Gusts to {weather.gust} knots, gusts possible." if weather.gust else ""
    return (
        f"Wind {start} {low}–{high} knots. Wind {start} at first. Wind {end} {low2}–{high2} knots "
        f"{clock(weather.hour)}, wind {end} later.{gust} {weather.sky.capitalize()} at first, "
        f"{weather.sky} then {weather.later_sky}. Visibility {weather.sight}, {weather.sight} visibility."
    )


def hazel(weather: Weather, number: int) -> str:
    """Read easily and leave the figures out."""
    (start, _, high), (end, _, high2) = weather.wind, weather.later
    gust = ", and gusty with it" if weather.gust else ""
    finish = {"good": "You will see far.", "moderate": "The view is so-so.", "poor": "Keep a good lookout."}
    return (
        f"{_strength(high).capitalize()} {word(start)}erly winds to begin with, {_strength(high2)} and "
        f"{word(end)}erly {clock(weather.hour)}{gust}. {weather.sky.capitalize()} at first, "
        f"{weather.later_sky} afterwards. {finish[weather.sight]}"
    )


def larch(weather: Weather, number: int) -> str:
    """Slip in the grammar, a little differently each time."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    slips = (
        f"Wind from the {start} in {low} to {high} becoming to the {end} {low2} to {high2} knots it will "
        f"{clock(weather.hour)}",
        f"Winds is {start} by {low} until {high} knots, {clock(weather.hour)} are {end} with {low2} "
        f"until {high2}",
        f"There is {low} to {high} knots of the wind {start} and {clock(weather.hour)} turns it {end}, "
        f"{low2} to "
        f"{high2} of knots",
    )
    gust = f" and also the gusts {weather.gust} is possible" if weather.gust else ""
    return (
        f"{pick(slips, number)}{gust}. The {weather.sky} at first be, {weather.later_sky} later then. "
        f"Visible is "
        f"{weather.sight}."
    )


def maple(weather: Weather, number: int) -> str:
    """Write in the codes of the trade."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    code = {"good": "9999", "moderate": "6000", "poor": "1500"}
    gust = f"G{weather.gust}" if weather.gust else ""
    return (
        f"{POINTS.index(start) * 45 or 360:03d}/{low:02d}-{high}KT BECMG {weather.hour % 24:02d}00 "
        f"{POINTS.index(end) * 45 or 360:03d}/{low2:02d}-{high2}{gust}KT. WX {_code(weather.sky)} TL "
        f"{weather.hour % 24:02d}00 THEN {_code(weather.later_sky)}. VIS {code[weather.sight]}."
    )


def oak(weather: Weather, number: int) -> str:
    """Tell what comes later first."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    gust = f" Gusts of {weather.gust} knots are expected." if weather.gust else ""
    return (
        f"{weather.later_sky.capitalize()} after {weather.sky}.{gust} The wind will be {word(end)}erly, "
        f"{low2} to "
        f"{high2} knots, {clock(weather.hour)}; before that it is {word(start)}erly, {low} to {high} knots. "
        f"{weather.sight.capitalize()} visibility."
    )


def rowan(weather: Weather, number: int) -> str:
    """Read well and forget a part: the change of wind, the gusts or the sky."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    winds = (
        f"A {word(start)}erly wind of {low} to {high} knots",
        f"A {word(end)}erly wind of {low2} to {high2} knots {clock(weather.hour)}",
    )
    skies = (f"{weather.sky} for much of the time", f"turning {_sky(weather.later_sky)}", "")
    sky = pick(skies, number)
    return f"{pick(winds, number)}{f', {sky}' if sky else ''}. Visibility {weather.sight}."


def willow(weather: Weather, number: int) -> str:
    """Give times and figures in plain words."""
    (start, low, high), (end, low2, high2) = weather.wind, weather.later
    time = f"{weather.hour % 24:02d}:00"
    gust = f", with gusts of up to {weather.gust}" if weather.gust else ""
    return (
        f"{word(start).capitalize()}erly wind, {low} to {high} knots, until {time}. Then "
        f"{word(end)}erly, {low2} to "
        f"{high2} knots{gust}. {weather.sky.capitalize()} at first, {weather.later_sky} later. "
        f"{weather.sight.capitalize()} visibility."
    )


def _sky(sky: str) -> str:
    adjectives = {"rain": "rainy", "heavy rain": "very rainy", "showers": "showery", "mist": "misty"}
    adjectives |= {"fog": "foggy", "drizzle": "drizzly", "sleet": "wet with sleet", "hazy sunshine": "hazy"}
    adjectives |= {"snow showers": "snowy", "thundery showers": "thundery", "squally showers": "squally"}
    return adjectives.get(sky, sky)


def _noun(sky: str) -> str:
    return {"fair": "fair conditions", "cloudy": "a good deal of cloud"}.get(sky, sky)


def _code(sky: str) -> str:
    codes = {"rain": "RA", "heavy rain": "+RA", "showers": "SHRA", "drizzle": "DZ", "mist": "BR", "fog": "FG"}
    codes |= {"sleet": "RASN", "snow showers": "SHSN", "thundery showers": "TSRA"}
    codes |= {"squally showers": "SQ SHRA", "fair": "NSW", "cloudy": "OVC", "hazy sunshine": "HZ"}
    return codes[sky]


def _strength(high: int) -> str:
    names = ((10, "light"), (16, "moderate"), (22, "fresh"), (28, "strong"), (34, "very strong"))
    return next((name for most, name in names if high <= most), "stormy")


SYSTEMS: dict[str, Callable[[Weather, int], str]] = {
    write.__name__: write
    for write in (forecaster, alder, birch, cedar, elder, hazel, larch, maple, oak, rowan, willow)
}


def make_rows() -> list[dict[str, str]]:
    """Return the rows of outputs.csv."""
    return [
        {
            "item": day.item,
            "system": name,
            "output": write(day, number),
            "context": f"Marine forecast, {day.heading}",
        }
        for number, day in enumerate(DAYS)
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
