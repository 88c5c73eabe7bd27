"""Priors in words, such as ``weak``, ``normal(2.5)`` or ``t(3, 2.5), wishart``, and what no prior allows."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite

from panelist.core.errors import BadModel, did_you_mean

WEAK_SCALE, WEAK_STRENGTH = 2.5, 1.0
_PIECE = re.compile(r"(?:(fixed|random)\s+)?([a-z]+)\s*(?:\(([^()]*)\))?")
_KINDS = {"weak": "", "normal": "fixed", "t": "fixed", "wishart": "random"}
ALLOWED = (
    "Allowed are weak, which is normal(2.5), wishart; normal(SD) or t(DF, SD) for the fixed effects, with SD "
    "in latent standard deviations; wishart or wishart(C) for the random effects; one of each joined by a "
    "comma; fixed weak and random weak."
)

REFUSED = {
    "aic": "AIC and BIC need the maximum of the likelihood",
    "lrt": "A likelihood-ratio test needs the maximum of the likelihood",
    "profile": "A profile needs the likelihood alone",
}


@dataclass(frozen=True)
class Prior:
    """What has a prior: combinations of fixed effects, spreads of random effects, or both."""

    scale: float | None = None  # of fixed effects, in latent standard deviations; None: they have no prior
    df: float = inf  # of t; infinite for normal
    strength: float | None = None  # c of −c log|λ|; None: spreads have no prior

    @property
    def words(self) -> str:
        """The prior as it can be written again."""
        if self == WEAK:
            return "weak"
        return ", ".join(self._name_parts())

    def _name_parts(self) -> Iterator[str]:
        if self.scale is not None:
            yield f"normal({self.scale:g})" if self.df == inf else f"t({self.df:g}, {self.scale:g})"
        if self.strength is not None:
            yield "wishart" if self.strength == WEAK_STRENGTH else f"wishart({self.strength:g})"

    @property
    def phrase(self) -> str:
        """How every result that it touches says so."""
        return "with a weak prior" if self == WEAK else f"with the prior {self.words}"

    def explain(self) -> str:
        """Return in a clause what it assumes."""
        said = []
        if self.scale is not None:
            kind = "normal" if self.df == inf else f"t({self.df:g})"
            said.append(
                f"effects of a factor are within about {self.scale:g} latent SDs of their mean ({kind})"
            )
        if self.strength is not None:
            said.append("standard deviations of random effects are kept from zero (Wishart)")
        return ", and ".join(said)


WEAK = Prior(WEAK_SCALE, inf, WEAK_STRENGTH)


def parse_prior(text: str | None) -> Prior | None:
    """Return the prior that the words mean, None for None and ``none``.

    >>> parse_prior("t(3, 2.5), wishart")
    Prior(scale=2.5, df=3.0, strength=1.0)
    """
    if text is None or text == "none":
        return None
    if not isinstance(text, str):
        raise BadModel(f"A prior is given in words. Got {text!r}. {ALLOWED}")
    found: dict[str, Prior] = {}
    for piece in re.split(r",(?![^(]*\))", text):
        for what, part in _read_piece(piece.strip(), text).items():
            if what in found:
                raise BadModel(f"The prior {text!r} says twice what the {what} effects have. {ALLOWED}")
            found[what] = part
    fixed, random = found.get("fixed", Prior()), found.get("random", Prior())
    return Prior(fixed.scale, fixed.df, random.strength)


def _read_piece(piece: str, text: str) -> dict[str, Prior]:
    match = _PIECE.fullmatch(piece)
    if match is None:
        raise BadModel(f"The prior {text!r} cannot be read. {ALLOWED}")
    where, name, inside = match.groups()
    if name not in _KINDS:
        raise BadModel(f"No prior is called {name!r}. {did_you_mean(name, tuple(_KINDS))} {ALLOWED}")
    numbers = _read_numbers(inside, text)
    if where and _KINDS[name] not in ("", where):
        raise BadModel(f"{name} is a prior of {_KINDS[name]} effects, not of {where} ones. {ALLOWED}")
    if name == "weak" and not numbers:
        halves = {"fixed": Prior(scale=WEAK_SCALE), "random": Prior(strength=WEAK_STRENGTH)}
        return {where: halves[where]} if where else halves
    if name == "normal" and len(numbers) == 1:
        return {"fixed": Prior(scale=numbers[0])}
    if name == "t" and len(numbers) == 2:
        return {"fixed": Prior(scale=numbers[1], df=numbers[0])}
    if name == "wishart" and len(numbers) < 2:
        return {"random": Prior(strength=numbers[0] if numbers else WEAK_STRENGTH)}
    raise BadModel(f"The prior {piece!r} has not as many numbers as it takes. {ALLOWED}")


def _read_numbers(inside: str | None, text: str) -> list[float]:
    if inside is None or not inside.strip():
        return []
    try:
        numbers = [float(word) for word in inside.split(",")]
    except ValueError:
        numbers = [-1.0]
    if not all(isfinite(number) and number > 0.0 for number in numbers):
        raise BadModel(f"The numbers of a prior are above 0. Got {text!r}. {ALLOWED}")
    return numbers


def refuse_prior(prior: Prior | None, model: str, quadrature: int = 1) -> None:
    """Raise BadModel where a model takes no prior."""
    if prior is None:
        return
    if model not in ("clm", "clmm"):
        raise BadModel(
            f"A prior belongs to the ordinal models, clmm and clm, and this is a {model}. Leave it out, "
            f"or choose {'clmm' if model == 'lmm' else 'clm'}."
        )
    if model == "clm" and prior.scale is None:
        raise BadModel("A clm has no random effects, and wishart is their prior. Use normal(2.5) or weak.")
    if quadrature > 1:
        raise BadModel("Quadrature takes no prior: use one of the two. Laplace (quadrature=1) takes it.")


def refuse_under_prior(prior: str | None, what: str) -> None:
    """Raise BadModel where what needs the likelihood alone is asked of a fit with a prior."""
    if prior is not None:
        instead = ", or ask for Wald's intervals or the bootstrap's." if what == "profile" else "."
        raise BadModel(
            f"{REFUSED[what]}, and this model was fitted with a prior ({prior}). Fit it without one{instead}"
        )
