"""The code and the redirect for each end of a visit, as the panel knows them."""

import hashlib
import hmac
from dataclasses import replace

from panelist.collection.session.turn import CODE_LETTERS
from panelist.study.panels import find_panel
from panelist.study.sections.collecting import Outcome, Outcomes
from panelist.study.study import Study

KINDS = tuple(Outcomes.model_fields)
CODE_LENGTH = 8
NOT_YET = ""  # the secret of a study that has no database yet

CODE_TYPES = {
    "finished": "COMPLETED",
    "failed_checks": "FAILED_ATTENTION_CHECK",
    "screened_out": "SCREENED_OUT",
    "declined": "NO_CONSENT",
    "incompatible": "INCOMPATIBLE_DEVICE",
    "full": "OTHER",
}
"""What Prolific calls these ends; SCREENED_OUT is our own code type, which it allows."""


def dress_study(study: Study, secret: str) -> Study:
    """Return the study with the codes and redirects of its panel in ``collecting.outcomes``.

    What the file says takes precedence. It is for the pages only: its hash is not that of the study.
    """
    if study.file.recruiting is None:
        return study
    collecting = study.file.collecting.model_copy(update={"outcomes": fill_outcomes(study, secret)})
    return replace(study, file=study.file.model_copy(update={"collecting": collecting}))


def fill_outcomes(study: Study, secret: str) -> Outcomes:
    """Return the code and the redirect for each end; codes that nobody wrote are drawn from the secret."""
    written = study.file.collecting.outcomes
    if study.file.recruiting is None:
        return written
    panel = find_panel(study.file.recruiting)
    filled = {}
    for kind in KINDS:
        own: Outcome = getattr(written, kind)
        code = own.code or str(getattr(panel.codes, kind))
        if not code and not panel.personal:
            code = derive_code(secret, kind)
        filled[kind] = Outcome(code=code, redirect=own.redirect or panel.redirect)
    return Outcomes(**filled)


def derive_code(secret: str, kind: str) -> str:
    """Return the code of an end: always the same for a study, and nobody can guess it.

    >>> len(derive_code("a secret", "finished")), derive_code("a secret", "full") == derive_code("b", "full")
    (8, False)
    """
    if secret == NOT_YET:
        return f"({kind.replace('_', ' ')}: drawn later)"
    digest = hmac.new(secret.encode(), f"code {kind}".encode(), hashlib.sha256).digest()
    return "".join(CODE_LETTERS[byte % len(CODE_LETTERS)] for byte in digest[:CODE_LENGTH])
