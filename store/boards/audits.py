"""Stores audits, which time the top entries of a board again, together on one GPU.

The audit's times replace those on the board. An entry whose kernels were also replayed without its host code, within
tolerance, counts as audited. An entry whose kernels could not be replayed keeps its time and its rank, but is not
marked as audited; the reason is stored (docs/decisions/0008-audited-means-replayed.md).

A new entry requests an audit of its board. The audit is due while a top entry has never been audited. A worker claims
it when no submission waits for the device. As with submissions, a random lease token decides who may write the result.
Cards of one model differ, so one card makes all audits of a board (``AuditJob.card``) until it is away, and one is due,
too, while a top entry was timed on another card.
The same is done for the results that decide a contest (``store.teaching.contest_audits``).
There is no heartbeat: no user waits for an audit, so a lost one may be retried late. The caller commits; functions that
return False have written nothing.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import and_, func, or_, select, update
from sqlalchemy.orm import Session

from judge.judgement import Judgement
from judge.measurements import NOT_REPLAYED
from judge.measurements import Measurement as JudgedMeasurement
from judge.verdict import Verdict
from store.boards.best_results import keep_best_result
from store.boards.board_key import BoardKey
from store.boards.cards import TimedOnCard, is_away, record_card_times
from store.boards.leaderboards import LeaderboardEntry, leaderboard
from store.boards.scores import score_columns
from store.clock import utc_now
from store.devices import is_held
from store.models import Audit, AuditJob, Contest, Job, Measurement, State, Submission
from store.teaching.contest_audits import Decider, due_deciders, record_contest_audit
from store.upsert import upsert

#: Only measured times are audited; modelled times and counts are the same every time.
AUDITED_METRIC = "time_s"
#: Places 1 to 3 are audited, and no more than five entries where ties make them more.
PODIUM_RANK = 3
PODIUM_ENTRIES = 5
#: The most entries that share the first places because their cards differ.
_CANDIDATES = 50
#: Longer than any audit takes, in seconds.
LEASE_S = 1800.0
_REASON_CHARACTERS = 120


class AuditHeldError(Exception):
    """Raised when another process is auditing the board; the message names the process."""


@dataclass(frozen=True, slots=True)
class AuditedBoard(BoardKey):
    """Identifies the board that an audit times, or with ``contest_id`` those of its results that decide a contest."""

    contest_id: int = 0

    @classmethod
    def of_job(cls, job: AuditJob) -> AuditedBoard:
        """Returns the board that a job is to time."""
        return cls(job.challenge, job.device_key, job.pack_major, contest_id=job.contest_id)

    @property
    def columns(self) -> dict[str, Any]:
        """Returns the columns of the audit's job."""
        return {**BoardKey.of(self).columns, "contest_id": self.contest_id}


@dataclass(frozen=True, slots=True)
class AuditLease:
    """The right to write the result of a board's audit."""

    board: AuditedBoard
    token: str


@dataclass(frozen=True, slots=True)
class Contender:
    """An entry that an audit times again."""

    submission_id: int
    username: str
    public_id: str
    source: bytes
    pack_digest: str
    language: str


def podium(session: Session, board: BoardKey) -> list[LeaderboardEntry]:
    """Returns the entries that an audit times, best first. Empty unless the board has measured times.

    They are the first ones; once these are audited on one card, the best and those that may belong to them but were
    timed on another card. Entries whose account is closed have no source to time.
    """
    first = board_entries(session, board, limit=_CANDIDATES)
    candidates = [entry for entry in first if entry.rank <= PODIUM_RANK and entry.metric == AUDITED_METRIC]
    entries, card = candidates[:PODIUM_ENTRIES], _audit_card(session, board)
    elsewhere = [entry for entry in candidates[PODIUM_ENTRIES:] if not _is_on(card, entry)]
    if elsewhere and all(_is_settled(entry, card) for entry in entries):
        entries = [entries[0], *elsewhere][:PODIUM_ENTRIES]
    ids = [entry.submission_public_id for entry in entries]
    kept = select(Submission.public_id).where(Submission.public_id.in_(ids), func.length(Submission.source_bytes) > 0)
    with_source = set(session.scalars(kept))
    return [entry for entry in entries if entry.submission_public_id in with_source]


def board_entries(session: Session, board: BoardKey, *, limit: int = 100) -> list[LeaderboardEntry]:
    """Returns the board's entries as the website shows them."""
    return leaderboard(session, BoardKey.of(board), limit=limit)


def request_audit(session: Session, submission: Submission, judgement: Judgement, *, now: datetime) -> None:
    """Requests an audit of the submission's board, which has a new entry.

    ``claim_audit`` decides whether one is due: concurrent judgements are not yet visible here.
    """
    if judgement.measurement is not None and judgement.measurement.metric == AUDITED_METRIC:
        board = AuditedBoard(submission.challenge, submission.device_key, submission.pack_major).columns
        values = {**board, "wanted": True, "failures": 0, "available_at": now}
        session.execute(upsert(session, AuditJob, values, list(board), {"wanted", "failures"}))


def is_idle(session: Session, device_key: str) -> bool:
    """Returns whether no submission waits for a device and no operator holds it, so that other work may begin."""
    ahead = [State.QUEUED, State.BUILDING, State.BUILT]
    waiting = select(Job.id).where(Job.device_key == device_key, Job.state.in_(ahead)).limit(1)
    return not is_held(session, device_key) and session.scalar(waiting) is None


def claim_audit(
    session: Session,
    *,
    device_key: str,
    owner: str,
    now: datetime,
    max_failures: int,
    lacking: Collection[str] = (),
    card: str | None = None,
) -> AuditLease | None:
    """Claims a due audit of one of the device's boards, unless a submission waits for the device or it is held.

    Audits of entries in the languages of ``lacking``, which the worker cannot build, are left to others, and so are
    those of boards that another card than the worker's audits and that is not away. Returns None if there is nothing to
    claim.
    """
    if not is_idle(session, device_key):
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
    left = 0
    while (job := session.scalars(open_jobs.offset(left)).one_or_none()) is not None:
        if lacking and any(each.language in lacking for each in contenders(session, AuditedBoard.of_job(job))):
            left += 1
            continue
        if card is not None and _belongs_elsewhere(session, job, card, now=now):
            left += 1
            continue
        if job.lease_token is not None:
            job.failures += 1
            job.last_error = f"the worker {job.lease_owner} was lost during the audit"
        if job.failures < max_failures and _is_due(session, AuditedBoard.of_job(job), now=now):
            return _lease(session, job, owner=owner, now=now, card=card)
        job.wanted, job.lease_token, job.lease_owner, job.lease_until = False, None, None, None
        session.flush()
    return None


def claim_board(
    session: Session, board: AuditedBoard, *, owner: str, now: datetime, card: str | None = None
) -> AuditLease:
    """Claims the audit of this board for an operator, whether or not it is due. Raises AuditHeldError.

    From then on ``card`` audits the board.
    """
    values = {**board.columns, "wanted": False, "failures": 0, "available_at": now}
    session.execute(upsert(session, AuditJob, values, list(board.columns), set()))
    job = session.scalars(select(AuditJob).filter_by(**board.columns).with_for_update()).one()
    if job.lease_until is not None and job.lease_until >= now:
        raise AuditHeldError(f"{job.lease_owner} audits this board now")
    return _lease(session, job, owner=owner, now=now, card=card)


def contenders(session: Session, board: AuditedBoard) -> list[Contender]:
    """Returns the entries to time, with their sources, best first."""
    if board.contest_id:
        named = [one.public_id for one in _deciders(session, board, now=utc_now())]
    else:
        named = [entry.submission_public_id for entry in podium(session, board)]
    return find_contenders(session, named)


def find_contenders(session: Session, public_ids: Iterable[str]) -> list[Contender]:
    """Returns submissions as an audit times them, in the order of their public ids as given."""
    found = []
    for public_id in public_ids:
        submission = session.scalars(select(Submission).where(Submission.public_id == public_id)).one()
        found.append(
            Contender(
                submission_id=submission.id,
                username=submission.user.username,
                public_id=submission.public_id,
                source=submission.source_bytes,
                pack_digest=submission.pack_digest,
                language=submission.language,
            )
        )
    return found


def finish_audit(
    session: Session, lease: AuditLease, results: Mapping[int, Judgement], *, now: datetime, pause_s: float
) -> bool:
    """Writes the results by submission id and ends the lease. Returns False if the lease was lost.

    Accepted results become the scores, for a contest's audit those of its standings alone; entries with other verdicts
    leave the board. The board's next audit may begin
    after ``pause_s`` seconds.
    """
    if not _end_lease(session, lease, wanted=True, failures=0, available_at=now + timedelta(seconds=pause_s)):
        return False
    for submission_id, judgement in results.items():
        row = session.get(Measurement, submission_id, with_for_update=True)
        if row is None:
            continue  # its user was deleted
        accepted = judgement.verdict is Verdict.ACCEPTED
        measured = judgement.measurement if accepted else None
        if measured is not None:
            _record_card_times(session, lease.board, row, measured, now=now)
        if lease.board.contest_id:
            record_contest_audit(
                session,
                lease.board.contest_id,
                submission_id,
                verdict=judgement.verdict.value,
                value_before=row.value,
                value=None if measured is None else measured.value,
                not_audited=None if measured is None else why_not_audited(measured),
                contenders=len(results),
                now=now,
            )
            if measured is not None:
                continue  # the board keeps its time: its own audit compares it with others
        if measured is not None:
            for name, value in score_columns(measured).items():
                setattr(row, name, value)
            row.audited_at = now
            row.not_audited = why_not_audited(measured)
        else:
            session.delete(row)
        session.flush()
        keep_best_result(session, row)
        values = {
            "verdict": judgement.verdict.value,
            "message": judgement.message,
            "measurement": measured,
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
    """Records that the audit failed through no fault of the contenders. Returns False if the lease was lost.

    It is tried at most ``max_failures`` times, ``pause_s`` seconds apart; after that, only a new entry requests one.
    """
    failures = session.scalar(select(AuditJob.failures).filter_by(**lease.board.columns)) or 0
    return _end_lease(
        session,
        lease,
        wanted=failures + 1 < max_failures,
        failures=failures + 1,
        last_error=error[:4000],
        available_at=now + timedelta(seconds=pause_s),
    )


def hand_back_audit(session: Session, lease: AuditLease) -> bool:
    """Returns the audit to the queue because the worker is stopping. False if the lease was lost."""
    return _end_lease(session, lease, wanted=True)


def find_audit(session: Session, submission: Submission) -> Audit | None:
    """Returns the latest audit of an accepted submission, or None."""
    return find_audits(session, [submission]).get(submission.id)


def find_audits(session: Session, submissions: Iterable[Submission]) -> dict[int, Audit]:
    """Returns the latest audit of each of the submissions that is accepted and was audited, by submission id."""
    accepted = [each.id for each in submissions if each.verdict == Verdict.ACCEPTED]
    found = session.scalars(select(Audit).where(Audit.submission_id.in_(accepted))) if accepted else ()
    return {audit.submission_id: audit for audit in found}


def why_not_audited(measurement: JudgedMeasurement) -> str | None:
    """Returns why an audit's times do not count as audited, or None if the kernels of all cases were replayed.

    The submission may control the text, so it is reduced to one short printable line.
    """
    replay = measurement.audit
    if replay is not None and replay.complete:
        return None
    reason = NOT_REPLAYED if replay is None else next(iter(replay.not_replayed.values()))
    return "".join(character for character in " ".join(reason.split()) if character.isprintable())[:_REASON_CHARACTERS]


def _is_due(session: Session, board: AuditedBoard, *, now: datetime) -> bool:
    if board.contest_id:
        return bool(_deciders(session, board, now=now))
    entries, card = podium(session, board), _audit_card(session, board)
    return len(entries) > 1 and any(not _is_settled(entry, card) for entry in entries)


def _audit_card(session: Session, board: BoardKey) -> str | None:
    """Returns the card that audits a board; None if none has done so."""
    job = session.get(AuditJob, (board.challenge, board.device_key, board.pack_major, 0))
    return None if job is None else job.card


def _is_on(card: str | None, entry: LeaderboardEntry) -> bool:
    return card is None or entry.card in (None, card)


def _is_settled(entry: LeaderboardEntry, card: str | None) -> bool:
    return entry.audited_at is not None and _is_on(card, entry)


def _belongs_elsewhere(session: Session, job: AuditJob, card: str, *, now: datetime) -> bool:
    """Returns whether another card has to make this audit. A contest's results need only be timed on one card."""
    if job.contest_id or job.card in (None, card):
        return False
    return not is_away(session, job.device_key, job.card, now=now)


def _record_card_times(
    session: Session, board: BoardKey, row: Measurement, measured: JudgedMeasurement, *, now: datetime
) -> None:
    """Records what an entry takes on the audit's card, and what it took on the one on which it was timed before."""
    card = measured.fingerprint.card
    if card is None:
        return
    kernel = session.scalars(select(Submission.public_id).where(Submission.id == row.submission_id)).one()
    if row.card not in (None, card):
        earlier = TimedOnCard(kernel, row.value, row.low, row.high)
        record_card_times(session, board, row.card, [earlier], now=now)
    latest = TimedOnCard(kernel, measured.value, measured.low, measured.high)
    record_card_times(session, board, card, [latest], now=now)


def _deciders(session: Session, board: AuditedBoard, *, now: datetime) -> list[Decider]:
    contest = session.get(Contest, board.contest_id)
    return [] if contest is None else due_deciders(session, contest, BoardKey.of(board), now=now)


def _lease(session: Session, job: AuditJob, *, owner: str, now: datetime, card: str | None) -> AuditLease:
    job.wanted, job.card = False, card or job.card
    job.lease_token, job.lease_owner = secrets.token_hex(16), owner
    job.lease_until = now + timedelta(seconds=LEASE_S)
    session.flush()
    return AuditLease(AuditedBoard.of_job(job), job.lease_token)


def _end_lease(session: Session, lease: AuditLease, **values: Any) -> bool:
    ended = session.execute(
        update(AuditJob)
        .filter_by(**lease.board.columns, lease_token=lease.token)
        .values(lease_token=None, lease_owner=None, lease_until=None, **values)
        .returning(AuditJob.challenge)
        .execution_options(synchronize_session=False)
    )
    return ended.first() is not None
