"""Audits: the first places of a board of measured times are timed again, together, on one GPU, and the board is in the
order of what that gave.

A board's audit is wanted as soon as something new is on it, and due while one of its first places was never audited. A
worker claims it when no submission waits for the device. As with submissions a random token says who may write the
result, but there is no heartbeat: nobody waits for an audit, so a lost one may be taken up late. The caller commits;
functions that return False have written nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, and_, or_, select, update
from sqlalchemy.orm import Session

from judge.judgement import Judgement
from judge.verdict import Verdict
from store.leaderboards import LeaderboardEntry, leaderboard, score_columns
from store.models import Audit, AuditJob, Job, Measurement, State, Submission
from store.upsert import upsert

#: Only these are audited: what is modelled or counted comes out the same every time.
AUDITED_METRIC = "time_s"
#: Places 1 to 3 are audited, and no more than five entries where ties make them more.
PODIUM_RANK = 3
PODIUM_ENTRIES = 5
#: Longer than any audit takes.
LEASE_S = 1800.0


class AuditHeldError(Exception):
    """Another process audits the board now: the message names it."""


@dataclass(frozen=True, slots=True)
class BoardKey:
    """Which board."""

    challenge: str
    device_key: str
    pack_major: int

    @classmethod
    def of(cls, row: Submission | AuditJob) -> BoardKey:
        return cls(row.challenge, row.device_key, row.pack_major)


@dataclass(frozen=True, slots=True)
class AuditLease:
    """The right to write the result of a board's audit."""

    board: BoardKey
    token: str


@dataclass(frozen=True, slots=True)
class Contender:
    """An entry to be timed again."""

    submission_id: int
    username: str
    public_id: str
    source: bytes
    pack_digest: str


def podium(session: Session, board: BoardKey) -> list[LeaderboardEntry]:
    """The entries that an audit times, best first; none on a board of anything but measured times."""
    first = board_entries(session, board, limit=PODIUM_ENTRIES)
    return [entry for entry in first if entry.rank <= PODIUM_RANK and entry.metric == AUDITED_METRIC]


def board_entries(session: Session, board: BoardKey, *, limit: int = 100) -> list[LeaderboardEntry]:
    """The board as it is shown."""
    return leaderboard(
        session,
        challenge=board.challenge,
        device_key=board.device_key,
        pack_major=board.pack_major,
        limit=limit,
    )


def want_audit(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> None:
    """Something new is on a board. Whether that needs an audit is found out when one is claimed: here, a submission
    that is judged at the same instant could not be seen."""
    if judgement.measurement is not None and judgement.measurement.metric == AUDITED_METRIC:
        place = _columns(BoardKey.of(submission))
        values = {**place, "wanted": True, "failures": 0, "available_at": now}
        session.execute(upsert(session, AuditJob, values, list(place), {"wanted", "failures"}))


def claim_audit(
    session: Session, *, device_key: str, owner: str, now: datetime, max_failures: int
) -> AuditLease | None:
    """The audit of a board of this device, if one is due and no submission waits for the device."""
    ahead = [State.QUEUED, State.BUILDING, State.BUILT]
    if session.scalar(select(Job.id).where(Job.device_key == device_key, Job.state.in_(ahead)).limit(1)) is not None:
        return None
    open_jobs = (
        select(AuditJob)
        .where(
            AuditJob.device_key == device_key,
            AuditJob.available_at <= now,
            or_(
                and_(AuditJob.wanted, AuditJob.lease_token.is_(None)),
                AuditJob.lease_until < now,  # its worker was lost
            ),
        )
        .order_by(AuditJob.available_at)
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    while (job := session.scalars(open_jobs).one_or_none()) is not None:
        if job.lease_token is not None:
            job.failures += 1
            job.last_error = f"the worker {job.lease_owner} was lost during the audit"
        entries = podium(session, BoardKey.of(job))
        due = len(entries) > 1 and any(entry.audited_at is None for entry in entries)
        if due and job.failures < max_failures:
            return _lease(session, job, owner=owner, now=now)
        job.wanted, job.lease_token, job.lease_owner, job.lease_until = False, None, None, None
        session.flush()
    return None


def claim_board(session: Session, board: BoardKey, *, owner: str, now: datetime) -> AuditLease:
    """The audit of this very board, due or not, as an operator asks for it. Raises AuditHeldError."""
    values = {**_columns(board), "wanted": False, "failures": 0, "available_at": now}
    session.execute(upsert(session, AuditJob, values, list(_columns(board)), set()))
    job = session.scalars(select(AuditJob).where(_is(board)).with_for_update()).one()
    if job.lease_until is not None and job.lease_until >= now:
        raise AuditHeldError(f"{job.lease_owner} audits this board now")
    return _lease(session, job, owner=owner, now=now)


def contenders(session: Session, board: BoardKey) -> list[Contender]:
    """What is to be timed, with its sources, best first."""
    found = []
    for entry in podium(session, board):
        submission = session.scalars(select(Submission).where(Submission.public_id == entry.submission_public_id)).one()
        found.append(
            Contender(
                submission_id=submission.id,
                username=entry.username,
                public_id=submission.public_id,
                source=submission.source_bytes,
                pack_digest=submission.pack_digest,
            )
        )
    return found


def finish_audit(
    session: Session, lease: AuditLease, results: Mapping[int, Judgement], *, now: datetime, pause_s: float
) -> bool:
    """Write the results, by submission: accepted ones are the scores from now on, others leave the board. The next
    audit, if what is first now asks for one, may begin in ``pause_s``."""
    if not _let_go(session, lease, wanted=True, failures=0, available_at=now + timedelta(seconds=pause_s)):
        return False
    for submission_id, judgement in results.items():
        row = session.get(Measurement, submission_id, with_for_update=True)
        if row is None:
            continue  # its user is gone
        accepted = judgement.verdict is Verdict.ACCEPTED
        measured = judgement.measurement if accepted else None
        if measured is not None:
            for name, value in score_columns(measured).items():
                setattr(row, name, value)
            row.audited_at = now
        else:
            session.delete(row)
        values = {
            "verdict": judgement.verdict.value,
            "message": judgement.message,
            "measurement": None if measured is None else judgement.to_json()["measurement"],
            "contenders": len(results),
            "audited_at": now,
        }
        session.execute(
            upsert(session, Audit, {"submission_id": submission_id, **values}, ["submission_id"], set(values))
        )
    return True


def fail_audit(
    session: Session, lease: AuditLease, error: str, *, now: datetime, pause_s: float, max_failures: int
) -> bool:
    """It came to nothing, through no fault of the contenders. Given up after as many failures as a job is, until the
    board changes."""
    failures = session.scalar(select(AuditJob.failures).where(_is(lease.board))) or 0
    return _let_go(
        session,
        lease,
        wanted=failures + 1 < max_failures,
        failures=failures + 1,
        last_error=error[:4000],
        available_at=now + timedelta(seconds=pause_s),
    )


def hand_back_audit(session: Session, lease: AuditLease) -> bool:
    """Given back because the worker is stopping."""
    return _let_go(session, lease, wanted=True)


def find_audit(session: Session, submission: Submission) -> Audit | None:
    """The latest audit of a submission."""
    return session.get(Audit, submission.id) if submission.verdict == Verdict.ACCEPTED else None


def _lease(session: Session, job: AuditJob, *, owner: str, now: datetime) -> AuditLease:
    job.wanted = False
    job.lease_token, job.lease_owner = secrets.token_hex(16), owner
    job.lease_until = now + timedelta(seconds=LEASE_S)
    session.flush()
    return AuditLease(BoardKey.of(job), job.lease_token)


def _let_go(session: Session, lease: AuditLease, **values: Any) -> bool:
    ended = session.execute(
        update(AuditJob)
        .where(_is(lease.board), AuditJob.lease_token == lease.token)
        .values(lease_token=None, lease_owner=None, lease_until=None, **values)
        .returning(AuditJob.challenge)
        .execution_options(synchronize_session=False)
    )
    return ended.first() is not None


def _columns(board: BoardKey) -> dict[str, Any]:
    return {"challenge": board.challenge, "device_key": board.device_key, "pack_major": board.pack_major}


def _is(board: BoardKey) -> ColumnElement[bool]:
    return and_(
        AuditJob.challenge == board.challenge,
        AuditJob.device_key == board.device_key,
        AuditJob.pack_major == board.pack_major,
    )
