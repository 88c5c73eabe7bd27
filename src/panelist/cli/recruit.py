"""``panelist recruit``: raters from Prolific or another panel, followed to payment."""

import sys
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Annotated

import typer

from panelist.cli.export import DatabaseUrl, StudyPlace
from panelist.cli.options import Json, argument, option
from panelist.cli.terminal import say, tell

if TYPE_CHECKING:
    from collections.abc import Iterator

    from panelist.collection.recruiting.payments import PaymentResult
    from panelist.collection.recruiting.recruiter import Recruiter
    from panelist.collection.recruiting.status import RecruitingState
    from panelist.study.study import Study

ACTIONS = (
    *("link", "draft", "test", "publish", "pause", "resume", "places", "status", "watch"),
    *("approve", "reject", "screen-out", "bonus", "close"),
)


def recruit(
    study: StudyPlace,
    action: Annotated[str, argument("ACTION", ", ".join(ACTIONS) + ".")] = "status",
    words: Annotated[
        list[str] | None,
        argument(
            "[N|SUBMISSION]…",
            "places: how many in all. approve, reject, screen-out, bonus: only these submissions.",
        ),
    ] = None,
    url: Annotated[
        str, option("URL", "How raters reach the server: https://rate.example.org.")
    ] = "http://127.0.0.1:8000",
    panel: Annotated[
        str,
        option("NAME", "The link for this panel, such as sona; with --dry-run, as if the study named it."),
    ] = "",
    group: Annotated[str, option("NAME", "Only places of this group.")] = "",
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show every request; send and keep none.")
    ] = False,
    yes: Annotated[
        bool, typer.Option("--yes", help="Do not ask before sending a payment or a rejection.")
    ] = False,
    every: Annotated[
        float, option("SECONDS", "watch: the seconds between two looks.", min=5, max=86_400)
    ] = 60.0,
    api: Annotated[
        str | None, option("URL", "The API, if it is not Prolific's own (also: PROLIFIC_URL).")
    ] = None,
    json: Json = False,
    db: DatabaseUrl = None,
) -> None:
    """Recruit and pay raters on Prolific (token in PROLIFIC_TOKEN) or another panel."""
    from panelist.core.errors import UnknownName, did_you_mean
    from panelist.study.reading.load import load_study

    if action not in ACTIONS:
        raise UnknownName(f"recruit cannot {action!r}. {did_you_mean(action, ACTIONS)}")
    loaded = load_study(study)
    chosen = loaded.file.recruiting
    elsewhere = chosen is not None and chosen.panel != "prolific" and action == "status"
    if action == "link" or (not dry_run and (elsewhere or (panel and action == "status"))):
        _show_link(loaded, url, panel, db)
        return
    asked = words or []
    number = _read_number(asked) if action == "places" or (action == "draft" and asked) else None
    with _open(loaded, action, url, panel, group, api, db, dry_run) as desk:
        if action == "watch":
            _watch(desk, every, once=dry_run)
        else:
            _act(desk, action, asked, number, url, yes or dry_run, json)
    if dry_run:
        tell("Nothing was sent, and nothing was kept.")


@contextmanager
def _open(
    loaded: "Study",
    action: str,
    url: str,
    panel: str,
    group: str,
    api: str | None,
    db: str | None,
    dry_run: bool,
) -> "Iterator[Recruiter]":
    """Open what recruiting works with; a dry run acts as if the study named the given panel."""
    from panelist.collection.addresses import check_url
    from panelist.collection.recruiting.opening import open_desk
    from panelist.collection.recruiting.panel import check_panel, choose_panel
    from panelist.collection.recruiting.study_draft import check_public

    study = choose_panel(loaded, panel) if panel and dry_run else loaded
    check_panel(study)
    if action == "draft" and not dry_run:
        check_public(check_url(url))
    notes: list[str] = []
    show = say if dry_run else None
    with open_desk(
        study, database=db, api=api, group=group, create=action == "draft", show=show, notes=notes
    ) as desk:
        for note in notes:
            tell(f"note: {note}")
        yield desk


def _show_link(loaded: "Study", url: str, panel: str, db: str | None) -> None:
    from panelist.collection.addresses import check_url
    from panelist.collection.recruiting.outcomes import NOT_YET
    from panelist.collection.recruiting.panel import describe_panel
    from panelist.collection.store.errors import BadStore
    from panelist.collection.store.store import open_store

    try:
        with open_store(db, loaded, create=False) as store:
            secret = store.study.secret
    except BadStore:
        secret = NOT_YET
    for line in describe_panel(loaded, check_url(url), secret, panel):
        say(line)


def _act(
    desk: "Recruiter", action: str, words: list[str], number: int | None, url: str, yes: bool, json: bool
) -> None:
    """Do one action, and report the result."""
    if action == "draft":
        campaign, offer = desk.draft(url, number)
        say(
            f"Draft {campaign.outside_id}: {offer.places} places, {offer.minutes} minutes, "
            f"{offer.reward / 100:.2f} {offer.currency} each, {offer.hourly} an hour "
            f"({offer.wage} promised); {offer.total:,} {offer.currency} in all with fees."
        )
    elif action in ("test", "publish", "pause", "resume", "close"):
        if action == "publish" and not _confirm("Publish the study on Prolific? Places cost money.", yes):
            return
        say(getattr(desk, action)())
    elif action == "places":
        say(desk.set_places(number or 0))
    else:
        state = desk.look()
        if action == "status":
            say(state.to_json() if json else str(state))
        else:
            _settle(desk, state, action, words, yes)


def _settle(desk: "Recruiter", state: "RecruitingState", action: str, words: list[str], yes: bool) -> None:
    from panelist.collection.recruiting.recruiter import find_chosen
    from panelist.collection.recruiting.submission_review import APPROVE, LOOK, REJECT, SCREEN_OUT
    from panelist.core.prose import count

    unit = state.currency
    if action == "bonus":
        amounts = {name: amount for name, amount in state.bonuses.items() if not words or name in words}
        for name, amount in amounts.items():
            say(f"{name}  {amount / 100:.2f} {unit}")
        asked = f"Pay bonuses to {len(amounts)}, {sum(amounts.values()) / 100:.2f} {unit} in all?"
        done, many = desk.pay_bonuses, len(amounts)
    else:
        usual = {"approve": APPROVE, "reject": REJECT, "screen-out": SCREEN_OUT}[action]
        allowed = (APPROVE, REJECT, LOOK) if action == "approve" else (usual,)
        chosen = find_chosen(state, words, allowed, usual)
        for one in chosen:
            say(f"{one.submission}  {state.name(one)}  {one.why}")
            if action == "reject":
                say(f"    {one.category}: {one.message}")
        asked = f"{action.replace('-', ' ').capitalize()} {count(len(chosen), 'submission')}?"
        done, many = getattr(desk, action.replace("-", "_")), len(chosen)
    if not many and action == "bonus" and not words:
        _report(done(state, words))  # a list that was begun and not finished
        say("No approved rater was paid less than promised.")
        return
    if not many:
        say(f"There is nothing to {action.replace('-', ' ')}.")
        return
    if many and not _confirm(asked, yes):
        return
    _report(done(state, words))


def _report(settled: "PaymentResult") -> None:
    say(f"{len(settled.done)} done.")
    if settled.later:
        tell(f"{len(settled.later)} not settled yet, try again later: {', '.join(settled.later)}.")
    for name, why in settled.refused.items():
        tell(f"{name}: {why}")
    if settled.later or settled.refused:
        raise typer.Exit(1)


def _watch(desk: "Recruiter", every: float, once: bool = False) -> None:
    """Follow the submissions until interrupted; wait while the panel is unavailable."""
    from panelist.collection.recruiting.errors import PanelRefused, TokenRefused

    tell(f"Checking every {every:g} seconds; Ctrl+C ends.")
    before = ""
    while True:
        try:
            followed = desk.follow()
            now = ", ".join(f"{n} {status.lower()}" for status, n in sorted(followed.statuses.items()))
            for visit in followed.freed:
                say(f"{time.strftime('%H:%M:%S')}  place {visit.place} is free again: {visit.reason}")
            if now != before:
                say(f"{time.strftime('%H:%M:%S')}  {now or 'no submissions yet'}")
            before = now
        except TokenRefused:
            raise
        except PanelRefused as error:
            tell(f"{time.strftime('%H:%M:%S')}  {error}")
        if once:
            return
        time.sleep(every)


def _confirm(question: str, yes: bool) -> bool:
    if yes:
        return True
    if not sys.stdin.isatty():
        tell(f"{question} Nothing was done: add --yes to do it.")
        raise typer.Exit(1)
    return typer.confirm(question)


def _read_number(words: list[str]) -> int:
    if len(words) != 1 or not words[0].isascii() or not words[0].isdecimal() or len(words[0]) > 6:
        from panelist.collection.recruiting.errors import BadRecruiting

        raise BadRecruiting(
            f"Give one whole number of places, such as 24. Got {' '.join(words) or 'none'!r}."
        )
    return int(words[0])
