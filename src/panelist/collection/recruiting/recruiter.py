"""Recruiting on Prolific, step by step: draft, test, publish, follow, settle, close."""

import secrets
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from panelist.collection.monitor.ledger import Ledger
from panelist.collection.monitor.overview import name_visit
from panelist.collection.monitor.real_pay import measure_pay
from panelist.collection.recruiting import submission_review as advice
from panelist.collection.recruiting.errors import AnswerLost, BadRecruiting, PanelRefused
from panelist.collection.recruiting.offer import Offer, check_promise, count_capacity, make_offer
from panelist.collection.recruiting.outcomes import fill_outcomes
from panelist.collection.recruiting.panel import PANEL
from panelist.collection.recruiting.payments import WAITS, PaymentResult, Payments
from panelist.collection.recruiting.prolific import submission as prolific
from panelist.collection.recruiting.prolific.endpoints import Api
from panelist.collection.recruiting.repository import RecruitingRepository
from panelist.collection.recruiting.status import RecruitingState
from panelist.collection.recruiting.study_draft import check_public, write_study
from panelist.collection.recruiting.submission_review import Reviewed, review
from panelist.collection.recruiting.submissions import Followed, follow
from panelist.collection.store.operations.recruits import PAID, REFUSED, Campaign, SaveCampaign
from panelist.core.errors import did_you_mean
from panelist.core.prose import count
from panelist.design.plan import Plan
from panelist.study.study import Study

DRAFT, ACTIVE, PAUSED = "UNPUBLISHED", "ACTIVE", "PAUSED"
PUBLISHED = (ACTIVE, "PUBLISHING", "SCHEDULED", PAUSED)
TAKEN = (prolific.AWAITING, prolific.APPROVED, prolific.PARTLY)
"""Statuses in which a submission keeps its place on Prolific permanently."""


@dataclass(frozen=True)
class Recruiter:
    """Recruits for a study: what is known is in the repository, the panel behind an API."""

    study: Study
    repository: RecruitingRepository
    api: Api
    who: str
    secret: str
    group: str = ""
    sleep: Callable[[float], None] = time.sleep

    # The study on Prolific

    def draft(self, url: str, places: int | None = None) -> tuple[Campaign, Offer]:
        """Make the draft on Prolific, or rewrite it while it is one; return it with what it offers."""
        if not self.api.client.dry:
            check_public(url)
        known = self.repository.campaign(PANEL, self.group)
        if known is not None and known.outside_id:
            self._refuse_published(known)
        offer = make_offer(self.study, self._plan(), self._check_places(places, known))
        mark = known.key if known is not None else self._draw_mark()
        body = write_study(self.study, offer, fill_outcomes(self.study, self.secret), url, mark, self.group)
        fresh = Campaign(
            PANEL, self.group, "", DRAFT, offer.places, offer.reward, offer.minutes, mark, 0.0, 0.0
        )
        campaign = replace(fresh, created=known.created if known is not None else time.time())
        if known is None:
            self.repository.do(
                SaveCampaign(campaign, self.who)
            )  # before it is asked for, so that it is found again
        if known is not None and known.outside_id:
            made = self.api.change_study(known.outside_id, body)
        else:
            made = self._create(body, mark, look_first=known is not None)
        campaign = replace(campaign, outside_id=str(made.get("id") or ""), status=_read_state(made, DRAFT))
        if not campaign.outside_id:
            raise PanelRefused("Prolific took the draft but gave it no id. Look for it on its pages.")
        return self.repository.do(SaveCampaign(campaign, self.who, "recruiting: drafted")), offer

    def _draw_mark(self) -> str:
        return "panelist-…" if self.api.client.dry else f"panelist-{secrets.token_hex(4)}"

    def make_offer(self, places: int | None = None) -> Offer:
        """Return what Prolific would be offered."""
        known = self.repository.campaign(PANEL, self.group)
        return make_offer(self.study, self._plan(), self._check_places(places, known))

    def _create(self, body: dict[str, Any], mark: str, look_first: bool) -> dict[str, Any]:
        """Return the new draft: after a lost answer, the one that was made without an acknowledgement."""
        for wait in WAITS:
            self.sleep(wait)
            if look_first and (found := self.api.find_study(mark)) is not None:
                return found
            try:
                return self.api.create_study(body)
            except AnswerLost:
                look_first = True
        raise AnswerLost("Prolific does not answer. Try again later; a draft made meanwhile is found.")

    def test(self) -> str:
        """Have Prolific make a copy that only a test participant sees; return what to show."""
        campaign = self.find_campaign()
        made = self.api.test_study(campaign.outside_id)
        self.repository.do(SaveCampaign(campaign, self.who, "recruiting: tested"))
        where = made.get("study_url") or made.get("url") or ""
        return f"Prolific made a test of the study{f': {where}' if where else '.'}"

    def publish(self) -> str:
        """Publish the draft, unless it pays less than promised or asks for more raters than have places."""
        campaign = self.find_campaign()
        there = self.api.get_study(campaign.outside_id)
        status = _read_state(there, campaign.status)
        if status != DRAFT:
            raise BadRecruiting(
                f"The study is {status.lower()} on Prolific already. To ask for more raters: panelist "
                "recruit STUDY places N; to see its state: status."
            )
        reward = int(there.get("reward") or campaign.reward)
        minutes = int(there.get("estimated_completion_time") or campaign.minutes)
        places = int(there.get("total_available_places") or campaign.places)
        check_promise(self.study, reward, minutes)
        offer = make_offer(self.study, self._plan(), self._check_places(places, campaign))
        if not self.api.client.dry:
            check_promise(self.study, reward, max(minutes, offer.minutes))
        now = self._move(campaign, "PUBLISH", PUBLISHED)
        self._save(replace(campaign, status=now, reward=reward, minutes=minutes, places=places), "published")
        return f"Published: {count(places, 'place')} at {Decimal(reward).scaleb(-2)} {offer.currency} each."

    def pause(self) -> str:
        """Pause recruiting on Prolific."""
        campaign = self.find_campaign()
        self._save(replace(campaign, status=self._move(campaign, "PAUSE", (PAUSED,))), "paused")
        return "Recruiting is paused. Raters who have begun continue; our own pages stay open for them."

    def resume(self) -> str:
        """Let people in again."""
        campaign = self.find_campaign()
        self._save(replace(campaign, status=self._move(campaign, "START", (ACTIVE,))), "resumed")
        return "Recruiting continues."

    def set_places(self, places: int) -> str:
        """Ask Prolific for ``places`` raters in all; the number can grow, never shrink."""
        campaign = self.find_campaign()
        if places < campaign.places:
            raise BadRecruiting(
                f"Prolific was asked for {count(campaign.places, 'place')}; the number can only "
                "grow. Pause or close recruiting where these are too many."
            )
        self._check_places(places, campaign)
        there = self.api.change_study(campaign.outside_id, {"total_available_places": places})
        now = int(there.get("total_available_places") or places)
        self._save(replace(campaign, places=now), f"asked for {count(now, 'place')}")
        return f"Prolific is asked for {count(now, 'rater')} in all."

    def close(self) -> str:
        """Stop recruiting for good, once everybody is settled."""
        state = self.look()
        waiting = [one for one in state.reviewed if one.status == prolific.AWAITING]
        if waiting:
            raise BadRecruiting(
                f"{count(len(waiting), 'submission')} not reviewed yet. Approve, or reject by the study's "
                "rules, before recruiting is closed."
            )
        if state.campaign.status == "COMPLETED":
            return "Recruiting has ended already."
        ended = ("AWAITING REVIEW", "COMPLETED")
        self._save(replace(state.campaign, status=self._move(state.campaign, "STOP", ended)), "closed")
        return "Recruiting has ended. The rating pages stay open until collecting is ended on the dashboard."

    def _move(self, campaign: Campaign, action: str, wanted: Sequence[str]) -> str:
        """Return the state of the study after an action; a lost answer is looked up before it is repeated."""
        status = campaign.status
        for wait in WAITS:
            self.sleep(wait)
            try:
                said = self.api.move_study(campaign.outside_id, action)
                return _read_state(said, wanted[0])
            except AnswerLost:
                status = _read_state(self.api.get_study(campaign.outside_id), status)
                if status in wanted:
                    return status
        raise AnswerLost(f"Prolific does not answer; the study is {status.lower()}. Try again later.")

    def _save(self, campaign: Campaign, what: str) -> Campaign:
        return self.repository.do(SaveCampaign(campaign, self.who, f"recruiting: {what}"))

    def _refuse_published(self, known: Campaign) -> None:
        status = _read_state(self.api.get_study(known.outside_id), known.status)
        if status != DRAFT:
            raise BadRecruiting(
                f"The study is {status.lower()} on Prolific already ({known.outside_id}), so its draft "
                "cannot be rewritten. More raters: panelist recruit STUDY places N."
            )

    # Its submissions

    def follow(self) -> Followed:
        """Read the state of all submissions, and release the places that are to be released."""
        campaign = self.find_campaign()
        return follow(self.repository, campaign.outside_id, self.api.list_submissions(campaign.outside_id))

    def follow_one(self, submission: str) -> Followed:
        """Read the state of one submission: a message about it may be old."""
        campaign = self.find_campaign()
        return follow(self.repository, campaign.outside_id, [self.api.get_submission(submission)])

    def look(self) -> RecruitingState:
        """Return the current state of recruiting."""
        campaign = self.find_campaign()
        there = self.api.get_study(campaign.outside_id)
        seen = replace(
            campaign,
            status=_read_state(there, campaign.status),
            places=int(there.get("total_available_places") or campaign.places),
            reward=int(there.get("reward") or campaign.reward),
        )
        if seen != campaign:
            self.repository.do(SaveCampaign(seen, self.who))
        followed = self.follow()
        return self._describe(seen, followed.submissions, len(followed.freed))

    def _describe(
        self, campaign: Campaign, submissions: Iterable[prolific.Submission], freed: int
    ) -> RecruitingState:
        ledger = Ledger(self.repository.store)
        ledger.look()
        recruits = [one for one in self.repository.recruits() if one.campaign == campaign.outside_id]
        outcomes = fill_outcomes(self.study, self.secret)
        listed = list(submissions)
        reviewed = review(self.study, outcomes, listed, recruits, ledger.folders, campaign.reward)
        bonus = {one.visit: one.bonus for one in recruits}
        worked = [
            one for one in ledger.folders.values() if one.visit.id in bonus and one.visit.state == "finished"
        ]
        paid = [
            (Decimal(campaign.reward + bonus[one.visit.id]).scaleb(-2), one.tally.seconds) for one in worked
        ]
        visits = [folder.visit for folder in ledger.folders.values()]
        names = self._places()
        held = {visit.place for visit in visits if not visit.freed}
        return RecruitingState(
            campaign=campaign,
            capacity=count_capacity(names, visits, recruits, TAKEN),
            free=sum(place not in held for place in names),
            finished=sum(visit.state == "finished" and visit.valid for visit in visits),
            places=len(names),
            pay=measure_pay(self.study, paid),
            reviewed=tuple(reviewed),
            names={visit.id: name_visit(visit, ledger.study.salt) for visit in visits},
            freed=freed,
            currency=self.study.file.pay.currency if self.study.file.pay else "",
            unfinished=sum(
                one.kind == "bonus" and bool(one.batch) and one.state not in (PAID, REFUSED)
                for one in self.repository.payments()
            ),
        )

    # Settling them

    def approve(self, state: RecruitingState, chosen: Sequence[str] = ()) -> PaymentResult:
        """Approve those who finished, or those chosen; those whom the rules reject only by name."""
        ids = find_chosen(state, chosen, (advice.APPROVE, advice.REJECT, advice.LOOK), advice.APPROVE)
        return self._cashier().approve([one.submission for one in ids], state.campaign.reward)

    def reject(self, state: RecruitingState, chosen: Sequence[str]) -> PaymentResult:
        """Reject those chosen, by the rules that the study declares; nobody else can be rejected."""
        ids = find_chosen(state, chosen, (advice.REJECT,), advice.REJECT)
        settled = self._cashier().reject({one.submission: (one.category, one.message) for one in ids})
        if settled.done:
            self.follow()
        return settled

    def screen_out(self, state: RecruitingState, chosen: Sequence[str] = ()) -> PaymentResult:
        """Screen out, with the pay that the study declares, those whom the pages have screened out."""
        declared = self.study.file.recruiting.screen_out if self.study.file.recruiting else None
        if declared is None:
            raise BadRecruiting(
                "The study declares no pay for people who are screened out. Add screen_out: {reward: …} "
                "under "
                "recruiting:, or ask these people to return the study."
            )
        ids = find_chosen(state, chosen, (advice.SCREEN_OUT,), advice.SCREEN_OUT)
        each = int((declared.reward * 100).to_integral_value(rounding="ROUND_CEILING"))
        return self._cashier().screen_out(state.campaign.outside_id, [one.submission for one in ids], each)

    def pay_bonuses(self, state: RecruitingState, chosen: Sequence[str] = ()) -> PaymentResult:
        """Pay everybody, or those chosen, what is missing to the promised hourly rate; each once."""
        unknown = [one for one in chosen if one not in state.bonuses]
        if unknown:
            raise BadRecruiting(
                f"{', '.join(unknown)}: nothing is missing there, or it is not approved yet. "
                + did_you_mean(unknown[0], state.bonuses)
            )
        amounts = {one: amount for one, amount in state.bonuses.items() if not chosen or one in chosen}
        return self._cashier().pay_bonuses(state.campaign.outside_id, amounts, state.people)

    def _cashier(self) -> Payments:
        return Payments(self.repository, self.api, self.who, self.sleep)

    # What there is

    def find_campaign(self) -> Campaign:
        """Return the study on Prolific, or raise BadRecruiting where there is none yet."""
        found = self.repository.campaign(PANEL, self.group)
        if found is None or not found.outside_id:
            raise BadRecruiting(say_none(self.group))
        return found

    def _plan(self) -> Plan:
        return self.repository.store.plan()

    def _places(self) -> tuple[str, ...]:
        places = self.repository.store.places()
        if not self.group and places.grouped and not any(q.groups for q in self.study.file.background):
            raise BadRecruiting(
                f"The plan has groups ({', '.join(places.names)}), and no background question separates "
                "them. Recruit for each separately: --group NAME."
            )
        if self.group and not places.grouped:
            raise BadRecruiting("The plan has no groups. Leave out --group.")
        if self.group:
            places.check_group(self.group)
        return tuple(places.of_group(self.group or None))

    def _check_places(self, wanted: int | None, known: Campaign | None) -> int:
        """Return how many places to ask for, all that the plan has unless told otherwise."""
        recruits = [
            one
            for one in self.repository.recruits()
            if known is not None and one.campaign == known.outside_id
        ]
        names = self._places()
        most = count_capacity(names, self.repository.visits(), recruits, TAKEN)
        if wanted is not None and wanted < 1:
            raise BadRecruiting(f"Ask for 1 place at least. Got {wanted}.")
        if wanted is not None and wanted > most:
            raise BadRecruiting(
                f"{wanted} raters are more than the plan has places for: it has {len(names)} places, and "
                f"{most} of them are for Prolific. Make it larger first: panelist plan STUDY --raters "
                f"{len(names) + wanted - most}, or Open more places on the dashboard; nobody moves."
            )
        if most < 1:
            raise BadRecruiting(
                "Every place of the plan is taken, so nobody is needed. Make it larger first: panelist "
                f"plan STUDY --raters {len(names) + 1}."
            )
        return most if wanted is None else wanted


def say_none(group: str = "") -> str:
    """Return what to say where there is no study on Prolific."""
    whose = f" for the group {group!r}" if group else ""
    return f"There is no study on Prolific yet{whose}. Make one: panelist recruit STUDY draft --url https://…"


def find_chosen(
    state: RecruitingState, chosen: Sequence[str], allowed: Sequence[str], usual: str
) -> list[Reviewed]:
    """Return the submissions that are meant: those named, or all for which the rules say so."""
    known = {one.submission: one for one in state.reviewed}
    for name in chosen:
        if name not in known:
            raise BadRecruiting(f"There is no submission {name!r} in this study. {did_you_mean(name, known)}")
        if known[name].advice not in allowed:
            raise BadRecruiting(
                f"Submission {name} is {known[name].status.lower()}"
                f"{': ' + known[name].why if known[name].why else ''}. The rules of the study do not allow "
                f"to {usual} it."
            )
    return (
        [known[name] for name in chosen] if chosen else [one for one in state.reviewed if one.advice == usual]
    )


def _read_state(said: dict[str, Any], otherwise: str) -> str:
    return prolific.read_status(said.get("status")) or otherwise
