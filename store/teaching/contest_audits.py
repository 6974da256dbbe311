"""Has the results that decide a contest timed again when it has ended, together and in alternation.

They are, for each challenge, the results of the podium and the best one, from which points are computed. A sweep asks
for the audits once everything that counts is judged (``request_contest_audits``), workers do them as those of boards
(``store.boards.audits``), and the contest is settled when no result is left to be timed. What was measured then is what
the standings show, and an entrant who has an audited result for a challenge counts with that one: another result of the
same entrant, timed at another hour, is not compared with it.

Only measured times are audited. A contest whose results are modelled settles at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, func, select, update
from sqlalchemy.orm import Session

from store.boards.board_key import BoardKey
from store.models import FINAL_STATES, AuditJob, Contest, ContestAudit, ContestMember, Job, Submission, User
from store.teaching.contests import contests_of, counting, standings
from store.upsert import upsert

PODIUM_RANK = 3
#: Where ties make the podium larger, so many entrants are audited, the first by name.
PODIUM_ENTRANTS = 5
_AUDITED_SCALE = "time_s"


@dataclass(frozen=True, slots=True)
class Decider:
    """A result that decides a contest."""

    submission_id: int
    public_id: str
    username: str
    challenge: str
    device_key: str
    pack_major: int

    @property
    def board(self) -> BoardKey:
        """The board that the result is on."""
        return BoardKey.of(self)


@dataclass(frozen=True, slots=True)
class AuditedResult:
    """A result that was timed again. ``value`` is None where it was not accepted then."""

    username: str
    challenge: str
    device_key: str
    value_before: float
    value: float | None
    verdict: str
    not_audited: str | None
    audited_at: datetime


def deciders(session: Session, contest: Contest, *, now: datetime) -> list[Decider]:
    """Returns the measured results that decide a contest, each challenge's best first; closed accounts have none."""
    rows = standings(session, contest, now=now, viewer_id=None, whole=True)
    first = {row.username for row in rows if row.rank <= PODIUM_RANK and any(row.cells)}
    first = set(sorted(first, key=[row.username for row in rows].index)[:PODIUM_ENTRANTS])
    ids: dict[str, None] = {}
    for number in range(len(contest.challenges)):
        found = [(cell.place, row.username, cell.result) for row in rows if (cell := row.cells[number]) is not None]
        for position, (_, name, result) in enumerate(sorted(found, key=lambda each: each[0])):
            if result.scale == _AUDITED_SCALE and (position == 0 or name in first):
                ids[result.public_id] = None
    kept = select(Submission, User.username).join(User, User.id == Submission.user_id)
    kept = kept.where(Submission.public_id.in_(ids), func.length(Submission.source_bytes) > 0)
    by_id = {
        row.public_id: Decider(row.id, row.public_id, name, row.challenge, row.device_key, row.pack_major)
        for row, name in session.execute(kept)
    }
    return [by_id[public_id] for public_id in ids if public_id in by_id]


def due_deciders(session: Session, contest: Contest, board: BoardKey, *, now: datetime) -> list[Decider]:
    """Returns the results of a board that decide a contest, if any is not audited yet and there are two or more."""
    found = [one for one in deciders(session, contest, now=now) if one.board == board]
    return found if len(found) > 1 and not _audited(session, contest).issuperset(_ids(found)) else []


def request_contest_audits(session: Session, *, now: datetime, max_failures: int) -> list[str]:
    """Asks for the audits that contests need which have ended, and settles those that need none.

    Returns the addresses of those that it settled.
    """
    settled = []
    ended = select(Contest).where(Contest.ends_at <= now, Contest.settled_at.is_(None))
    for contest in session.scalars(ended).all():
        if not _is_judged(session, contest):
            continue
        boards = {one.board for one in deciders(session, contest, now=now)}
        due = [board for board in boards if due_deciders(session, contest, board, now=now)]
        requested = [_request(session, contest, board, now=now, max_failures=max_failures) for board in due]
        if not any(requested):
            contest.settled_at = now
            settled.append(contest.slug)
    session.flush()
    return settled


def record_contest_audit(
    session: Session,
    contest_id: int,
    submission_id: int,
    *,
    verdict: str,
    value_before: float,
    value: float | None,
    not_audited: str | None,
    contenders: int,
    now: datetime,
) -> None:
    """Records how a result was timed again. The value before stays that before the first of its audits."""
    later = {
        "verdict": verdict,
        "value": value,
        "not_audited": not_audited,
        "contenders": contenders,
        "audited_at": now,
    }
    key = {"contest_id": contest_id, "submission_id": submission_id}
    session.execute(
        upsert(session, ContestAudit, {**key, "value_before": value_before, **later}, list(key), set(later))
    )


def unsettle_contests(session: Session, contests: Iterable[Contest]) -> None:
    """Has the next sweep look anew at what is to be timed again, because contests or their results changed."""
    for contest in contests:
        contest.settled_at = None
        session.execute(delete(AuditJob).where(AuditJob.contest_id == contest.id, AuditJob.lease_token.is_(None)))


def forget_contest_audits(session: Session, submission: Submission) -> None:
    """Takes back that a submission was timed again for contests, because its result changes."""
    session.execute(delete(ContestAudit).where(ContestAudit.submission_id == submission.id))
    unsettle_contests(session, contests_of(session, submission))


def audited_results(session: Session, contest: Contest) -> Sequence[AuditedResult]:
    """Returns the results that were timed again, by challenge, the best first and those that left last."""
    found = session.execute(
        select(ContestAudit, Submission.challenge, Submission.device_key, User.username)
        .join(Submission, Submission.id == ContestAudit.submission_id)
        .join(User, User.id == Submission.user_id)
        .where(ContestAudit.contest_id == contest.id)
    )
    results = [
        AuditedResult(
            name, challenge, device, row.value_before, row.value, row.verdict, row.not_audited, row.audited_at
        )
        for row, challenge, device, name in found
    ]
    order = {slug: number for number, slug in enumerate(contest.slugs)}
    return sorted(
        (one for one in results if one.challenge in order),
        key=lambda one: (order[one.challenge], one.value is None, one.value or one.value_before),
    )


def has_failed(session: Session, contest: Contest) -> bool:
    """Returns whether an audit of a settled contest was given up, so that some results are as first timed."""
    given_up = select(AuditJob.contest_id).where(
        AuditJob.contest_id == contest.id, AuditJob.failures > 0, AuditJob.wanted.is_(False)
    )
    return contest.settled_at is not None and session.scalar(given_up.limit(1)) is not None


def _audited(session: Session, contest: Contest) -> set[int]:
    return set(session.scalars(select(ContestAudit.submission_id).where(ContestAudit.contest_id == contest.id)))


def _ids(found: Sequence[Decider]) -> set[int]:
    return {one.submission_id for one in found}


def _is_judged(session: Session, contest: Contest) -> bool:
    waiting = (
        select(Job.id)
        .join(Submission, Submission.id == Job.submission_id)
        .join(ContestMember, ContestMember.user_id == Submission.user_id)
        .where(ContestMember.contest_id == contest.id, Job.state.not_in(FINAL_STATES), *counting(contest))
    )
    return session.scalar(waiting.limit(1)) is None


def _request(session: Session, contest: Contest, board: BoardKey, *, now: datetime, max_failures: int) -> bool:
    """Asks for an audit unless it is asked for. Returns False if it has failed too often."""
    key = {**board.columns, "contest_id": contest.id}
    job = session.get(AuditJob, tuple(key.values()))
    if job is not None and job.failures >= max_failures:
        return False
    if job is None:
        values = {**key, "wanted": True, "failures": 0, "available_at": now}
        session.execute(upsert(session, AuditJob, values, list(key), {"wanted"}))
    elif not job.wanted and job.lease_token is None:
        session.execute(update(AuditJob).filter_by(**key).values(wanted=True))
    return True
