"""Counts judgements per challenge and per user, in the transaction that records them; reads the counts.

Everybody sees the totals of a challenge, so submissions that are frozen (``store.teaching.freezes``) have no part in
them. In what a user sees of their own progress they have.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from judge.verdict import Verdict
from store.models import ChallengeTotals, Submission, UserProgress, VerdictTotals
from store.upsert import upsert

#: Only submissions in this mode are counted and ranked: a run of the public cases measures nothing.
RANKED_MODE = "submit"


def count_judgement(session: Session, submission: Submission, *, now: datetime) -> None:
    """Counts a submission that has just got its verdict. Call it once for each, in the same transaction.

    Locks rows in the order user, challenge, verdict, so that two judgements never wait for each other.
    """
    key = {"user_id": submission.user_id, "challenge": submission.challenge}
    session.execute(
        upsert(session, UserProgress, {**key, "judged": 0, "accepted": 0, "solved_at": None}, list(key), set())
    )
    if submission.mode == RANKED_MODE:
        _count_for_challenge(session, submission, key, now=now)
    assert submission.verdict is not None
    zero = {"verdict": submission.verdict, "judged": 0}
    session.execute(upsert(session, VerdictTotals, zero, ["verdict"], set()))
    session.execute(
        update(VerdictTotals)
        .filter_by(verdict=submission.verdict)
        .values(judged=VerdictTotals.judged + 1)
        .execution_options(synchronize_session=False)
    )


def uncount_judgement(session: Session, submission: Submission) -> None:
    """Takes a judged submission out of the totals, because it will be judged again. Call it before its verdict goes.

    Locks rows in the order of ``count_judgement``.
    """
    if submission.mode == RANKED_MODE:
        accepted = int(submission.verdict == Verdict.ACCEPTED)
        key = {"user_id": submission.user_id, "challenge": submission.challenge}
        hide_judgement(session, submission)
        first_solved = (
            select(func.min(Submission.finished_at))
            .filter_by(**key, mode=RANKED_MODE, verdict=Verdict.ACCEPTED)
            .where(Submission.id != submission.id)
            .scalar_subquery()
        )
        progress = session.scalars(select(UserProgress).filter_by(**key).with_for_update()).one()
        progress.judged -= 1
        progress.accepted -= accepted
        if accepted:
            progress.solved_at = session.scalar(select(first_solved))
        session.flush()
    session.execute(
        update(VerdictTotals)
        .filter_by(verdict=submission.verdict)
        .values(judged=VerdictTotals.judged - 1)
        .execution_options(synchronize_session=False)
    )


def show_judgement(session: Session, submission: Submission) -> None:
    """Adds a submission to the totals of its challenge, if it is judged, counts there and is not frozen."""
    _add_to_challenge(session, submission, 1)


def hide_judgement(session: Session, submission: Submission) -> None:
    """Takes out of the totals what ``show_judgement`` added. Call it before the submission changes."""
    _add_to_challenge(session, submission, -1)


def verdict_totals(session: Session) -> dict[str, int]:
    """Returns how many submissions were judged, by verdict."""
    return {row.verdict: row.judged for row in session.scalars(select(VerdictTotals)) if row.judged}


def _count_for_challenge(session: Session, submission: Submission, key: dict[str, Any], *, now: datetime) -> None:
    accepted = int(submission.verdict == Verdict.ACCEPTED)
    session.execute(
        update(UserProgress)
        .filter_by(**key)
        .values(judged=UserProgress.judged + 1, accepted=UserProgress.accepted + accepted)
        .execution_options(synchronize_session=False)
    )
    if accepted:
        first = update(UserProgress).filter_by(**key, solved_at=None).values(solved_at=now)
        session.execute(first.execution_options(synchronize_session=False))
    show_judgement(session, submission)


def _add_to_challenge(session: Session, submission: Submission, change: int) -> None:
    if submission.frozen or submission.verdict is None or submission.mode != RANKED_MODE:
        return
    key = {"user_id": submission.user_id, "challenge": submission.challenge}
    # Of two judgements of one user at once, each sees the other, or comes before it.
    session.execute(select(UserProgress.judged).filter_by(**key).with_for_update())
    accepted = int(submission.verdict == Verdict.ACCEPTED)
    zero = {"challenge": submission.challenge, "judged": 0, "accepted": 0, "solvers": 0}
    session.execute(upsert(session, ChallengeTotals, zero, ["challenge"], set()))
    session.execute(
        update(ChallengeTotals)
        .filter_by(challenge=submission.challenge)
        .values(
            judged=ChallengeTotals.judged + change,
            accepted=ChallengeTotals.accepted + change * accepted,
            solvers=ChallengeTotals.solvers + change * int(accepted and not _has_another(session, submission)),
        )
        .execution_options(synchronize_session=False)
    )


def _has_another(session: Session, submission: Submission) -> bool:
    """Returns whether the user has another accepted submission for the challenge that everybody sees."""
    another = select(Submission.id).filter_by(
        user_id=submission.user_id,
        challenge=submission.challenge,
        mode=RANKED_MODE,
        verdict=Verdict.ACCEPTED,
        frozen=False,
    )
    return session.scalar(another.where(Submission.id != submission.id).limit(1)) is not None


def challenge_totals(session: Session) -> dict[str, ChallengeTotals]:
    """Returns the totals of each challenge that has any."""
    return {totals.challenge: totals for totals in session.scalars(select(ChallengeTotals))}


def solved_challenges(session: Session, *, user_id: int) -> frozenset[str]:
    """Returns the challenges that the user has solved. Runs of only the public cases do not count."""
    solved = select(UserProgress.challenge).where(UserProgress.user_id == user_id, UserProgress.solved_at.is_not(None))
    return frozenset(session.scalars(solved))


def seen_as_solved(session: Session, *, user_id: int) -> frozenset[str]:
    """Returns those of ``solved_challenges`` of which everybody may know: without those by frozen submissions only."""
    solved = select(Submission.challenge).where(Submission.user_id == user_id, Submission.verdict == Verdict.ACCEPTED)
    doubtful = frozenset(session.scalars(solved.where(Submission.frozen.is_(True)).distinct()))
    others = solved.where(Submission.frozen.is_(False), Submission.mode == RANKED_MODE)
    known = session.scalars(others.where(Submission.challenge.in_(doubtful)).distinct()) if doubtful else ()
    return solved_challenges(session, user_id=user_id) - (doubtful - frozenset(known))


def tried_challenges(session: Session, *, user_id: int) -> frozenset[str]:
    """Returns the challenges for which the user has had anything judged, runs of the public cases included."""
    return frozenset(session.scalars(select(UserProgress.challenge).where(UserProgress.user_id == user_id)))
