"""The works behind an analysis: of those in references.toml the ones it used, as BibTeX and for the page."""

import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from typing import TYPE_CHECKING

from panelist.agreement.reliability import CriterionReliability
from panelist.analysis.choices.choice_comparison import ChoiceCriterion
from panelist.analysis.missing import Missing
from panelist.analysis.systems.comparison import CriterionComparison
from panelist.core.notes import has_note

if TYPE_CHECKING:
    from panelist.analysis.analysis_result import Analysis


@dataclass(frozen=True)
class Reference:
    """One work; ``place`` is what BibTeX calls journal, booktitle or howpublished."""

    key: str
    kind: str
    authors: str
    year: int
    title: str
    place: str = ""
    volume: str = ""
    pages: str = ""
    doi: str = ""
    url: str = ""

    def bibtex(self) -> str:
        """Return the entry."""
        where = {"article": "journal", "inproceedings": "booktitle"}.get(self.kind, "howpublished")
        fields = {
            "author": self.authors,
            "title": f"{{{self.title}}}",
            where: self.place,
            "volume": self.volume,
            "pages": self.pages.replace("–", "--"),
            "year": str(self.year),
            "doi": self.doi,
            "url": self.url,
        }
        lines = [f"  {name} = {{{_escape(text)}}}," for name, text in fields.items() if text]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    def text(self) -> str:
        """Return the work as a line of a list of references, without the braces that BibTeX needs."""
        people = self.authors.strip("{}").replace(" and others", " et al.").replace(" and ", "; ")
        where = " ".join(part for part in (self.place, self.volume) if part)
        where += f", {self.pages}" if self.pages else ""
        return f"{people} ({self.year}). {self.title}.{f' {where}.' if where else ''}"

    @property
    def link(self) -> str:
        """Its address, empty where none is known."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url


def list_references(analysis: "Analysis") -> list[Reference]:
    """Return the works that this analysis used, in alphabetical order of their keys."""
    listed = tomllib.loads((files("panelist.reports") / "references.toml").read_text(encoding="utf-8"))
    return [Reference(key, **work) for key, work in sorted(listed.items()) if _USED[key](analysis)]


def write_bibtex(references: list[Reference]) -> str:
    """Return a BibTeX file."""
    return "\n\n".join(one.bibtex() for one in references) + "\n"


def _escape(text: str) -> str:
    return text.replace("&", r"\&").replace("%", r"\%")


def _comparisons(analysis: "Analysis") -> list[CriterionComparison]:
    return [one.comparison for one in analysis.criteria if isinstance(one.comparison, CriterionComparison)]


def _models(*names: str) -> "Callable[[Analysis], bool]":
    """Return a test for the models of an analysis, those side by side included."""

    def used(analysis: "Analysis") -> bool:
        models = {one.model for one in _comparisons(analysis)}
        models |= {one.kinds.other.model for one in analysis.criteria if not isinstance(one.kinds, Missing)}
        return bool(models & set(names))

    return used


def _mixes(*families: str) -> "Callable[[Analysis], bool]":
    """Return a test for mixed models of choices of one of these families."""
    return lambda analysis: any(
        isinstance(one, ChoiceCriterion)
        and one.strengths.mixed is not None
        and one.strengths.mixed.family in families
        for one in _comparisons(analysis)
    )


def _tests_equivalence(analysis: "Analysis") -> bool:
    return any(one.equivalence for one in _comparisons(analysis))


def _adjusts(name: str) -> "Callable[[Analysis], bool]":
    return lambda analysis: any(one.adjust == name and len(one.systems) > 2 for one in _comparisons(analysis))


def _measures(*starts: str) -> "Callable[[Analysis], bool]":
    def used(analysis: "Analysis") -> bool:
        found = [
            one.reliability for one in analysis.criteria if isinstance(one.reliability, CriterionReliability)
        ]
        names = [c.name for one in found for c in one.coefficients if c.estimate == c.estimate]
        return any(name.startswith(starts) for name in names)

    return used


def _has(part: str) -> "Callable[[Analysis], bool]":
    return lambda analysis: any(not isinstance(getattr(one, part), Missing) for one in analysis.criteria)


def _tests_odds(analysis: "Analysis") -> bool:
    checks = [one.checks for one in analysis.criteria if not isinstance(one.checks, Missing)]
    return any(not isinstance(one.proportional_odds, Missing) for one in checks)


def _ranks(analysis: "Analysis") -> bool:
    return any(len(one.systems) > 2 for one in _comparisons(analysis))


def _of_study(analysis: "Analysis") -> bool:
    """Whether the report holds the study against lists of what to report."""
    return analysis.study is not None


_USED: "dict[str, Callable[[Analysis], bool]]" = {
    "aclrollingreview2021responsible": _of_study,
    "almohamad2017simultaneous": _ranks,
    "amidei2019agreement": _has("reliability"),
    "barr2013random": lambda analysis: analysis.spec.formula is None and _models("clmm", "lmm")(analysis),
    "bates2015parsimonious": lambda analysis: any(
        has_note(one.notes, "reduced") for one in _comparisons(analysis)
    ),
    "benjamini1995controlling": _adjusts("bh"),
    "bradley1952rank": lambda analysis: (
        _models("bradley-terry")(analysis) or _mixes("cumulative", "davidson")(analysis)
    ),
    "cochran1977sampling": lambda analysis: analysis.beside is not None,
    "holm1979simple": lambda analysis: _adjusts("holm")(analysis) or _tests_equivalence(analysis),
    "hothorn2008simultaneous": _adjusts("mvt"),
    "howcroft2020twenty": _of_study,
    "howcroft2021happens": _models("clmm", "clm"),
    "kramer1956extension": _adjusts("tukey"),
    "krippendorff2011computing": _measures("krippendorff"),
    "kunilovskaya2026annotates": _of_study,
    "kuznetsova2017lmertest": _models("lmm", "clmm"),
    "mckelvey1975statistical": _models("clmm", "clm"),
    "peterson1990partial": _tests_odds,
    "plackett1975analysis": lambda analysis: (
        _models("plackett-luce")(analysis) or _mixes("plackett-luce")(analysis)
    ),
    "schuirmann1987comparison": _tests_equivalence,
    "spearman1904proof": _measures("spearman"),
    "vanderlee2021human": _of_study,
    "vargha2000critique": _has("effects"),
}
"""When an analysis uses a work of references.toml."""
