"""Which sections are allowed with an old HIT, and which are not."""

from collections.abc import Iterator

from panelist.study.problems import Problem
from panelist.study.rules.base import Facts, rule

DECIDED = ("criteria", "outputs", "systems", "checks", "practice")


@rule("hit")
def a_hit_decides_what_is_asked(facts: Facts) -> Iterator[Problem]:
    """Refuse what the HIT itself decides."""
    if facts.file.hit is None:
        return
    for key in DECIDED:
        if key in facts.text.data:
            yield facts.problem(
                (key,), f"a study with hit: has no {key}: the HIT's own form decides that. Leave it out."
            )
    design = facts.text.data.get("design")
    if isinstance(design, dict):
        for key in design:
            if key != "seed":
                yield facts.problem(
                    ("design", key), "the numbers of the HIT decide the design; only seed may be given here."
                )
