"""The works behind an analysis: only those that it used, as BibTeX and for the page."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from panelist.agreement.reliability import CriterionReliability
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
        """Return the work as a line of a list of references."""
        people = self.authors.replace(" and ", "; ")
        where = " ".join(part for part in (self.place, self.volume) if part)
        where += f", {self.pages}" if self.pages else ""
        return f"{people} ({self.year}). {self.title}.{f' {where}.' if where else ''}"

    @property
    def link(self) -> str:
        """Its address, empty where none is known."""
        return f"https://doi.org/{self.doi}" if self.doi else self.url


def list_references(analysis: "Analysis") -> list[Reference]:
    """Return the works that this analysis used, in alphabetical order of their keys."""
    return [work for work, used in sorted(_WORKS, key=lambda pair: pair[0].key) if used(analysis)]


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


_WORKS: "list[tuple[Reference, Callable[[Analysis], bool]]]" = [
    (
        Reference(
            "almohamad2017simultaneous",
            "misc",
            "Al Mohamad, Diaa and van Zwet, Erik W. and Goeman, Jelle J. and Solari, Aldo",
            2017,
            "Simultaneous confidence sets for ranks using the partitioning principle",
            "arXiv:1708.02729",
            url="https://arxiv.org/abs/1708.02729",
        ),
        _ranks,
    ),
    (
        Reference(
            "amidei2019agreement",
            "inproceedings",
            "Amidei, Jacopo and Piwek, Paul and Willis, Alistair",
            2019,
            "Agreement is overrated: A plea for correlation to assess human evaluation reliability",
            "Proceedings of the 12th International Conference on Natural Language Generation",
            "",
            "344–354",
            "10.18653/v1/W19-8642",
        ),
        _has("reliability"),
    ),
    (
        Reference(
            "barr2013random",
            "article",
            "Barr, Dale J. and Levy, Roger and Scheepers, Christoph and Tily, Harry J.",
            2013,
            "Random effects structure for confirmatory hypothesis testing: Keep it maximal",
            "Journal of Memory and Language",
            "68",
            "255–278",
            "10.1016/j.jml.2012.11.001",
        ),
        lambda analysis: analysis.spec.formula is None and _models("clmm", "lmm")(analysis),
    ),
    (
        Reference(
            "bates2015parsimonious",
            "misc",
            "Bates, Douglas and Kliegl, Reinhold and Vasishth, Shravan and Baayen, Harald",
            2015,
            "Parsimonious mixed models",
            "arXiv:1506.04967",
            url="https://arxiv.org/abs/1506.04967",
        ),
        lambda analysis: any(has_note(one.notes, "reduced") for one in _comparisons(analysis)),
    ),
    (
        Reference(
            "benjamini1995controlling",
            "article",
            "Benjamini, Yoav and Hochberg, Yosef",
            1995,
            "Controlling the false discovery rate: A practical and powerful approach to multiple testing",
            "Journal of the Royal Statistical Society: Series B",
            "57",
            "289–300",
            "10.1111/j.2517-6161.1995.tb02031.x",
        ),
        _adjusts("bh"),
    ),
    (
        Reference(
            "bradley1952rank",
            "article",
            "Bradley, Ralph Allan and Terry, Milton E.",
            1952,
            "Rank analysis of incomplete block designs: I. The method of paired comparisons",
            "Biometrika",
            "39",
            "324–345",
            "10.2307/2334029",
        ),
        _models("bradley-terry"),
    ),
    (
        Reference(
            "holm1979simple",
            "article",
            "Holm, Sture",
            1979,
            "A simple sequentially rejective multiple test procedure",
            "Scandinavian Journal of Statistics",
            "6",
            "65–70",
        ),
        lambda analysis: _adjusts("holm")(analysis) or _tests_equivalence(analysis),
    ),
    (
        Reference(
            "hothorn2008simultaneous",
            "article",
            "Hothorn, Torsten and Bretz, Frank and Westfall, Peter",
            2008,
            "Simultaneous inference in general parametric models",
            "Biometrical Journal",
            "50",
            "346–363",
            "10.1002/bimj.200810425",
        ),
        _adjusts("mvt"),
    ),
    (
        Reference(
            "howcroft2021happens",
            "inproceedings",
            "Howcroft, David M. and Rieser, Verena",
            2021,
            "What happens if you treat ordinal ratings as interval data? Human evaluations in NLP are even "
            "more under-powered than you think",
            "Proceedings of the 2021 Conference on Empirical Methods in Natural Language Processing",
            "",
            "8932–8939",
            "10.18653/v1/2021.emnlp-main.703",
        ),
        _models("clmm", "clm"),
    ),
    (
        Reference(
            "kramer1956extension",
            "article",
            "Kramer, Clyde Young",
            1956,
            "Extension of multiple range tests to group means with unequal numbers of replications",
            "Biometrics",
            "12",
            "307–310",
            "10.2307/3001469",
        ),
        _adjusts("tukey"),
    ),
    (
        Reference(
            "krippendorff2011computing",
            "misc",
            "Krippendorff, Klaus",
            2011,
            "Computing Krippendorff's alpha-reliability",
            url="https://repository.upenn.edu/asc_papers/43",
        ),
        _measures("krippendorff"),
    ),
    (
        Reference(
            "kuznetsova2017lmertest",
            "article",
            "Kuznetsova, Alexandra and Brockhoff, Per B. and Christensen, Rune H. B.",
            2017,
            "lmerTest package: Tests in linear mixed effects models",
            "Journal of Statistical Software",
            "82(13)",
            "1–26",
            "10.18637/jss.v082.i13",
        ),
        _models("lmm", "clmm"),
    ),
    (
        Reference(
            "mckelvey1975statistical",
            "article",
            "McKelvey, Richard D. and Zavoina, William",
            1975,
            "A statistical model for the analysis of ordinal level dependent variables",
            "Journal of Mathematical Sociology",
            "4",
            "103–120",
            "10.1080/0022250X.1975.9989847",
        ),
        _models("clmm", "clm"),
    ),
    (
        Reference(
            "peterson1990partial",
            "article",
            "Peterson, Bercedis and Harrell, Frank E.",
            1990,
            "Partial proportional odds models for ordinal response variables",
            "Journal of the Royal Statistical Society: Series C",
            "39",
            "205–217",
            "10.2307/2347760",
        ),
        _tests_odds,
    ),
    (
        Reference(
            "plackett1975analysis",
            "article",
            "Plackett, R. L.",
            1975,
            "The analysis of permutations",
            "Journal of the Royal Statistical Society: Series C",
            "24",
            "193–202",
            "10.2307/2346567",
        ),
        _models("plackett-luce"),
    ),
    (
        Reference(
            "schuirmann1987comparison",
            "article",
            "Schuirmann, Donald J.",
            1987,
            "A comparison of the two one-sided tests procedure and the power approach for assessing the "
            "equivalence of average bioavailability",
            "Journal of Pharmacokinetics and Biopharmaceutics",
            "15",
            "657–680",
            "10.1007/BF01068419",
        ),
        _tests_equivalence,
    ),
    (
        Reference(
            "spearman1904proof",
            "article",
            "Spearman, Charles",
            1904,
            "The proof and measurement of association between two things",
            "The American Journal of Psychology",
            "15",
            "72–101",
            "10.2307/1412159",
        ),
        _measures("spearman"),
    ),
    (
        Reference(
            "vargha2000critique",
            "article",
            "Vargha, András and Delaney, Harold D.",
            2000,
            "A critique and improvement of the CL common language effect size statistics of McGraw and Wong",
            "Journal of Educational and Behavioral Statistics",
            "25",
            "101–132",
            "10.3102/10769986025002101",
        ),
        _has("effects"),
    ),
]
