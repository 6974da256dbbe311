"""Stores which submissions reached the goal of their challenge's track, in the transaction that records a judgement."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from judge.judgement import Judgement
from judge.tracks.goal import check_goal
from judge.tracks.loader import builtin_tracks
from store.boards.totals import RANKED_MODE
from store.models import ReachedGoal, Submission


def record_goal(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> None:
    """Records that a judged submission reached its challenge's goal, if there is one and it did."""
    goal = builtin_tracks().goal_of(submission.challenge) if submission.mode == RANKED_MODE else None
    result = None if goal is None else check_goal(goal, judgement)
    if result is None or not result.reached:
        return
    session.add(
        ReachedGoal(
            submission_id=submission.id,
            user_id=submission.user_id,
            challenge=submission.challenge,
            goal=result.goal.key,
            reached_at=now,
        )
    )
    session.flush()


def forget_goal(session: Session, submission: Submission) -> None:
    """Takes back what ``record_goal`` recorded, because the submission will be judged again."""
    session.execute(delete(ReachedGoal).where(ReachedGoal.submission_id == submission.id))


def reached_goals(session: Session, *, user_id: int, frozen: bool = True) -> frozenset[str]:
    """Returns the challenges whose present goal any submission of the user reached; frozen ones count if ``frozen``."""
    goals = {step.challenge: step.goal.key for track in builtin_tracks().tracks for step in track.steps}
    found = select(ReachedGoal.challenge, ReachedGoal.goal).where(ReachedGoal.user_id == user_id).distinct()
    if not frozen:
        own = select(Submission.id).where(Submission.user_id == user_id, Submission.frozen.is_(True))
        found = found.where(ReachedGoal.submission_id.not_in(own))
    return frozenset(challenge for challenge, goal in session.execute(found) if goals.get(challenge) == goal)
