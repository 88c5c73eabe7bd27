"""What R answered, in one form; the fits of tests/reference (those of ../shared/data are in shared_cases).

A ``Case`` is one fit of R: the call that Panelist must make, and an ``Answer`` to hold it to, in R's names
(``systemb``, ``(Intercept)``); ``r_names`` translates ours into R's. ``trust`` says how far to believe R:
"full", or "bound" where R stopped early or its estimates run off, so that its log-likelihood is only a bound
to be reached; ``reason`` then says why.
"""

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

ROOT = Path(__file__).resolve().parents[1]
OWN = ROOT / "tests" / "reference"

Floats = NDArray[np.float64]
Row = dict[str, float | None]  # estimate, se, statistic, df, p; None where R had none


@dataclass(frozen=True)
class Block:
    """The covariance of one random term: its group and columns by R's names."""

    group: str
    terms: tuple[str, ...]
    covariance: Floats


@dataclass(frozen=True)
class Modes:
    """Conditional modes of one grouping factor, a row a level; ``sd`` their conditional deviations."""

    levels: tuple[str, ...]
    columns: tuple[str, ...]
    values: Floats
    sd: Floats | None = None


@dataclass(frozen=True)
class Answer:
    """What R found for one fit; what it did not give is empty or None."""

    n: int | None = None
    loglik: float | None = None
    aic: float | None = None
    bic: float | None = None
    coefficients: dict[str, Row] = field(default_factory=dict)
    thresholds: dict[str, Row] = field(default_factory=dict)
    blocks: tuple[Block, ...] = ()
    sigma: float | None = None
    modes: dict[str, Modes] = field(default_factory=dict)
    anova: dict[str, Row] = field(default_factory=dict)
    kenward_roger: dict[str, Row] = field(default_factory=dict)
    anova_kenward_roger: dict[str, Row] = field(default_factory=dict)
    singular: bool | None = None
    fitted: Floats | None = None
    population: Floats | None = None


@dataclass(frozen=True)
class Case:
    """One fit: data, call, R's answer, and how far to believe it. Cases of the same call are equal."""

    id: str = field(compare=False)
    data: Path
    formula: str
    model: Literal["clm", "clmm", "lm", "lmm"]
    answer: Answer = field(compare=False, repr=False)
    link: str = "probit"
    threshold: str = "flexible"
    quadrature: int = 1
    method: str = "REML"
    subset: str | None = None
    trust: Literal["full", "bound"] = field(default="full", compare=False)
    reason: str = field(default="", compare=False)
    separated: bool = field(default=False, compare=False)
    split: str = field(default="", compare=False)  # a group whose levels meet one system each

    def frame(self) -> pd.DataFrame:
        """Return the rows that R fitted, as they stand in the file."""
        frame = read_data(self.data)
        return frame if self.subset is None else frame.query(as_query(self.subset))


@cache
def read_data(path: Path) -> pd.DataFrame:
    """Return a data file; read once."""
    return pd.read_csv(
        path, dtype={"rater": str, "participant": str, "item": str, "bottle": str, "judge": str}
    )


@cache
def read_answers(path: Path) -> dict[str, Any]:
    """Return a file of R's answers; read once."""
    answers: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return answers


def as_query(subset: str) -> str:
    """Return R's row condition as pandas wants it.

    >>> as_query('criterion == "fluency" & system %in% c("a", "b")')
    'criterion == "fluency" and system in ["a", "b"]'
    """
    listed = re.sub(r"%in%\s*c\(([^)]*)\)", r"in [\1]", subset)
    return listed.replace(" & ", " and ").replace(" | ", " or ")


# ---- names ---------------------------------------------------------------------------------------
RATERS = ("participant", "judge", "worker", "annotator", "evaluator")


def r_names(ours: Sequence[str]) -> list[str]:
    """Return R's names of our columns.

    >>> r_names(["Intercept", "system[T.b]", "words", "system[T.b]:words", "C(system, Treatment('b'))[T.a]"])
    ['(Intercept)', 'systemb', 'words', 'systemb:words', 'systema']

    Sum-coded columns have numbers in R, in the order of the levels:

    >>> r_names(["C(system, Sum)[S.a]", "C(system, Sum)[S.b]", "C(system, Sum)[S.b]:C(genre, Sum)[S.news]"])
    ['system1', 'system2', 'system2:genre1']
    """
    seen: dict[str, list[str]] = {}

    def translate(part: str) -> str:
        if part == "Intercept":
            return "(Intercept)"
        coded = re.fullmatch(r"(?:C\(\s*)?(\w+)[^\[]*\[(?:([TS])\.)?(.*)\]", part)
        if not coded:
            return part
        variable, coding, level = coded.groups()
        if coding != "S":
            return f"{variable}{level}"
        order = seen.setdefault(variable, [])
        if level not in order:
            order.append(level)
        return f"{variable}{order.index(level) + 1}"

    return [":".join(translate(part) for part in name.split(":")) for name in ours]


def group_key(group: str) -> str:
    """Return a grouping factor's name whatever the order of its parts, and whatever the raters are called.

    >>> group_key("sentence:document"), group_key("document:sentence"), group_key("participant")
    ('document:sentence', 'document:sentence', 'rater')
    """
    return ":".join(sorted("rater" if part in RATERS else part for part in group.split(":")))


def level_key(group: str, level: str) -> str:
    """Return a level's name with its parts in the order of ``group_key``.

    >>> level_key("sentence:document", "s1:d00")
    'd00:s1'
    """
    parts = sorted(zip(group.split(":"), level.split(":"), strict=True))
    return ":".join(value for _, value in parts)


# ---- the repository's own references -------------------------------------------------------------
def own_files() -> list[Path]:
    """Return the files of R's answers that the repository carries."""
    return sorted(OWN.glob("*.json"))


def own_cases() -> list[Case]:
    """Return every fit of tests/reference."""
    return [own_case(path.stem, name) for path in own_files() for name in read_answers(path)["fits"]]


@cache
def own_case(data: str, name: str) -> Case:
    """Return one fit of tests/reference."""
    record = read_answers(OWN / f"{data}.json")["fits"][name]
    distrust = record.get("distrust") or []
    without = {column for column in ("se", "df") if column in distrust}
    answer = Answer(
        n=record["n"],
        loglik=record["loglik"],
        aic=record.get("aic"),
        bic=record.get("bic"),
        coefficients=rows_of(record.get("coefficients"), without),
        thresholds=rows_of(record.get("thresholds"), without),
        blocks=tuple(_own_block(term) for term in record.get("random") or []),
        sigma=record.get("sigma"),
        modes={
            group_key(group): modes_of(group, given) for group, given in (record.get("modes") or {}).items()
        },
        anova=rows_of(record.get("anova"), {"den_df", "p"} if "df" in without else set()),
        kenward_roger=rows_of(record.get("kenward_roger")),
        anova_kenward_roger=rows_of(record.get("anova_kenward_roger")),
        singular=record.get("singular"),
        fitted=array_of(record.get("fitted")),
        population=array_of(record.get("population")),
    )
    return Case(
        id=f"{data}-{name}",
        data=OWN / f"{data}.csv",
        formula=record["formula"],
        model=record["model"],
        answer=answer,
        link=record.get("link", "probit"),
        threshold=record.get("threshold", "flexible"),
        quadrature=record.get("quadrature", 1),
        method=record.get("method", "REML"),
    )


def rows_of(table: dict[str, Row] | None, without: Iterable[str] = ()) -> dict[str, Row]:
    """Return a table of R's, a row a name, less the columns not to be believed."""
    drop = set(without)
    return {name: {k: v for k, v in row.items() if k not in drop} for name, row in (table or {}).items()}


def _own_block(term: dict[str, Any]) -> Block:
    terms = [term["terms"]] if isinstance(term["terms"], str) else term["terms"]
    sd = np.array(term["sd"], dtype=float)
    given = term.get("correlation")
    # R has no correlation where a deviation is zero; the covariance is zero there all the same.
    correlation = np.eye(len(sd)) if given is None else np.nan_to_num(np.array(given, dtype=float))
    return Block(term["group"], tuple(terms), correlation * np.outer(sd, sd))


def modes_of(group: str, given: dict[str, Any]) -> Modes:
    """Return the conditional modes of one grouping factor as R gave them."""
    columns = given["columns"] if "columns" in given else given["cols"]
    return Modes(
        levels=tuple(level_key(group, level) for level in given["levels"]),
        columns=(columns,) if isinstance(columns, str) else tuple(columns),
        values=np.array(given["values"], dtype=float),
        sd=array_of(given.get("sd")),
    )


def array_of(values: Any) -> Floats | None:
    """Return the numbers as an array, None where R gave none."""
    return None if values is None else np.array(values, dtype=float)
