"""The sound check: a word is played, and the rater types it, before anything is judged by ear."""

import unicodedata

from panelist.collection.pages.booklet import Booklet
from panelist.collection.pages.models import SoundPage
from panelist.collection.session.answering import LONGEST_REASON, clean_words
from panelist.collection.session.turn import Turn, TurnOutcome
from panelist.collection.store.operations.ops import NewEvent

STATE, KIND = "sound", "sound check"


def make_sound_page(booklet: Booklet, attempt: int = 1, missing: bool = False) -> SoundPage:
    """Return the page with the sound, and how many attempts are left where one has failed."""
    check = booklet.study.file.sound_check
    assert check is not None, "the step exists only where the study has it"
    name = STATE if attempt == 1 else f"{STATE}-{attempt}"
    return SoundPage(id=name, left=check.attempts - attempt + 1 if attempt > 1 else 0, missing=missing)


def count_attempts(turn: Turn) -> int:
    """Return the number of a rater's current attempt."""
    return 1 + len(turn.events(KIND))


def follow_sound_check(turn: Turn) -> TurnOutcome:
    """Return the next step once the word is right; after the last attempt, what the study says."""
    check = turn.booklet.study.file.sound_check
    assert check is not None, "the step exists only where the study has it"
    attempt = count_attempts(turn)
    if turn.form.get("page") != make_sound_page(turn.booklet, attempt).id:
        return TurnOutcome()  # an attempt that was counted already
    said = clean_words(turn.form.get("word", ""), LONGEST_REASON)
    if not said:
        return TurnOutcome(again=make_sound_page(turn.booklet, attempt, missing=True))
    right = _plain(said) in {_plain(word) for word in check.words}
    detail = {"occasion": turn.visit.occasion, "attempt": attempt, "said": said, "right": right}
    heard = NewEvent(KIND, detail)
    if right:
        return TurnOutcome(move=turn.go_to("instructions"), events=(heard,))
    if attempt < check.attempts:
        return TurnOutcome(move=turn.move_to(STATE), events=(heard,))
    reason = f"the word of the sound check was not understood in {attempt} attempts"
    if check.failed == "screen out":
        code = turn.booklet.study.file.collecting.outcomes.screened_out.code or turn.draw()
        return TurnOutcome(move=turn.end("screened_out", reason, code), events=(heard,))
    flag = NewEvent("flag", {"occasion": turn.visit.occasion, "about": KIND, "reason": reason})
    return TurnOutcome(move=turn.go_to("instructions"), events=(heard, flag))


def _plain(word: str) -> str:
    """Return a word as it is compared: letters and digits alone, without case and accents.

    >>> _plain(" Lemón. ")
    'lemon'
    """
    return "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if char.isalnum())
