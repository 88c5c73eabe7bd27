"""Which output a text is: pages do not say, but whoever has the outputs file can look it up."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from panelist.collection.robots.sheet import Sheet, squash
from panelist.collection.spoiling import spoil_text
from panelist.collection.words import load_words
from panelist.scales.magnitude import Magnitude
from panelist.study.checks import DegradedCheck, InstructedCheck
from panelist.study.study import Study

NOBODY = -1


@dataclass(frozen=True, slots=True)
class Seen:
    """An output as a robot knows it: the number of its item and of its system, -1 where it knows neither."""

    item: int = NOBODY
    system: int = NOBODY
    spoilt: bool = False


@dataclass(frozen=True, slots=True)
class View:
    """What a robot makes of a page."""

    outputs: tuple[Seen, ...] = ()
    told: str = ""
    """The name of the instructed check that the page is, if it is one."""
    practice: int = 0
    """The number of the practice item, 0 where it is none."""


@dataclass(eq=False)
class Recognition:
    """The outputs of a study by their texts; made once for all robots."""

    study: Study
    _outputs: dict[str, list[Seen]] = field(default_factory=dict, repr=False)
    _contexts: dict[str, set[int]] = field(default_factory=dict, repr=False)
    _told: dict[str, str] = field(default_factory=dict, repr=False)
    _practice: dict[str, int] = field(default_factory=dict, repr=False)
    _scenery: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        self._read_outputs()
        file = self.study.file
        told = [one for one in (file.checks.items if file.checks else ()) if isinstance(one, InstructedCheck)]
        self._told = {squash(check.text): f"instructed-{n}" for n, check in enumerate(told, start=1)}
        words, count = load_words(file.language), len(file.practice.items) if file.practice else 0
        self._practice = {words.say("practice_where", n, total=count): n for n in range(1, count + 1)}
        scales = [criterion.scale for criterion in self.study.criteria]
        self._scenery = frozenset(squash(one.reference) for one in scales if isinstance(one, Magnitude))

    def look(self, sheet: Sheet) -> View:
        """Return what a page shows."""
        texts = [text for text in sheet.texts if text not in self._scenery]
        if len(texts) > 1 and texts[0] not in self._outputs and texts[0] in self._contexts:
            texts = texts[1:]  # a long context above several outputs
        practice = self._practice.get(sheet.heading, 0)
        told = self._told.get(texts[0], "") if texts else ""
        if practice or told:
            return View((Seen(),) * len(texts), told, practice)
        return View(self._name(texts, sheet.beside))

    def _name(self, texts: Sequence[str], beside: Sequence[str]) -> tuple[Seen, ...]:
        """Return the output behind each text; of several that read the same, one that fits the page."""
        fitting: set[int] | None = None
        for text in beside:
            here = self._contexts.get(text)
            fitting = here if fitting is None or here is None else fitting & here
        chosen: list[Seen] = []
        for text in texts:
            known = self._outputs.get(text, ())
            near = [one for one in known if fitting is None or one.item in fitting] or list(known)
            new = [one for one in near if one not in chosen] or near
            chosen.append(new[0] if new else Seen())
            if fitting is None and len(known) == 1:
                fitting = {known[0].item}  # outputs side by side are mostly of one item
        return tuple(chosen)

    def _read_outputs(self) -> None:
        study = self.study
        items = {name: number for number, name in enumerate(study.items)}
        systems = {name: number for number, name in enumerate(study.systems)}
        checks = study.file.checks.items if study.file.checks else ()
        ways = sorted({check.how for check in checks if isinstance(check, DegradedCheck)})
        frame = study.outputs.frame
        rows = zip(frame["item"].tolist(), frame["system"].tolist(), frame["output"].tolist(), strict=True)
        for item, system, text in rows:
            if system not in systems:
                continue
            seen = Seen(items[item], systems[system])
            self._outputs.setdefault(squash(text), []).append(seen)
            for how in ways:
                worse = spoil_text(text, how, study.file.design.seed, item, system)
                spoilt = Seen(seen.item, seen.system, spoilt=True)
                self._outputs.setdefault(squash(worse), []).append(spoilt)
        for name in ("context", "reference"):
            if name in frame:
                for item, text in zip(frame["item"].tolist(), frame[name].tolist(), strict=True):
                    self._contexts.setdefault(squash(text), set()).add(items[item])
