"""Which sources and solutions contests open and close.

A running contest closes its challenges' solutions to those who take part, and to everybody if it says so. A contest
that has ended may open the sources of its counted submissions to those who took part. Whoever holds a contest reads
what counts in it, at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import Select, func, select
from sqlalchemy.orm import Session, defer

from store.boards.totals import RANKED_MODE
from store.models import Contest, ContestChallenge, ContestMember, Submission, User
from store.teaching import classes
from store.teaching.contests import contests_of, counting, is_member


def own_contest_until(session: Session, challenge: str, *, user_id: int, now: datetime) -> datetime | None:
    """Returns when the last running contest with this challenge in which the user takes part ends, or None."""
    mine = _running(challenge, now).join(ContestMember, ContestMember.contest_id == Contest.id)
    until: datetime | None = session.scalar(mine.where(ContestMember.user_id == user_id))
    return until


def solutions_closed_until(session: Session, challenge: str, *, now: datetime) -> datetime | None:
    """Returns when the last running contest that closes this challenge's solutions ends, or None."""
    until: datetime | None = session.scalar(_running(challenge, now).where(Contest.closes_solutions))
    return until


def _running(challenge: str, now: datetime) -> Select[Any]:
    """Selects the end of the last running contest with this challenge."""
    return (
        select(func.max(Contest.ends_at))
        .select_from(Contest)
        .join(ContestChallenge, ContestChallenge.contest_id == Contest.id)
        .where(ContestChallenge.challenge == challenge, Contest.starts_at <= now, Contest.ends_at > now)
    )


def is_opened_to(session: Session, submission: Submission, *, user_id: int, now: datetime) -> bool:
    """Returns whether a contest that has ended opens the submission's source to the user, who took part, too.

    What is frozen is opened when it is revealed. While another contest or an assignment closes the solutions of its
    challenge, this one opens none.
    """
    return (
        not submission.frozen
        and not _keeps_closed(session, submission.challenge, now)
        and any(
            contest.opens_sources and contest.ends_at <= now and is_member(session, contest, user_id=user_id)
            for contest in contests_of(session, submission)
        )
    )


def is_held_by(session: Session, submission: Submission, *, user_id: int) -> bool:
    """Returns whether the submission counts in a contest that the user holds."""
    return any(contest.owner_id == user_id for contest in contests_of(session, submission))


def counted_submissions(
    session: Session,
    contest: Contest,
    *,
    username: str | None = None,
    challenge: str | None = None,
    verdict: str | None = None,
    before: str | None = None,
    limit: int,
) -> Sequence[Submission]:
    """Returns the members' submissions that count and fit what is given, the newest first, without judgements.

    ``before`` is the public id of the previous page's last submission.
    """
    found = (
        select(Submission)
        .join(ContestMember, ContestMember.user_id == Submission.user_id)
        .join(User, User.id == Submission.user_id)
        .where(ContestMember.contest_id == contest.id, *counting(contest), Submission.mode == RANKED_MODE)
        .options(defer(Submission.judgement))
        .order_by(Submission.id.desc())
        .limit(limit)
    )
    if username is not None:
        found = found.where(User.username_key == username.casefold())
    for column, value in ((Submission.challenge, challenge), (Submission.verdict, verdict)):
        if value is not None:
            found = found.where(column == value)
    if before is not None:
        last = select(Submission.id).where(Submission.public_id == before).scalar_subquery()
        found = found.where(Submission.id < last)
    return session.scalars(found).all()


def opened_challenges(session: Session, contest: Contest, *, user_id: int, now: datetime) -> frozenset[str]:
    """Returns the challenges for which an ended contest opens its counted sources to a user: see ``is_opened_to``."""
    if not contest.opens_sources or contest.ends_at > now or not is_member(session, contest, user_id=user_id):
        return frozenset()
    return frozenset(slug for slug in contest.slugs if not _keeps_closed(session, slug, now))


def _keeps_closed(session: Session, challenge: str, now: datetime) -> bool:
    """Returns whether a contest or an assignment closes the solutions of a challenge at present."""
    until = solutions_closed_until(session, challenge, now=now) or classes.solutions_closed_until(
        session, challenge, now=now
    )
    return until is not None
