"""What the planner says: sentences that may be quoted."""

import shlex
from math import isfinite

from panelist.core.prose import count, spell
from panelist.power.cells import CellResult
from panelist.power.truth.spread import PRESETS
from panelist.web.planner.query import PlannerQuery
from panelist.web.planner.question import SEED, list_ratings
from panelist.web.planner.runs import SIMS, RunState
from panelist.web.planner.setting import COLLECTED, PILOT_FILE, Setting
from panelist.web.planner.smallest_designs import Smallest


def write_finding(query: PlannerQuery, own: CellResult | None) -> str:
    """Return the sentence that the page opens with."""
    design = f"With {query.items:,} items and {count(query.ratings_per_item, 'rating')} each you would find "
    what = "the difference" if query.systems == 2 else f"all {spell(len_pairs(query))} differences"
    if own is None:
        return f"{design}{what} …"
    return f"{design}{what} about {round(100 * own.power)} times in 100."


def write_precision(query: PlannerQuery, state: RunState) -> str:
    """Return how well that is known, and what it means for the target."""
    own = state.own
    if own is None:
        return "Nothing is simulated so far."
    known = (
        f"Power {own.power:.2f}, 95 % interval {own.low:.2f} to {own.high:.2f} from "
        f"{count(own.sims, 'simulated study', 'simulated studies')}."
    )
    failed = f" {count(own.failed, 'fit')} failed and found nothing." if own.failed else ""
    return f"{known}{failed} {_compare(query, state, own)}".strip()


def _compare(query: PlannerQuery, state: RunState, own: CellResult) -> str:
    target = f"the {query.power:.2f} you asked for"
    size = next((one for one in state.smallest if one.place[1] == query.ratings_per_item), None)
    if own.low > query.power:
        enough = size is not None and size.reached and size.place[0] < query.items
        more = f": {size.place[0]:,} items would do" if enough and size is not None else ""
        return f"That is more than {target}{more}."
    if own.high < query.power:
        needed = size is not None and size.reached and size.place[0] > query.items
        more = f": it would take about {size.place[0]:,} items" if needed and size is not None else ""
        return f"That is less than {target}{more}."
    return f"That is not clearly more or less than {target}."


def write_progress(state: RunState) -> str:
    """Return the progress."""
    least = min((result.sims for result in state.results.values()), default=0)
    if state.over:
        if least < SIMS:
            return f"Stopped after {least} of {SIMS} simulated studies per point; press Simulate to continue."
        return f"{SIMS} simulated studies per point"
    if state.compiling:
        return "Compiling the models, once: about a minute"
    if state.seconds_left is None or not isfinite(state.seconds_left):
        return "Simulating …"
    seconds = max(1, round(state.seconds_left))
    return f"About {count(seconds, 'second')}" if seconds < 90 else f"About {round(seconds / 60)} minutes"


def write_lesson(setting: Setting, query: PlannerQuery, state: RunState) -> str:
    """Return what the smallest designs show: which costs least, and why, if that is known."""
    reached = [one for one in state.smallest if one.reached]
    if len(reached) < 2:
        return ""
    costs = {one.place: setting.find_cost(query, one.layout) for one in reached}
    paid = all(cost is not None for cost in costs.values())

    def weigh(one: Smallest) -> float:
        cost = costs[one.place]
        return cost if paid and cost is not None else one.layout.n_rows

    best = min(reached, key=weigh)
    verb = "cost less" if paid else "take fewer ratings"
    if best.place[1] == min(one.place[1] for one in reached):
        question = state.question
        assert question is not None
        differ = question.truth.items.slope > question.truth.raters.slope
        why = ": texts differ more than raters do" if differ else ""
        return f"More items with fewer ratings each {verb} than fewer items rated often{why}."
    if best.place[1] == max(one.place[1] for one in reached):
        return f"Fewer items rated more often {verb} here than more items with fewer ratings each."
    return f"Of these, {best.place[0]:,} items with {count(best.place[1], 'rating')} each {verb}."


def write_command(setting: Setting, query: PlannerQuery) -> list[str]:
    """Return the commands that give the numbers of the query's own design, and look for smaller ones."""
    each = ",".join(str(one) for one in list_ratings(query.ratings_per_item))
    where: list[str] = []
    before: list[str] = []
    if query.preset in PRESETS:
        where += ["--preset", query.preset]
        points = setting.find_cuts(query.criterion).points
        where += ["--scale", "slider" if points > 100 else str(points)]
    else:
        file = PILOT_FILE
        if query.preset == COLLECTED:
            file = "ratings.csv"
            before = [f"panelist export {shlex.quote(setting.study.folder.name)} -o {file}"]
        where += ["--pilot", file]
        if len(setting.cuts) > 1:
            where += ["--criterion", query.criterion]
    shared = ["--systems", str(query.systems), "--outputs-per-rater", str(query.load), "--seed", str(SEED)]
    tail = shlex.join([*where, *shared])
    power = f"panelist power --items {query.items} --ratings-per-item {each} --effects {query.effect:g} "
    power += f"--models {query.model} --sims {SIMS} {tail}"
    size = f"panelist size --effect {query.effect:g} --power {query.power:g} --ratings-per-item {each} "
    size += f"--model {query.model} {tail}"
    return [*before, power, size]


def write_pay(setting: Setting, query: PlannerQuery) -> str:
    """Return what a rater gets, and who says so."""
    texts = count(query.load, "text")
    if query.pay is not None:
        return f"{setting.sign}{query.pay:.2f} for {texts}, as you entered; the panel's fee is added."
    rule = setting.find_pay(query)
    if rule is None:
        return (
            "The study file does not say what an hour is paid and how long a page takes; so the pay is not "
            "known."
        )
    pages = f" and {count(setting.extra_pages, 'other page')}" if setting.extra_pages else ""
    return f"By the pay rule of the study {setting.sign}{rule:.2f} for {texts}{pages}."


def write_cost(setting: Setting, cost: float | None) -> str:
    """Return an amount of money; a dash where it is not known."""
    return "–" if cost is None else f"{setting.sign}{cost:,.0f}"


def len_pairs(query: PlannerQuery) -> int:
    """Return how many pairs of systems there are."""
    return query.systems * (query.systems - 1) // 2
