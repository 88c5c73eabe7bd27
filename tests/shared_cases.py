"""R's fits of ../shared/data as cases: real and synthetic ratings, wine, restarts, contrasts."""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tests.reference_cases import (
    ROOT,
    Answer,
    Block,
    Case,
    Modes,
    Row,
    group_key,
    modes_of,
    read_answers,
    read_data,
    rows_of,
)

SHARED = ROOT.parent / "shared" / "data"
MISSING = "the reference data of ../shared/data are not here"

SEPARATED = "the two systems share no category: R's estimates run off to infinity"
BOUNDS = {  # (file, fit), regular expressions → why R's estimates are no reference, only its log-likelihood
    ("pplm_fluency_BvsBCR", "lmer_maximal_.*"): "lmer did not converge",
    ("rankme_.*", ".*_maximal_.*"): "singular or nearly separated, some with two optima",
    ("syn06_.*", "lmer_maximal_ML"): "lmer stopped 0.005 below its optimum, at negative eigenvalues",
    ("syn06_.*", "clmm?_.*"): SEPARATED,
    ("syn05_.*", "clmm_maximal_logit"): "clmm stopped at a bound, 0.002 below its own objective elsewhere",
}
SPLIT = {  # fit → a group none of whose levels meets two systems: its correlation cannot be estimated
    "pplm_fluency_BvsBCR-clmm_maximal_probit": "item"
}
NOT_OURS = {  # fits that Panelist is not asked for, and why
    "glmer_probit": "glmer's Laplace takes the expected information for probit, ours the observed",
    "wine_ri_cloglog_defaultCpath": "clmm's scalar path swaps cloglog and loglog",
    "wine_ri_loglog_defaultCpath": "clmm's scalar path swaps cloglog and loglog",
    "wine_ri_probit_nAGQ-10": "Panelist's quadrature is adaptive",
}
MODELS: dict[str, Literal["clm", "clmm", "lm", "lmm"]] = {
    "lm": "lm", "lmer": "lmm", "clm": "clm", "clmm": "clmm", "glm": "clm", "glmer": "clmm",
}  # fmt: skip
COLUMNS = {  # R's headings → ours
    "Estimate": "estimate", "Std. Error": "se", "df": "df", "t value": "statistic", "z value": "statistic",
    "Pr(>|t|)": "p", "Pr(>|z|)": "p", "NumDF": "num_df", "DenDF": "den_df", "F value": "F", "Pr(>F)": "p",
}  # fmt: skip


def shared_files() -> list[Path]:
    """Return the files of model fits in ../shared/data; none where the folder is missing."""
    return sorted([*SHARED.glob("reference/*__models.json"), *SHARED.glob("synthetic/*__reference.json")])


def shared_cases() -> list[Case]:
    """Return every fit of those files."""
    return [shared_case(path, name) for path in shared_files() for name in fit_names(read_answers(path))]


def fit_names(answers: dict[str, Any]) -> Iterator[str]:
    """Yield the names of the fits in a file, ``lm`` and ``clmm_intercept_probit`` for example."""
    for name, record in answers.items():
        if isinstance(record, dict) and name.split("_")[0] in MODELS and name not in NOT_OURS:
            yield name


@cache
def shared_case(path: Path, name: str) -> Case:
    """Return one fit of a file in ../shared/data."""
    answers = read_answers(path)
    record = answers[name]
    stem = path.name.removesuffix("__models.json").removesuffix("__reference.json")
    reasons = [why for (file, fit), why in BOUNDS.items() if re.match(file, stem) and re.fullmatch(fit, name)]
    binary = stem.startswith("fig_narrative")
    identifier = f"{stem}-{name}"
    return Case(
        id=identifier,
        data=SHARED / answers["data_file"],
        formula=translate_formula(record.get("formula", "rating ~ system"), "gpt2xl" if binary else None),
        model=MODELS[name.split("_")[0]],
        answer=read_fit(name, answers),
        link=name.split("_")[-1] if "probit" in name or "logit" in name else "probit",
        threshold=record.get("threshold", "flexible"),
        quadrature=record.get("nAGQ", 1),
        method="REML" if record.get("REML", True) else "ML",
        subset="rating != 2" if binary else answers.get("subset"),
        trust="bound" if reasons else "full",
        reason="; ".join(reasons),
        separated=SEPARATED in reasons,
        split=SPLIT.get(identifier, ""),
    )


def translate_formula(formula: str, reference: str | None) -> str:
    """Return R's formula with our response, and the reference level written out where it is not the first.

    >>> translate_formula("ord ~ system + (1 | item)", "b")
    "rating ~ C(system, Treatment('b')) + (1 | item)"
    """
    formula = re.sub(r"^ord\b", "rating", formula)
    return (
        formula if reference is None else formula.replace("system", f"C(system, Treatment('{reference}'))", 1)
    )


def read_fit(name: str, answers: dict[str, Any]) -> Answer:
    """Return R's answer, at the better optimum where a restart found one."""
    record = answers[name]
    better = record.get("refined") or {}
    rows = read_table(record.get("coefficients") or record.get("coefficients_satterthwaite"))
    if name.startswith("glm"):  # P(1) = F(intercept + …), and Panelist's P(0) = F(threshold − …)
        intercept = rows.pop("(Intercept)")
        rows["0|1"] = {"estimate": -(intercept["estimate"] or 0.0), "se": intercept["se"]}
    for term, estimate in (better.get("beta", {}) | better.get("thresholds", {})).items():
        rows[term] = {"estimate": estimate, "se": rows[term]["se"]}
    anova = read_table(record.get("anova_satterthwaite"))
    if name == "lm":
        one_way = answers["anova_oneway"]["system"]
        anova = {"system": {"num_df": one_way["df1"], "den_df": one_way["df2"], "F": one_way["F"]}}
    covariances = better.get("varcorr") or record.get("varcorr") or {}
    return Answer(
        n=record.get("nobs", answers.get("nobs")),
        loglik=better.get("logLik", record.get("logLik")),
        coefficients={term: row for term, row in rows.items() if "|" not in term},
        thresholds={term: row for term, row in rows.items() if "|" in term},
        blocks=tuple(
            Block(group, tuple(block["names"]), np.array(block["cov"], dtype=float))
            for group, block in covariances.items()
        ),
        sigma=record.get("sigma"),
        modes={group_key(group): modes_of(group, given) for group, given in record.get("ranef", {}).items()},
        anova=anova,
        kenward_roger=read_table(record.get("coefficients_kenward_roger")),
        anova_kenward_roger=read_table(record.get("anova_kenward_roger")),
        singular=record.get("singular") if name.startswith("lmer") else None,
    )


def read_table(table: dict[str, dict[str, float | None]] | None) -> dict[str, Row]:
    """Return a table of R's under our headings."""
    return rows_of({
        name: {COLUMNS[key]: value for key, value in row.items() if key in COLUMNS}
        for name, row in (table or {}).items()
    })  # fmt: skip


# ---- wine ----------------------------------------------------------------------------------------
WINE_RANDOM = {"ri": "(1 | judge)", "slope": "(temp | judge)", "crossed": "(1 | judge) + (1 | bottle)"}


def wine_cases() -> list[Case]:
    """Return the fits of the wine data that Panelist is asked for."""
    path = SHARED / "wine" / "clmm_cases.json"
    if not path.exists():
        return []
    return [wine_case(record) for record in read_answers(path)["cases"] if record["id"] not in NOT_OURS]


def wine_case(record: dict[str, Any]) -> Case:
    """Return one fit of the wine data; its identifier says what was fitted."""
    _, random, link, *rest = record["id"].split("_")
    structures = {"symmetric": "symmetric", "symmetric2": "mirrored", "equidistant": "equidistant"}
    threshold = next((structures[word] for word in rest if word in structures), "flexible")
    points = next((int(word[4:]) for word in rest if word.startswith("nAGQ")), 1)
    rows: dict[str, Row] = {
        name: {"estimate": value, "se": record["se"][name]} for name, value in record["coef"].items()
    }
    blocks, modes = [], {}
    for group, factor in record["ST"].items():
        terms = ("(Intercept)", "tempwarm")[: len(factor)]
        root = np.array(factor, dtype=float)
        blocks.append(Block(group, terms, root @ root.T))
        levels = sorted(read_data(SHARED / "wine" / "wine.csv")[group].unique(), key=int)
        values = np.array(record["ranef"][group], dtype=float)
        deviations = np.sqrt(np.array(record["condVar"][group], dtype=float))
        modes[group_key(group)] = Modes(tuple(levels), terms, values, deviations)
    return Case(
        id=record["id"],
        data=SHARED / "wine" / "wine.csv",
        formula=f"rating ~ temp + contact + {WINE_RANDOM[random]}",
        model="clmm",
        answer=Answer(
            n=72,
            loglik=record["loglik"],
            coefficients={name: rows[name] for name in ("tempwarm", "contactyes")},
            thresholds=wine_thresholds(rows, threshold),
            blocks=tuple(blocks),
            modes=modes,
        ),
        link=link,
        threshold=threshold,
        quadrature=points,
    )


def wine_thresholds(rows: dict[str, Row], threshold: str) -> dict[str, Row]:
    """Return the four thresholds; R gave no standard errors of those that are structured."""
    if threshold == "flexible":
        return {name: row for name, row in rows.items() if "|" in name}
    value = {name: row["estimate"] or 0.0 for name, row in rows.items()}
    if threshold == "symmetric":
        low, high, gap = value["central.1"], value["central.2"], value["spacing.1"]
        estimates = [low - gap, low, high, high + gap]
    elif threshold == "mirrored":
        near, far = value["spacing.1"], value["spacing.2"]
        estimates = [-far, -near, near, far]
    else:
        estimates = [value["threshold.1"] + step * value["spacing"] for step in range(4)]
    return {f"{k}|{k + 1}": {"estimate": estimate} for k, estimate in enumerate(estimates, start=1)}


# ---- restarts and contrasts ----------------------------------------------------------------------
def restarted() -> list[tuple[Case, float]]:
    """Return the maximal probit fits that R started from three points, with the best log-likelihood."""
    path = SHARED / "reference" / "clmm_multistart.json"
    if not path.exists():
        return []
    found = []
    for name, result in read_answers(path)["results"].items():
        file = next(f for f in shared_files() if f.name.startswith((f"{name}_", f"{name}__models")))
        best = max(result["logLik_default_and_two_other_starts"])
        found.append((shared_case(file, "clmm_maximal_probit"), best))
    return found


def contrast_files() -> list[tuple[Path, Path]]:
    """Return the files of emmeans' answers, each with the file of the fits that they were made from."""
    files = sorted(SHARED.glob("reference/*__emmeans.json"))
    return [(file, file.with_name(file.name.replace("__emmeans", "__models"))) for file in files]
