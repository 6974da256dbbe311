"""Merges an account into another of the same person, for an operator. It cannot be undone.

What a user did and made goes over: submissions with their places on boards, solved challenges and those given up,
solutions and likes, drafts, memberships and results of classes and contests, what the user teaches, and accounts
elsewhere that sign in. What opens the account that
ends (password, address, tokens, sessions, second factor) goes, and the account is closed. The operators' log keeps who
did what. The caller commits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, insert, select, update
from sqlalchemy.orm import Session, undefer

from store.boards.best_results import keep_best_result, leave_board
from store.boards.board_key import BOARD_COLUMNS
from store.drafts import MOST_VERSIONS
from store.models import (
    FINAL_STATES,
    Base,
    BestResult,
    ChallengeTotals,
    Class,
    ClassMember,
    ClassStaff,
    Contest,
    ContestMember,
    Draft,
    Extension,
    GivenUp,
    Identity,
    Job,
    LineComment,
    LtiScore,
    Measurement,
    ReachedGoal,
    Role,
    RosterEntry,
    SolutionLike,
    StaffRole,
    Submission,
    User,
    UserProgress,
)
from store.operation.administration import NotPossibleError, other_operators
from store.operation.operator_log import Actor, record_action
from store.people.personal_data import close_account
from store.teaching.contest_audits import unsettle_contests
from store.teaching.freezes import renew_frozen, show_frozen_of

#: Tables whose rows go over as they are; no row of the other account is in the way.
_MOVED: tuple[tuple[type[Base], str], ...] = (
    (Submission, "user_id"),
    (Job, "user_id"),
    (ReachedGoal, "user_id"),
    (Identity, "user_id"),
    (RosterEntry, "user_id"),
    (LineComment, "author_id"),
    (LineComment, "unread_by"),
    (Class, "owner_id"),
    (Contest, "owner_id"),
)


@dataclass(frozen=True, slots=True)
class MergeSummary:
    """The counts of rows that go over with an account."""

    submissions: int
    boards: int
    drafts: int
    classes: int
    contests: int

    def __str__(self) -> str:
        parts = {
            "submission": self.submissions,
            "place on boards": self.boards,
            "draft": self.drafts,
            "class membership": self.classes,
            "contest membership": self.contests,
        }
        plural = {"place on boards": "places on boards", "class membership": "class memberships"}
        return ", ".join(
            f"{count} {name if count == 1 else plural.get(name, name + 's')}" for name, count in parts.items()
        )


def merge_summary(session: Session, user: User) -> MergeSummary:
    """Returns the counts of rows that would go over with an account."""

    def count(table: type[Base]) -> int:
        return session.scalar(select(func.count()).select_from(table).filter_by(user_id=user.id)) or 0

    drafts = session.scalar(select(func.count(Draft.challenge.distinct())).where(Draft.user_id == user.id)) or 0
    return MergeSummary(count(Submission), count(BestResult), drafts, count(ClassMember), count(ContestMember))


def merge_user(session: Session, actor: Actor, user: User, into: User, *, now: datetime) -> MergeSummary:
    """Merges an account into another one and closes it. Cannot be undone. Raises NotPossibleError."""
    if user.id == into.id:
        raise NotPossibleError("an account cannot be merged into itself")
    for one in (user, into):
        if not one.is_active:
            raise NotPossibleError(f"the account of {one.username} is closed")
    if user.id == actor.user_id:
        raise NotPossibleError("you cannot merge your own account into another one: it would be closed")
    if user.role == Role.OPERATOR and other_operators(session, user) == 0:
        raise NotPossibleError(f"{user.username} is the only operator: make another one first")
    unfinished = select(Job.id).where(Job.user_id == user.id, Job.state.not_in(FINAL_STATES)).limit(1)
    if session.scalar(unfinished) is not None:
        raise NotPossibleError(f"{user.username} has submissions that wait or run: wait for them, or cancel them")
    summary, name = merge_summary(session, user), user.username
    in_contests = session.scalars(
        select(Contest).join(ContestMember, ContestMember.contest_id == Contest.id).filter_by(user_id=user.id)
    ).all()
    for one in (user, into):
        show_frozen_of(session, user_id=one.id)
    # A key that both used names two submissions.
    session.execute(update(Submission).where(Submission.user_id == user.id).values(idempotency_key=None))
    for table, column in _MOVED:
        session.execute(update(table).filter_by(**{column: user.id}).values(**{column: into.id}))
    _move_boards(session, user.id, into.id)
    _add_progress(session, user.id, into.id)
    _move_giving_up(session, user.id, into.id)
    _keep_latest_solutions(session, into.id)
    _move_likes(session, user.id, into.id)
    _move_drafts(session, user.id, into.id)
    _move_memberships(session, user.id, into.id)
    session.flush()
    renew_frozen(session, now=now)
    session.expire_all()
    close_account(session, user=user, now=now)
    unsettle_contests(session, in_contests)
    record_action(session, actor, "merge", f"user {into.username}", now=now, merged=name, went_over=str(summary))
    return summary


def _move_boards(session: Session, old: int, new: int) -> None:
    columns = [getattr(Measurement, name) for name in BOARD_COLUMNS]
    boards = session.execute(select(*columns).where(Measurement.user_id == old).distinct().order_by(*columns)).all()
    for board in boards:
        own = dict(zip(BOARD_COLUMNS, board, strict=True))
        moved = session.scalars(select(Measurement).filter_by(**own, user_id=old)).all()
        # Stands for those that left, for the totals to be counted without this user.
        left = Measurement(**own, user_id=old, submission_id=moved[0].submission_id, value=moved[0].value)
        for measurement in moved:
            measurement.user_id = new
        session.flush()
        keep_best_result(session, moved[0])
        keep_best_result(session, left)


def _add_progress(session: Session, old: int, new: int) -> None:
    for row in session.scalars(select(UserProgress).where(UserProgress.user_id == old)).all():
        known = session.get(UserProgress, (new, row.challenge))
        if known is None:
            row.user_id = new
            continue
        known.judged += row.judged
        known.accepted += row.accepted
        if row.solved_at is not None and known.solved_at is not None:
            known.solved_at = min(row.solved_at, known.solved_at)
            totals = update(ChallengeTotals).filter_by(challenge=row.challenge)
            session.execute(totals.values(solvers=ChallengeTotals.solvers - 1))
        known.solved_at = known.solved_at or row.solved_at
        session.delete(row)
    session.flush()


def _move_giving_up(session: Session, old: int, new: int) -> None:
    """Gives up for the person what one account gave up and nobody solved before; marks later submissions."""
    for row in session.scalars(select(GivenUp).where(GivenUp.user_id == old)).all():
        known = session.get(GivenUp, (new, row.challenge))
        if known is None:
            row.user_id = new
        else:
            known.given_up_at = min(known.given_up_at, row.given_up_at)
            session.delete(row)
    session.flush()
    for row in session.scalars(select(GivenUp).where(GivenUp.user_id == new)).all():
        progress = session.get(UserProgress, (new, row.challenge))
        if progress is not None and progress.solved_at is not None and progress.solved_at < row.given_up_at:
            session.delete(row)
        else:
            _mark_later_submissions(session, row)
    session.flush()


def _mark_later_submissions(session: Session, row: GivenUp) -> None:
    unmarked = select(Submission).where(
        Submission.user_id == row.user_id,
        Submission.challenge == row.challenge,
        Submission.created_at >= row.given_up_at,
        Submission.after_giving_up.is_(False),
    )
    for submission in session.scalars(unmarked).all():
        submission.after_giving_up = True
        measurement = session.get(Measurement, submission.id)
        if measurement is not None:
            measurement.after_giving_up = True
            leave_board(session, measurement)


def _keep_latest_solutions(session: Session, user_id: int) -> None:
    """Of several solutions for a challenge and a device, the one published last stays."""
    published = select(Submission).where(Submission.user_id == user_id, Submission.published_at.is_not(None))
    seen: set[tuple[str, str]] = set()
    for submission in session.scalars(published.order_by(Submission.published_at.desc(), Submission.id.desc())).all():
        board = (submission.challenge, submission.device_key)
        if board in seen:
            submission.published_at = None
        seen.add(board)


def _move_likes(session: Session, old: int, new: int) -> None:
    """Nobody likes a solution twice, or one of their own."""
    liked = select(SolutionLike.submission_id).where(SolutionLike.user_id == new)
    own = select(Submission.id).where(Submission.user_id == new)
    of_old = SolutionLike.user_id == old
    session.execute(delete(SolutionLike).where(of_old, SolutionLike.submission_id.in_(liked)))
    session.execute(update(SolutionLike).where(of_old).values(user_id=new))
    session.execute(delete(SolutionLike).where(SolutionLike.user_id == new, SolutionLike.submission_id.in_(own)))


def _move_drafts(session: Session, old: int, new: int) -> None:
    """Puts the versions of both into the order in which they were saved: the latest is the draft."""
    for challenge in session.scalars(select(Draft.challenge).where(Draft.user_id == old).distinct()).all():
        both = select(Draft).where(Draft.challenge == challenge, Draft.user_id.in_([old, new]))
        found = session.scalars(both.options(undefer(Draft.source_bytes)).order_by(Draft.saved_at)).all()
        # Higher than all before, so that a page which has an older version open is told of it.
        first = max(draft.version for draft in found) + 1
        rows = [
            {
                "user_id": new,
                "challenge": challenge,
                "version": first + number,
                "source_bytes": draft.source_bytes,
                "begun_at": draft.begun_at,
                "saved_at": draft.saved_at,
            }
            for number, draft in enumerate(found[-MOST_VERSIONS:])
        ]
        for draft in found:
            session.expunge(draft)
        session.execute(delete(Draft).where(Draft.challenge == challenge, Draft.user_id.in_([old, new])))
        session.execute(insert(Draft), rows)


def _move_memberships(session: Session, old: int, new: int) -> None:
    """Where both are members, the account that stays keeps its name or team, and the later deadline counts."""
    for table, key in ((ClassMember, "class_id"), (ContestMember, "contest_id")):
        column = getattr(table, key)
        both: Sequence[int] = session.scalars(select(column).filter_by(user_id=new)).all()
        session.execute(delete(table).where(table.user_id == old, column.in_(both)))
        session.execute(update(table).where(table.user_id == old).values(user_id=new))
    _move_staff(session, old, new)
    # Points are sent again for whoever has them now.
    session.execute(delete(LtiScore).where(LtiScore.user_id.in_([old, new])))
    for row in session.scalars(select(Extension).where(Extension.user_id == old)).all():
        known = session.get(Extension, (row.assignment_id, new))
        if known is None:
            row.user_id = new
        else:
            known.due_at = max(known.due_at, row.due_at)
            session.delete(row)


def _move_staff(session: Session, old: int, new: int) -> None:
    """Where both teach a class, the higher role counts; of two assistants' sections that of the account that stays."""
    for row in session.scalars(select(ClassStaff).where(ClassStaff.user_id == old)).all():
        known = session.get(ClassStaff, (row.class_id, new))
        if known is None:
            row.user_id = new
            continue
        if StaffRole.TEACHER in (row.role, known.role):
            known.role, known.section = StaffRole.TEACHER, ""
        session.delete(row)
    session.flush()
