"""Ratings by simulated raters: a plan filled in, to try the analysis on before any rater is paid.

A latent judgement of rater r, item i and system s is

    effect_s + severity_r + taste_rs + level_i + fit_is,

and the scale makes an answer of it, with a residual of standard deviation 1. The deviations are the general
ones of Howcroft & Rieser (2021, https://aclanthology.org/2021.emnlp-main.703): .52 for the level of raters
and .43 for how much a difference of two systems varies between them, .57 and .77 for items. Here taste has
.43 / √2 for each system, so that a difference of two has .43, and severity what is missing to .52. Criteria
share half of each variance. In a second sitting everybody is as before, and only the residual is new.

Where each turn of a dialogue is rated, three deviations come on top: of the turn of an item, of what a system
says in it, and of the page, which is how a rater takes to a dialogue as a whole.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from panelist.core.errors import BadPlan, PanelistError, UnknownName, did_you_mean
from panelist.core.seeds import stream
from panelist.core.tables.columns import SIMULATED, SIMULATED_YES
from panelist.design.assess.showings import number, number_pages
from panelist.numerics.arrays import Floats, Longs
from panelist.scales.base import ComparativeAnswer, ComparativeScale, RatingScale
from panelist.study.sections.checks import InstructedCheck, choose_spoilt
from panelist.study.sections.criteria import Criterion
from panelist.study.study import Study

if TYPE_CHECKING:
    from panelist.design.plan import Plan

Effects = Mapping[str, float] | Mapping[str, Mapping[str, float]]

SPREADS = {"rater": (0.52, 0.43), "item": (0.57, 0.77)}  # of one system, and of the difference of two
CARELESS = 0.04  # share of raters who do not read
REACH = 0.6  # the best and the worst system lie about this far from the middle
HUMAN_LEAD = 0.3  # of texts by people, before the best system
SPOILT = 2.5  # by how much worse a degraded copy is
TURN_SPREADS = {"turn": 0.3, "reply": 0.3, "page": 0.4}
SECONDS = 20.0  # for a page, where the study does not say
NUMBERS = ("rating", "grade")  # columns that hold numbers; the others hold words
FOLLOWING = ("occasion", "group", "wave", "order", "position", "seconds", "list", "check")


@dataclass(frozen=True, eq=False)
class SimulatedRows:
    """The rows to be answered, with everybody's number."""

    table: pd.DataFrame
    rater: Longs
    item: Longs
    system: Longs
    page: Longs
    check: NDArray[np.object_]
    careless: NDArray[np.bool_]
    turn: Longs | None = None
    """The turn of the dialogue that is rated; None where outputs are rated as a whole."""

    def take(self, here: NDArray[np.bool_]) -> "SimulatedRows":
        """Return some of the rows."""
        names = ("table", "rater", "item", "system", "page", "check", "careless")
        taken = {name: getattr(self, name)[here] for name in names}
        return SimulatedRows(**taken, turn=None if self.turn is None else self.turn[here])


def simulate_ratings(
    study: Study, plan: "Plan", seed: int = 1, effects: Effects | None = None, careless: float = CARELESS
) -> pd.DataFrame:
    """Return a ratings table with an answer for every trial and check of the plan; practice is left out.

    Its column ``simulated`` says yes in every row, so that no result from it is mistaken for data from
    people. ``effects`` says how good the systems are, in residual standard deviations around 0: a number for
    each system, or such numbers for each criterion; without it they are drawn from the seed, texts by people
    at the top. ``careless`` is the share of raters who answer fast and without reading.
    """
    if not 0 <= careless <= 1:
        raise PanelistError(f"The share of careless raters must be from 0 to 1. Got {careless!r} instead.")
    rows = _read_rows(study, plan, seed, careless)
    truth = find_effects(study, seed, effects)
    columns: dict[str, Any] = {}
    for criterion in study.criteria:
        here = (rows.table["criterion"] == criterion.name).to_numpy()
        if here.any():
            mine = rows.take(here)
            rng = stream(seed, "simulate", "answers", criterion.name)
            latent = draw_latent(mine, criterion.name, truth[criterion.name], seed)
            latent[_find_spoilt(mine, study)] -= SPOILT
            latent[mine.careless] = rng.normal(0.0, 1.0, int(mine.careless.sum()))
            answer = _compare if criterion.scale.comparative else _rate
            for name, values in answer(mine, criterion, latent, study, rng).items():
                if name not in columns:
                    number = name in NUMBERS
                    empty: Any = np.nan if number else ""
                    columns[name] = np.full(len(rows.table), empty, dtype=float if number else object)
                columns[name][here] = values
    return _arrange(rows, columns, _draw_seconds(rows, study, seed), study)


def _read_rows(study: Study, plan: "Plan", seed: int, careless: float) -> SimulatedRows:
    table = plan.table[(plan.table["phase"] != "practice").to_numpy()].reset_index(drop=True)
    if table.empty:
        raise BadPlan("The plan holds no trials: there is nothing to rate.")
    page, _ = number_pages(table)
    turn = None
    if study.outputs.in_parts:
        again, turn = spread_turns(table, page, study)
        table, page = table.iloc[again].reset_index(drop=True), page[again]
        table["turn"] = turn
    if plan.waves:
        table["wave"] = table["rater"].astype(str).map(plan.waves).astype("int64")
    rater = number(table["rater"], plan.raters)
    lazy = stream(seed, "simulate", "careless").random(len(plan.raters)) < careless
    return SimulatedRows(
        table,
        rater,
        number(table["item"], study.items),
        number(table["system"], study.systems),
        page,
        table["check"].astype(object).to_numpy(),
        lazy[rater],
        turn,
    )


def spread_turns(table: pd.DataFrame, page: Longs, study: Study) -> tuple[Longs, Longs]:
    """Return the row of the plan behind each rating and the turn that it is about.

    A rating has a row for each turn of its output; a comparison for each turn that all outputs have. An
    instructed check is a sentence of one turn.
    """
    outputs = study.outputs
    compared = {criterion.name for criterion in study.criteria if criterion.scale.comparative}
    known = {
        (item, system): outputs.parts(text)
        for item, system, text in outputs.frame[["item", "system", "output"]].itertuples(index=False)
    }
    pairs = zip(table["item"].astype(str), table["system"].astype(str), strict=True)
    counts = np.array([known.get(pair, 1) for pair in pairs], dtype=np.int64)
    among = table["criterion"].isin(compared).to_numpy()
    if among.any():
        fewest = pd.Series(counts).groupby(page, observed=True).transform("min").to_numpy()
        counts = np.where(among, fewest, counts)
    again = np.repeat(np.arange(len(table)), counts)
    turn = np.arange(len(again)) - np.repeat(np.cumsum(counts) - counts, counts) + 1
    # Comparisons of one turn stand together, as their answer does.
    order = np.lexsort((again, np.where(among[again], turn, 0), page[again]))
    return again[order], turn[order]


def find_effects(study: Study, seed: int, effects: Effects | None) -> dict[str, Floats]:
    """Return the effect of each system, by criterion."""
    names = [criterion.name for criterion in study.criteria]
    if effects is None:
        return _draw_effects(study, seed)
    known = {*names, *study.systems}
    if lost := [str(name) for name in effects if name not in known]:
        raise UnknownName(
            f"effects: no system or criterion is called {lost[0]!r}. {did_you_mean(lost[0], known)}"
        )
    found = {}
    for name in names:
        inner: Any = effects.get(name, effects)
        mine = inner if isinstance(inner, Mapping) else effects
        found[name] = np.array([_read_effect(mine, name, system) for system in study.systems])
    return found


def _read_effect(mine: Mapping[str, Any], criterion: str, system: str) -> float:
    value = mine.get(system)
    if not isinstance(value, int | float) or not np.isfinite(value):
        found = "nothing" if value is None else repr(value)
        raise PanelistError(
            f"effects: system {system!r} needs a number for {criterion!r}. Got {found} instead."
        )
    return float(value)


def _draw_effects(study: Study, seed: int) -> dict[str, Floats]:
    """Return drawn effects: systems spread over a plausible range, much alike for all criteria."""
    rng = stream(seed, "simulate", "systems")
    k = len(study.systems)
    quality = rng.permutation(np.linspace(-REACH, REACH, k) if k > 1 else np.zeros(1))
    people = {system.name for system in study.file.systems if system.human}
    human = np.array([name in people for name in study.systems])
    found = {}
    for criterion in study.criteria:
        mine = quality + stream(seed, "simulate", "systems", criterion.name).normal(0.0, REACH / 4, k)
        if human.any() and not human.all():
            mine[human] = mine[~human].max() + HUMAN_LEAD + rng.exponential(HUMAN_LEAD / 2, int(human.sum()))
        found[criterion.name] = mine - mine.mean()
    return found


def draw_latent(rows: SimulatedRows, criterion: str, effects: Floats, seed: int) -> Floats:
    """Return the judgement behind each row, before the noise of a single rating."""
    k = len(effects)
    latent: Floats = np.where(rows.system >= 0, effects[rows.system], 0.0)
    for name, index in (("rater", rows.rater), ("item", rows.item)):
        one, difference = SPREADS[name]
        each = difference / np.sqrt(2)
        there = index >= 0
        count = int(index.max(initial=0)) + 1
        level, own = np.zeros(count), np.zeros((count, k))
        for part in ("shared", criterion):  # each brings half of the variance
            rng = stream(seed, "simulate", name, part)
            level += rng.normal(0.0, np.sqrt((one**2 - each**2) / 2), count)
            rng = stream(seed, "simulate", name, part, "by system")
            own += rng.normal(0.0, each / np.sqrt(2), (count, k))
        latent += np.where(
            there, level[index] + np.where(rows.system >= 0, own[index, rows.system], 0.0), 0.0
        )
    if rows.turn is not None:
        latent += [
            find_turn_level(seed, criterion, key, turn) if key[2] >= 0 else 0.0
            for *key, turn in zip(
                rows.rater.tolist(), rows.item.tolist(), rows.system.tolist(), rows.turn.tolist(), strict=True
            )
        ]
    return latent


def find_turn_level(seed: int, criterion: str, page: Sequence[int], turn: int) -> float:
    """Return how much better than its dialogue a turn is to a rater; ``page`` is rater, item and system."""
    rater, item, system = page
    names = {"turn": (item, turn), "reply": (item, turn, system), "page": (rater, item, system)}
    return sum(
        TURN_SPREADS[kind] * float(_draw_one(seed, criterion, kind, *places))
        for kind, places in names.items()
    )


@lru_cache(1 << 18)
def _draw_one(seed: int, criterion: str, kind: str, *places: int) -> float:
    return float(stream(seed, "simulate", kind, criterion, *map(str, places)).normal())


def _find_spoilt(rows: SimulatedRows, study: Study) -> NDArray[np.bool_]:
    """Return which rows are about the degraded output of a degraded check."""
    spoilt = np.zeros(len(rows.table), dtype=bool)
    pages: dict[int, list[int]] = {}
    for row in np.flatnonzero([str(name).startswith("degraded") for name in rows.check]).tolist():
        pages.setdefault(int(rows.page[row]), []).append(row)
    items, systems = (rows.table[name].astype(str).tolist() for name in ("item", "system"))
    for mine in pages.values():
        outputs = [(items[row], systems[row]) for row in mine]
        worse = choose_spoilt(study.file.design.seed, list(dict.fromkeys(outputs)))
        spoilt[[row for row, output in zip(mine, outputs, strict=True) if output == worse]] = True
    return spoilt


def _rate(
    rows: SimulatedRows, criterion: Criterion, latent: Floats, study: Study, rng: np.random.Generator
) -> dict[str, Any]:
    """Return the value that each row gets."""
    scale = criterion.scale
    assert isinstance(scale, RatingScale)
    words = scale.measurement == "text"
    values = np.asarray(scale.simulate(latent, rng)).astype(object if words else float)
    for name, asked in find_asked(study, criterion).items():
        obeyed = (rows.check == name) & ~rows.careless
        values[obeyed] = scale.recognise(asked)  # a study file may use the label
    return {"text" if words else "rating": values}


def _compare(
    rows: SimulatedRows, criterion: Criterion, latent: Floats, study: Study, rng: np.random.Generator
) -> dict[str, Any]:
    """Return what each page's answer says about each output on it.

    An instructed check shows a sentence and no outputs: its one row has the answer as the form sends it.
    """
    scale = criterion.scale
    assert isinstance(scale, ComparativeScale)
    trial = rows.page if rows.turn is None else rows.page * (int(rows.turn.max()) + 1) + rows.turn
    begins = np.flatnonzero(np.diff(trial, prepend=-1))
    shown = np.diff(begins, append=len(rows.page))
    outputs = rows.system[begins] >= 0
    choice, answer = (np.full(len(latent), "", dtype=object) for _ in range(2))
    grade = np.full(len(latent), np.nan)
    for size in np.unique(shown[outputs]).tolist():
        at = begins[outputs & (shown == size)][:, None] + np.arange(size)
        told: list[ComparativeAnswer] = scale.simulate(latent[at], rng)
        choice[at] = np.array([one.choices for one in told], dtype=object)
        answer[at] = np.array([one.answer for one in told], dtype=object)[:, None]
        if scale.graded:
            grade[at] = np.array([one.find_grades() for one in told], dtype=float)
    if not outputs.all():
        here = begins[~outputs]
        usual = int(np.bincount(shown[outputs]).argmax())
        told = scale.simulate(np.zeros((len(here), usual)), rng)
        answer[here] = [scale.write(one) for one in told]
        for name, asked in find_asked(study, criterion).items():
            answer[here[(rows.check[here] == name) & ~rows.careless[here]]] = asked
    if scale.told == "ranking":
        ranks = np.where(choice == "", np.nan, choice).astype(float)
        return {"rating": ranks, "answer": answer}
    return {"choice": choice, "answer": answer} | ({"grade": grade} if scale.graded else {})


def find_asked(study: Study, criterion: Criterion) -> dict[str, str]:
    """Return the answer that each instructed check asks for on this criterion, by the name of the check."""
    checks = study.file.checks.items if study.file.checks is not None else ()
    instructed = [check for check in checks if isinstance(check, InstructedCheck)]
    return {
        f"instructed-{place}": check.answers[criterion.name]
        for place, check in enumerate(instructed, start=1)
        if criterion.name in check.answers
    }


def _draw_seconds(rows: SimulatedRows, study: Study, seed: int) -> Floats:
    """Return the time on each row's page: log-normal, by rater, and shorter as raters get used to it."""
    pay = study.file.pay
    middle = SECONDS if pay is None or pay.minutes_per_trial is None else 60 * pay.minutes_per_trial
    rng = stream(seed, "simulate", "seconds")
    pace = stream(seed, "simulate", "pace").normal(0.0, 0.3, int(rows.rater.max()) + 1)
    page = rng.normal(0.0, 0.4, int(rows.page.max()) + 1)
    order = rows.table["order"].to_numpy(dtype=np.float64)
    used = np.log1p(0.6 * np.exp(-(order - 1) / 5))
    seconds = 0.9 * middle * np.exp(pace[rows.rater] + page[rows.page] + used)
    seconds[rows.careless] *= 0.25
    return np.asarray(np.round(np.maximum(seconds, 0.5), 1), dtype=np.float64)


def _arrange(rows: SimulatedRows, columns: dict[str, Any], seconds: Floats, study: Study) -> pd.DataFrame:
    """Return the table in the order of the ratings table; columns that say nothing are left out."""
    table = rows.table.assign(seconds=seconds, **{SIMULATED: SIMULATED_YES})
    compared = [criterion.name for criterion in study.criteria if criterion.scale.comparative]
    if compared:
        names = _name_trials(rows)
        if len(compared) < len(study.criteria):  # a rating is not a trial: no comparison is looked for in it
            names = names.add_categories([""])
            names[~table["criterion"].isin(compared).to_numpy()] = ""
            names = names.remove_unused_categories()
        table["trial"] = names
    for name, values in columns.items():
        if name != "answer" or (values != "").any():
            table[name] = _settle(values) if name in NUMBERS else values
    wanted = (
        ["rater", "item", "criterion", "trial", "system", "turn"]
        if compared
        else ["rater", "item", "system", "turn", "criterion"]
    )
    wanted += ["choice", "grade", "answer", "rating", "text", *FOLLOWING, SIMULATED]
    for name in ("group", "list", "check"):
        if (table[name] == "").all():
            table = table.drop(columns=name)
    return table[[name for name in wanted if name in table]]


def _name_trials(rows: SimulatedRows) -> "pd.Categorical[Any]":
    """Return a name for each page that no other page has: rater, occasion and order; and turn, if any."""
    page, first = number_pages(rows.table)
    if rows.turn is not None:
        page, _ = pd.factorize(page * (int(rows.turn.max()) + 1) + rows.turn)
        first = np.flatnonzero(~pd.Series(page).duplicated())
    names = ["rater", "occasion", "order", *(["turn"] if rows.turn is not None else [])]
    shown = rows.table.iloc[first]
    told = ["-".join(map(str, one)) for one in zip(*(shown[name] for name in names), strict=True)]
    return pd.Categorical.from_codes(page, pd.Index(told))


def _settle(values: Floats) -> "pd.Series[Any]":
    """Return the ratings as whole numbers if they all are, else as numbers; a row without one is missing."""
    given = values[~np.isnan(values)]
    numbers = pd.Series(values)
    if (given == np.round(given)).all():
        return numbers.astype("int64" if len(given) == len(values) else "Int64")
    return numbers
