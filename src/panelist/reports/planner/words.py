"""What the planner says: sentences that may be quoted."""

import shlex
from math import isfinite

from panelist.power.cells import CellResult
from panelist.power.presets import PRESETS
from panelist.reports.planner.question import SEED, list_ratings
from panelist.reports.planner.runs import SIMS, Standing
from panelist.reports.planner.setting import COLLECTED, PILOT_FILE, Setting, write_number
from panelist.reports.planner.smallest import Smallest
from panelist.reports.planner.wish import Wish


def write_finding(wish: Wish, own: CellResult | None) -> str:
    """Return the sentence that the page opens with."""
    design = f"With {wish.items:,} items and {count(wish.ratings_per_item, 'rating')} each you would find "
    what = "the difference" if wish.systems == 2 else f"all {write_number(len_pairs(wish))} differences"
    if own is None:
        return f"{design}{what} …"
    return f"{design}{what} about {round(100 * own.power)} times in 100."


def write_precision(wish: Wish, standing: Standing) -> str:
    """Return how well that is known, and what it means for the target."""
    own = standing.own
    if own is None:
        return "Nothing is simulated so far."
    known = (
        f"Power {own.power:.2f}, 95 % interval {own.low:.2f} to {own.high:.2f} from "
        f"{count(own.sims, 'simulated study', 'simulated studies')}."
    )
    failed = f" {count(own.failed, 'fit')} failed and found nothing." if own.failed else ""
    return f"{known}{failed} {_compare(wish, standing, own)}".strip()


def _compare(wish: Wish, standing: Standing, own: CellResult) -> str:
    target = f"the {wish.power:.2f} you asked for"
    size = next((one for one in standing.smallest if one.place[1] == wish.ratings_per_item), None)
    if own.low > wish.power:
        enough = size is not None and size.reached and size.place[0] < wish.items
        more = f": {size.place[0]:,} items would do" if enough and size is not None else ""
        return f"That is more than {target}{more}."
    if own.high < wish.power:
        needed = size is not None and size.reached and size.place[0] > wish.items
        more = f": it would take about {size.place[0]:,} items" if needed and size is not None else ""
        return f"That is less than {target}{more}."
    return f"That is not clearly more or less than {target}."


def write_progress(standing: Standing) -> str:
    """Return how far it is."""
    least = min((result.sims for result in standing.results.values()), default=0)
    if standing.over:
        if least < SIMS:
            return f"Stopped after {least} of {SIMS} simulated studies a point; Simulate goes on."
        return f"{SIMS} simulated studies a point"
    if standing.compiling:
        return "Compiling the models, once: about a minute"
    if standing.seconds_left is None or not isfinite(standing.seconds_left):
        return "Simulating …"
    seconds = max(1, round(standing.seconds_left))
    return f"About {count(seconds, 'second')}" if seconds < 90 else f"About {round(seconds / 60)} minutes"


def write_lesson(setting: Setting, wish: Wish, standing: Standing) -> str:
    """Return what the smallest designs teach: which costs least, and why, if that is known."""
    reached = [one for one in standing.smallest if one.reached]
    if len(reached) < 2:
        return ""
    costs = {one.place: setting.find_cost(wish, one.layout) for one in reached}
    paid = all(cost is not None for cost in costs.values())

    def weigh(one: Smallest) -> float:
        cost = costs[one.place]
        return cost if paid and cost is not None else one.layout.n_rows

    best = min(reached, key=weigh)
    verb = "cost less" if paid else "take fewer ratings"
    if best.place[1] == min(one.place[1] for one in reached):
        question = standing.question
        assert question is not None
        differ = question.truth.items.slope > question.truth.raters.slope
        why = ": texts differ more than raters do" if differ else ""
        return f"More items with fewer ratings each {verb} than fewer items rated often{why}."
    if best.place[1] == max(one.place[1] for one in reached):
        return f"Fewer items rated more often {verb} here than more items with fewer ratings each."
    return f"Of these, {best.place[0]:,} items with {count(best.place[1], 'rating')} each {verb}."


def write_command(setting: Setting, wish: Wish) -> list[str]:
    """Return the commands that give the numbers of the wish's own design, and look for smaller ones."""
    each = ",".join(str(one) for one in list_ratings(wish.ratings_per_item))
    where: list[str] = []
    before: list[str] = []
    if wish.preset in PRESETS:
        where += ["--preset", wish.preset]
        points = setting.find_cuts(wish.criterion).points
        where += ["--scale", "slider" if points > 100 else str(points)]
    else:
        file = PILOT_FILE
        if wish.preset == COLLECTED:
            file = "ratings.csv"
            before = [f"panelist export {shlex.quote(setting.study.folder.name)} -o {file}"]
        where += ["--pilot", file]
        if len(setting.cuts) > 1:
            where += ["--criterion", wish.criterion]
    shared = ["--systems", str(wish.systems), "--outputs-per-rater", str(wish.load), "--seed", str(SEED)]
    tail = shlex.join([*where, *shared])
    power = f"panelist power --items {wish.items} --ratings-per-item {each} --effects {wish.effect:g} "
    power += f"--models {wish.model} --sims {SIMS} {tail}"
    size = f"panelist size --effect {wish.effect:g} --power {wish.power:g} --ratings-per-item {each} "
    size += f"--model {wish.model} {tail}"
    return [*before, power, size]


def write_pay(setting: Setting, wish: Wish) -> str:
    """Return what a rater gets, and who says so."""
    texts = count(wish.load, "text")
    if wish.pay is not None:
        return f"{setting.sign}{wish.pay:.2f} for {texts}, as you say; the panel's fee comes on top."
    rule = setting.find_pay(wish)
    if rule is None:
        return (
            "The study file does not say what an hour is paid and how long a page takes; so pay is not known."
        )
    pages = f" and {count(setting.extra_pages, 'other page')}" if setting.extra_pages else ""
    return f"By the pay rule of the study {setting.sign}{rule:.2f} for {texts}{pages}."


def write_cost(setting: Setting, cost: float | None) -> str:
    """Return an amount of money; a dash where it is not known."""
    return "–" if cost is None else f"{setting.sign}{cost:,.0f}"


def count(number: int, one: str, many: str = "") -> str:
    """Return a number with its noun.

    >>> count(1, "rating"), count(3, "rating")
    ('1 rating', '3 ratings')
    """
    return f"{number:,} {one if number == 1 else many or one + 's'}"


def len_pairs(wish: Wish) -> int:
    """Return how many pairs of systems there are."""
    return wish.systems * (wish.systems - 1) // 2
