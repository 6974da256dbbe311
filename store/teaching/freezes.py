"""Hides submissions sent while the standings of a contest are frozen, until the standings are revealed.

A submission is frozen if it counts in a contest whose standings were frozen when it arrived, and are not revealed. Then
its user alone sees it, with who manages the contest, operators, and the teachers whose assignment it is for. It has no
place on boards and no part in totals, profiles, rankings, feeds, solutions or messages. ``Submission.frozen`` says so.
Invariant: at every commit it says what ``_entries`` finds. So whoever changes a contest, or who takes part, calls
``renew_frozen`` before the commit. The caller commits.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from sqlalchemy import Select, select
from sqlalchemy.orm import Session

from store.boards.audits import request_audit
from store.boards.best_results import keep_best_result, leave_board
from store.boards.totals import RANKED_MODE, hide_judgement, show_judgement
from store.models import Contest, ContestChallenge, ContestMember, Measurement, Submission
from store.operation.webhooks import record_accepted
from store.teaching.contests import contests_of, counting


def is_frozen_entry(session: Session, submission: Submission) -> bool:
    """Returns whether a submission is to be frozen. Until the commit, no contest that it counts in changes."""
    return any(
        contest.frozen_at is not None and contest.frozen_at <= submission.created_at and not contest.revealed
        for contest in contests_of(session, submission, keep=True)
    )


def frozen_places(
    session: Session, users: Collection[int], challenges: Collection[str], *, now: datetime
) -> frozenset[tuple[int, str, str]]:
    """Returns the users, challenges and devices among these for which what arrives now is frozen."""
    found = session.execute(
        select(ContestMember.user_id, ContestChallenge.challenge, Contest.devices)
        .join(Contest, Contest.id == ContestMember.contest_id)
        .join(ContestChallenge, ContestChallenge.contest_id == Contest.id)
        .where(Contest.ends_at > now, Contest.frozen_at <= now, Contest.revealed.is_(False))
        .where(ContestMember.user_id.in_(users), ContestChallenge.challenge.in_(challenges))
    )
    return frozenset((row.user_id, row.challenge, device) for row in found for device in row.devices.split())


def lock_freezes(session: Session) -> None:
    """Lets no other transaction change or read what is frozen until the commit. Call it before contests change."""
    session.scalars(_freezing().with_for_update(key_share=True)).all()


def renew_frozen(session: Session, *, now: datetime) -> None:
    """Freezes and reveals submissions so that exactly those are frozen which the contests say.

    What is revealed is told to the contests' webhooks, and enters its board.
    """
    session.flush()
    lock_freezes(session)
    wanted: set[int] = set()
    for contest in session.scalars(_freezing().execution_options(populate_existing=True)).all():
        wanted.update(session.scalars(_entries(contest)))
    frozen = set(session.scalars(select(Submission.id).where(Submission.frozen.is_(True))))
    for number in sorted(wanted - frozen):
        _set_frozen(session, session.get_one(Submission, number), frozen=True)
    for number in sorted(frozen - wanted):
        submission = session.get_one(Submission, number)
        is_on_board = _set_frozen(session, submission, frozen=False)
        if submission.judgement is not None:
            if is_on_board:
                request_audit(session, submission, submission.judgement, now=now)
            record_accepted(session, submission, submission.judgement, now=now)


def show_frozen_of(session: Session, *, user_id: int) -> None:
    """Takes the marks from a user's submissions, until ``renew_frozen`` in the same transaction."""
    lock_freezes(session)
    own = select(Submission).where(Submission.user_id == user_id, Submission.frozen.is_(True)).order_by(Submission.id)
    for submission in session.scalars(own).all():
        _set_frozen(session, submission, frozen=False)


def _freezing() -> Select[Contest]:
    """Returns the contests that freeze anything, in the order in which they are locked."""
    return select(Contest).where(Contest.frozen_at.is_not(None), Contest.revealed.is_(False)).order_by(Contest.id)


def _entries(contest: Contest) -> Select[int]:
    """Returns the submissions that the contest freezes."""
    return (
        select(Submission.id)
        .join(ContestMember, ContestMember.user_id == Submission.user_id)
        .where(ContestMember.contest_id == contest.id, Submission.mode == RANKED_MODE, *counting(contest))
        .where(Submission.created_at >= contest.frozen_at)
    )


def _set_frozen(session: Session, submission: Submission, *, frozen: bool) -> bool:
    """Marks a submission, or takes the mark away. Returns whether it takes part in its board now."""
    if frozen:
        hide_judgement(session, submission)
    submission.frozen = frozen
    session.flush()
    if not frozen:
        show_judgement(session, submission)
    measurement = session.get(Measurement, submission.id)
    if measurement is None:
        return False
    measurement.frozen = frozen
    if frozen:
        leave_board(session, measurement)
    else:
        session.flush()
        keep_best_result(session, measurement)
    return not measurement.frozen and not measurement.after_giving_up
