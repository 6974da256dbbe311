"""The operators' actions on users, submissions and devices. Each function records itself in the operators' log.

The caller commits, and then rings where a job waits again.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from judge.recheck import RecheckOutcome
from store.boards.audits import request_audit
from store.boards.best_results import keep_best_result
from store.boards.rechecks import find_recheck
from store.boards.scores import record_measurement
from store.boards.totals import RANKED_MODE, uncount_judgement
from store.models import FINAL_STATES, Audit, Device, EarlierJudgement, Job, Measurement, Role, State, Submission, User
from store.operation.operator_log import Actor, record_action
from store.packs import has_contents
from store.people.links import Purpose, create_link
from store.people.second_factor import turn_off
from store.people.sessions import end_sessions
from store.queue.events import record_event
from store.queue.turns import NewTurn, next_turns
from store.submissions import cancel_submission
from store.teaching.contest_audits import forget_contest_audits, unsettle_contests
from store.teaching.contests import contests_of
from store.teaching.goals import forget_goal

#: The longest reason that is kept.
REASON_CHARACTERS = 300
#: Why a submission is off its board whose user took it off.
WITHDRAWN = "its user took it off, since it is right by luck"


class NotPossibleError(Exception):
    """Raised for what cannot be done to this user or submission; the message is shown to the operator."""


def set_role(session: Session, actor: Actor, user: User, role: Role, *, now: datetime) -> None:
    """Gives a user a role. Raises NotPossibleError if nobody would be left to run the site."""
    if user.role == role:
        return
    if user.role == Role.OPERATOR and other_operators(session, user) == 0:
        raise NotPossibleError(f"{user.username} is the only operator: make another one first")
    before, user.role = user.role, role
    record_action(session, actor, "role", _user(user), now=now, before=before, after=role)


def suspend_user(session: Session, actor: Actor, user: User, reason: str, *, now: datetime) -> None:
    """Suspends an account: its sessions end, and its tokens and password do nothing until it is restored.

    What it sent stays. Raises NotPossibleError.
    """
    if not user.is_active:
        raise NotPossibleError(f"the account of {user.username} is closed")
    if user.id == actor.user_id:
        raise NotPossibleError("you cannot suspend yourself")
    if user.role == Role.OPERATOR and other_operators(session, user) == 0:
        raise NotPossibleError(f"{user.username} is the only operator: make another one first")
    user.suspended_at, user.suspension = now, _reason(reason)
    end_sessions(session, user_id=user.id)
    record_action(session, actor, "suspend", _user(user), now=now, reason=user.suspension)


def restore_user(session: Session, actor: Actor, user: User, *, now: datetime) -> None:
    """Ends a suspension. Does nothing where there is none."""
    if user.suspended_at is not None:
        reason, user.suspended_at, user.suspension = user.suspension, None, None
        record_action(session, actor, "restore", _user(user), now=now, suspended_for=reason)


def make_reset_link(session: Session, actor: Actor, user: User, *, second_factor: bool, now: datetime) -> str:
    """Returns the text of a link by which the user sets a new password; may turn the second factor off, too.

    Raises NotPossibleError if the user may not sign in.
    """
    if not user.may_sign_in:
        raise NotPossibleError(f"the account of {user.username} is {'suspended' if user.is_active else 'closed'}")
    if second_factor:
        turn_off(session, user=user)
    record_action(session, actor, "reset link", _user(user), now=now, second_factor_off=second_factor)
    return create_link(session, Purpose.RESET, user_id=user.id, now=now)


def search_users(session: Session, text: str, *, limit: int = 50) -> Sequence[User]:
    """Returns users by a part of their name or address, case ignored; for an empty text the newest."""
    found = select(User).order_by(User.id.desc()).limit(limit)
    if wanted := text.strip().casefold():
        part = wanted.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
        like = f"%{part}%"
        found = found.where(or_(User.username_key.like(like, escape="\\"), User.email_key.like(like, escape="\\")))
    return session.scalars(found).all()


def take_off_board(session: Session, actor: Actor, submission: Submission, reason: str, *, now: datetime) -> None:
    """Takes a submission off its leaderboard, and keeps it off if it is judged again. Raises NotPossibleError."""
    if submission.off_board is not None:
        raise NotPossibleError("it is off its board already")
    submission.off_board = _reason(reason)
    _remove_measurement(session, submission)
    unsettle_contests(session, contests_of(session, submission))
    record_action(session, actor, "off board", _submission(submission), now=now, reason=submission.off_board)


def withdraw_from_board(session: Session, submission: Submission, *, now: datetime) -> None:
    """Takes a submission that is right by luck off its board for its user, so that a clean one takes its place.

    Raises NotPossibleError if it has no place there, or the emulator found nothing in it.
    """
    check = find_recheck(session, submission)
    if submission.off_board is not None or session.get(Measurement, submission.id) is None:
        raise NotPossibleError("it is not on its board")
    if check is None or check.outcome != RecheckOutcome.FOUND or submission.judgement is None:
        raise NotPossibleError("the emulator found nothing in it for which it could be taken off its board")
    submission.off_board = WITHDRAWN
    _remove_measurement(session, submission)
    unsettle_contests(session, contests_of(session, submission))
    request_audit(session, submission, submission.judgement, now=now)


def put_on_board(session: Session, actor: Actor, submission: Submission, *, now: datetime) -> None:
    """Undoes ``take_off_board``: the judgement's own time counts again. Does nothing where nothing was taken off."""
    if submission.off_board is None:
        return
    reason, submission.off_board = submission.off_board, None
    session.flush()
    if submission.judgement is not None:
        record_measurement(session, submission, submission.judgement, now=submission.finished_at or now)
    unsettle_contests(session, contests_of(session, submission))
    record_action(session, actor, "on board", _submission(submission), now=now, was_off_for=reason)


def rejudge(
    session: Session, actor: Actor, submission: Submission, reason: str, *, now: datetime, same_version: bool = False
) -> None:
    """Queues a judged submission again. Its judgement is kept as an earlier one, and leaves board and totals.

    The present version of the challenge judges it, or with ``same_version`` the one that judged it before. It comes
    after what its user has waiting. Raises NotPossibleError unless it was judged and its source and version are there.
    """
    if submission.state != State.DONE or submission.judgement is None:
        raise NotPossibleError("it is not judged yet")
    if not submission.source_bytes:
        raise NotPossibleError("its source was deleted with the account")
    if same_version and not has_contents(session, submission.challenge, submission.pack_digest):
        raise NotPossibleError(f"version {submission.pack_version} of the challenge was not kept: take the present one")
    assert submission.verdict is not None
    number = session.scalar(
        select(func.count()).select_from(EarlierJudgement).where(EarlierJudgement.submission_id == submission.id)
    )
    session.add(
        EarlierJudgement(
            submission_id=submission.id,
            number=(number or 0) + 1,
            verdict=submission.verdict,
            pack_version=submission.pack_version,
            judgement=submission.judgement,
            finished_at=submission.finished_at or now,
            replaced_at=now,
            reason=_reason(reason),
        )
    )
    uncount_judgement(session, submission)
    forget_goal(session, submission)
    _remove_measurement(session, submission)
    audit = session.get(Audit, submission.id)
    if audit is not None:
        session.delete(audit)
    forget_contest_audits(session, submission)
    before = submission.verdict
    submission.state, submission.verdict, submission.recheck_key = State.QUEUED, None, None
    submission.judgement = submission.finished_at = None
    session.flush()
    _queue_again(session, submission, pack_digest=submission.pack_digest if same_version else None, now=now)
    record_event(session, submission.id, State.QUEUED, {"reason": "judged again"}, now=now, state=State.QUEUED)
    record_action(session, actor, "rejudge", _submission(submission), now=now, reason=_reason(reason), verdict=before)


def rejudge_many(
    session: Session,
    actor: Actor,
    challenge: str,
    reason: str,
    *,
    digest: str,
    version: str | None = None,
    judged_before: datetime | None = None,
    limit: int,
    now: datetime,
) -> tuple[int, bool]:
    """Judges ranked submissions to a challenge again: the ``limit`` newest. Those whose source was deleted stay.

    These are what another digest than ``digest``, the present version's, judged; with ``judged_before`` all that were
    judged before then. ``version`` takes only what that version judged. Returns how many they are, and whether there
    are more: the same call again takes the next.
    """
    which = Submission.pack_digest != digest if judged_before is None else Submission.finished_at < judged_before
    chosen = (
        select(Submission)
        .where(
            Submission.challenge == challenge,
            Submission.mode == RANKED_MODE,
            Submission.state == State.DONE,
            which,
            func.length(Submission.source_bytes) > 0,
        )
        .order_by(Submission.id.desc())
        .limit(limit + 1)
    )
    if version is not None:
        chosen = chosen.where(Submission.pack_version == version)
    found = session.scalars(chosen).all()
    for submission in found[:limit]:
        rejudge(session, actor, submission, reason, now=now)
    return len(found[:limit]), len(found) > limit


def earlier_judgements(session: Session, submission: Submission) -> Sequence[EarlierJudgement]:
    """Returns the judgements that rejudging replaced, the latest first."""
    own = select(EarlierJudgement).where(EarlierJudgement.submission_id == submission.id)
    return session.scalars(own.order_by(EarlierJudgement.number.desc())).all()


def cancel_for_operator(session: Session, actor: Actor, submission: Submission, *, now: datetime) -> bool:
    """Cancels a submission that is not judged yet. Returns False if it has ended."""
    cancelled = submission.state not in FINAL_STATES and cancel_submission(session, submission, now=now)
    if cancelled:
        record_action(session, actor, "cancel", _submission(submission), now=now)
    return cancelled


def hold_device(session: Session, actor: Actor, device: Device, reason: str, *, now: datetime) -> None:
    """Lets a device finish what runs and take nothing new. New submissions to it wait. Raises NotPossibleError."""
    if device.held is not None:
        raise NotPossibleError(f"{device.key} is held already: {device.held}")
    device.held = _reason(reason)
    record_action(session, actor, "hold", f"device {device.key}", now=now, reason=device.held)


def release_device(session: Session, actor: Actor, device: Device, *, now: datetime) -> None:
    """Undoes ``hold_device``: workers take what waits when they next look. Does nothing for one that is not held."""
    if device.held is not None:
        reason, device.held = device.held, None
        record_action(session, actor, "release", f"device {device.key}", now=now, held_for=reason)


def _queue_again(session: Session, submission: Submission, *, pack_digest: str | None, now: datetime) -> None:
    is_run = submission.mode == "run"
    (turn,) = next_turns(session, [NewTurn(submission.user_id, submission.device_key, is_run)])
    job = session.scalar(select(Job).where(Job.submission_id == submission.id))
    if job is None:  # its history was deleted
        job = Job(submission_id=submission.id, user_id=submission.user_id, device_key=submission.device_key)
        session.add(job)
    job.is_run, job.turn, job.state = is_run, turn, State.QUEUED
    job.failures = job.losses = 0
    job.pack_digest = pack_digest
    job.cancel_requested, job.last_error = False, None
    job.available_at = job.rung_at = now
    session.flush()


def _remove_measurement(session: Session, submission: Submission) -> None:
    row = session.get(Measurement, submission.id, with_for_update=True)
    if row is not None:
        session.delete(row)
        session.flush()
        keep_best_result(session, row)


def other_operators(session: Session, user: User) -> int:
    """Returns how many operators there are beside a user who may sign in."""
    others = (User.role == Role.OPERATOR, User.id != user.id, User.is_active, User.suspended_at.is_(None))
    return session.scalar(select(func.count()).select_from(User).where(*others)) or 0


def _reason(text: str) -> str:
    return " ".join(text.split())[:REASON_CHARACTERS]


def _user(user: User) -> str:
    return f"user {user.username}"


def _submission(submission: Submission) -> str:
    return f"submission {submission.public_id}"
