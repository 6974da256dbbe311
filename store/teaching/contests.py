"""Stores contests: who takes part, which submissions count, and the standings.

A submission counts if a member sent it to one of the contest's challenges on one of its devices, from the start until
before the end, by the server's clock. It does not matter when it is judged. Submissions that a member sent after giving
the challenge up (``store.teaching.solutions``) do not count. The caller commits.
"""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import ColumnElement, Select, and_, delete, func, select
from sqlalchemy.orm import Session

from store.boards.totals import RANKED_MODE
from store.models import (
    Contest,
    ContestAudit,
    ContestChallenge,
    ContestMember,
    ContestTeam,
    Measurement,
    Scoring,
    Submission,
    User,
)
from store.teaching.classes import new_code
from store.teaching.contest_standings import Result, Row, rank_members
from store.upsert import upsert

#: The longest name of a team.
TEAM_CHARACTERS = 40


class EntryError(Exception):
    """Raised for an entry that a contest refuses; ``field`` is what is wrong with it, the message why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry to a contest: its code, and the name of a new team or the code of one."""

    code: str = ""
    team_name: str = ""
    team_code: str = ""


#: So long after a contest a submission says that it came too late for it.
_JUST_ENDED = timedelta(days=1)


def find_contest(session: Session, slug: str) -> Contest | None:
    """Returns the contest, or None."""
    return session.scalar(select(Contest).where(Contest.slug == slug))


def list_contests(session: Session, *, limit: int = 100) -> Sequence[Contest]:
    """Returns the contests, those that end last first."""
    return session.scalars(select(Contest).order_by(Contest.ends_at.desc(), Contest.id.desc()).limit(limit)).all()


def set_challenges(contest: Contest, slugs: Sequence[str], targets: Mapping[str, float] | None = None) -> None:
    """Makes these the contest's challenges, in this order. Results for others stay and count no more.

    ``targets`` are times in seconds.
    """
    known = {each.challenge: each for each in contest.challenges}
    contest.challenges = [known.get(slug, ContestChallenge(challenge=slug)) for slug in slugs]
    for position, each in enumerate(contest.challenges):
        each.position, each.target_s = position, (targets or {}).get(each.challenge)


def join(session: Session, contest: Contest, *, user_id: int, now: datetime, team: ContestTeam | None = None) -> None:
    """Makes a user a member, of a team or alone. Does nothing for one who is."""
    values = {
        "contest_id": contest.id,
        "user_id": user_id,
        "team_id": None if team is None else team.id,
        "joined_at": now,
    }
    session.execute(upsert(session, ContestMember, values, ["contest_id", "user_id"], set()))


def enter(session: Session, contest: Contest, entry: Entry, *, user_id: int, now: datetime) -> None:
    """Makes a user a member by what they gave, in a team where there are teams. Raises EntryError."""
    if contest.code is not None and not hmac.compare_digest(entry.code.strip().encode(), contest.code.encode()):
        raise EntryError("code", "that is not the code of this contest: whoever invited you knows it")
    team = None
    if contest.team_size is not None and not is_member(session, contest, user_id=user_id):
        by_code = entry.team_code.strip()
        team = find_team(session, contest, by_code) if by_code else make_team(session, contest, entry.team_name)
    join(session, contest, user_id=user_id, now=now, team=team)


def make_team(session: Session, contest: Contest, name: str) -> ContestTeam:
    """Makes a team. Raises EntryError for a name that is taken, also by a user: the standings would mix them up."""
    text = " ".join(name.split())
    if not 1 <= len(text) <= TEAM_CHARACTERS:
        raise EntryError("team_name", f"a team's name has 1 to {TEAM_CHARACTERS} characters")
    key = text.casefold()
    taken = select(ContestTeam.id).filter_by(contest_id=contest.id, name_key=key)
    if session.scalar(taken) is not None or session.scalar(select(User.id).where(User.username_key == key)) is not None:
        raise EntryError("team_name", f"the name {text} is taken: choose another one, or give that team's code")
    team = ContestTeam(contest_id=contest.id, name=text, name_key=key, code=new_code())
    session.add(team)
    session.flush()
    return team


def find_team(session: Session, contest: Contest, code: str) -> ContestTeam:
    """Returns the team of a code, if it has room. Raises EntryError."""
    # Two who join at once would each see the last place free.
    wanted = select(ContestTeam).filter_by(contest_id=contest.id, code=code.strip().lower()).with_for_update()
    team = session.scalar(wanted)
    if team is None:
        raise EntryError("team_code", "no team of this contest has this code: a member of the team knows it")
    if len(team_members(session, team)) >= (contest.team_size or 1):
        raise EntryError("team_code", f"{team.name} is full: a team has at most {contest.team_size} members")
    return team


def team_of(session: Session, contest: Contest, *, user_id: int | None) -> ContestTeam | None:
    """Returns the team of a member, or None where everybody takes part alone."""
    member = None if user_id is None else session.get(ContestMember, (contest.id, user_id))
    if contest.team_size is None or member is None or member.team_id is None:
        return None
    return session.get_one(ContestTeam, member.team_id)


def team_members(session: Session, team: ContestTeam) -> Sequence[User]:
    """Returns the members of a team, by name."""
    own = select(User).join(ContestMember, ContestMember.user_id == User.id).where(ContestMember.team_id == team.id)
    return session.scalars(own.order_by(User.username_key)).all()


def leave(session: Session, contest: Contest, *, user_id: int) -> None:
    """Takes a member and the results out of the contest, and of the team; the submissions stay.

    They count again after joining anew, then for the new team.
    """
    session.execute(delete(ContestMember).filter_by(contest_id=contest.id, user_id=user_id))


def is_member(session: Session, contest: Contest, *, user_id: int) -> bool:
    """Returns whether the user takes part."""
    return session.get(ContestMember, (contest.id, user_id)) is not None


def count_members(session: Session, contest: Contest) -> int:
    """Returns how many take part."""
    return session.scalar(select(func.count()).select_from(ContestMember).filter_by(contest_id=contest.id)) or 0


def is_frozen(contest: Contest, now: datetime) -> bool:
    """Returns whether the standings show less than there is."""
    return contest.frozen_at is not None and contest.frozen_at <= now and not contest.revealed


@dataclass(frozen=True, slots=True)
class Entered:
    """The participants of a contest, users or teams, and by these and challenges the best results and the tries."""

    members: tuple[str, ...]
    results: Mapping[tuple[str, str], Result]
    tries: Mapping[tuple[str, str], int]


def standings(session: Session, contest: Contest, *, now: datetime, viewer_id: int | None, whole: bool) -> list[Row]:
    """Returns the standings as a viewer may see them: ``whole`` for who manages the contest.

    While the standings are frozen, others' results are those from before; those of the viewer and the viewer's team
    are complete.
    """
    entered = read_entered(session, contest, now=now, whole=whole)
    if is_frozen(contest, now) and not whole and viewer_id is not None:
        entered = with_own_results(session, contest, entered, viewer_id=viewer_id)
    return rank_entered(contest, entered)


def read_entered(session: Session, contest: Contest, *, now: datetime, whole: bool) -> Entered:
    """Returns the data of the standings, as everybody sees them or, with ``whole``, as the contest's manager does.

    A team's result is the best of its members at present. A result that was timed again at the end
    (``store.teaching.contest_audits``) comes before all others of the same entrant.
    """
    entrant = _entrant(contest)
    counted: ColumnElement[bool] = and_(*counting(contest))
    if is_frozen(contest, now) and not whole:
        counted = and_(counted, Submission.created_at < contest.frozen_at)
        results = _best_results(session, contest, counted)
    else:
        results = _best_results(session, contest, counted) | _timed_again(session, contest, entrant, counted)
    members = select(entrant).select_from(ContestMember).join(User, User.id == ContestMember.user_id)
    members = members.outerjoin(ContestTeam, ContestTeam.id == ContestMember.team_id)
    names = session.scalars(members.where(ContestMember.contest_id == contest.id).distinct()).all()
    return Entered(tuple(names), results, _tries(session, contest, counted))


def with_own_results(session: Session, contest: Contest, entered: Entered, *, viewer_id: int) -> Entered:
    """Returns the same with the results that the viewer and the viewer's team have by now."""
    team = team_of(session, contest, user_id=viewer_id)
    own = [viewer_id] if team is None else [user.id for user in team_members(session, team)]
    counted = and_(*counting(contest), Submission.user_id.in_(own))
    results, tries = _best_results(session, contest, counted), _tries(session, contest, counted)
    return Entered(entered.members, {**entered.results, **results}, {**entered.tries, **tries})


def rank_entered(contest: Contest, entered: Entered) -> list[Row]:
    """Returns the standings, the first first."""
    return rank_members(
        Scoring(contest.scoring), contest.slugs, entered.members, entered.results, contest.targets, entered.tries
    )


def _entrant(contest: Contest) -> Any:
    return User.username if contest.team_size is None else func.coalesce(ContestTeam.name, User.username)


def _best_results(session: Session, contest: Contest, counted: ColumnElement[bool]) -> dict[tuple[str, str], Result]:
    """Returns each entrant's best result for a challenge among the submissions that a condition names."""
    entrant = _entrant(contest)
    # A range of submissions for each challenge; each member's best there is all that leaves the database.
    best_first = func.row_number().over(
        partition_by=(Submission.user_id, Measurement.challenge), order_by=(Measurement.value, Submission.id)
    )
    counts = (
        select(
            Submission.user_id,
            Submission.id,
            Submission.public_id,
            Measurement.challenge,
            Measurement.value,
            Measurement.metric,
            best_first.label("number"),
        )
        .join(Measurement, Measurement.submission_id == Submission.id)
        .join(ContestMember, ContestMember.user_id == Submission.user_id)
        .where(ContestMember.contest_id == contest.id, counted)
        .subquery("counted")
    )
    found = session.execute(
        select(entrant.label("entrant"), counts.c.challenge, counts.c.value, counts.c.metric, counts.c.public_id)
        .select_from(counts)
        .join(User, User.id == counts.c.user_id)
        .join(ContestMember, and_(ContestMember.user_id == User.id, ContestMember.contest_id == contest.id))
        .outerjoin(ContestTeam, ContestTeam.id == ContestMember.team_id)
        .where(counts.c.number == 1)
        .order_by(counts.c.value.desc(), counts.c.id.desc())
    )
    # Of equal results the earliest stays.
    return {(row.entrant, row.challenge): Result(row.value, row.metric, row.public_id) for row in found}


def _tries(session: Session, contest: Contest, counted: ColumnElement[bool]) -> dict[tuple[str, str], int]:
    """Returns how many judged submissions each entrant has for a challenge, among those that a condition names."""
    entrant = _entrant(contest)
    found = session.execute(
        select(entrant.label("entrant"), Submission.challenge, func.count())
        .select_from(Submission)
        .join(User, User.id == Submission.user_id)
        .join(ContestMember, and_(ContestMember.user_id == User.id, ContestMember.contest_id == contest.id))
        .outerjoin(ContestTeam, ContestTeam.id == ContestMember.team_id)
        .where(counted, Submission.mode == RANKED_MODE, Submission.verdict.is_not(None))
        .group_by(entrant, Submission.challenge)
    )
    return {(row[0], row[1]): row[2] for row in found}


def _timed_again(
    session: Session, contest: Contest, entrant: Any, counted: ColumnElement[bool]
) -> dict[tuple[str, str], Result]:
    """Returns each entrant's best result for a challenge among those that were timed again and still count."""
    found = session.execute(
        select(
            entrant.label("entrant"),
            Submission.challenge,
            ContestAudit.value,
            Measurement.metric,
            Submission.public_id,
        )
        .select_from(ContestAudit)
        .join(Submission, Submission.id == ContestAudit.submission_id)
        .join(Measurement, Measurement.submission_id == Submission.id)
        .join(User, User.id == Submission.user_id)
        .join(ContestMember, ContestMember.user_id == Submission.user_id)
        .outerjoin(ContestTeam, ContestTeam.id == ContestMember.team_id)
        .where(ContestMember.contest_id == contest.id, ContestAudit.contest_id == contest.id)
        .where(ContestAudit.value.is_not(None), counted)
        .order_by(ContestAudit.value.desc(), Submission.id.desc())
    )
    return {(row.entrant, row.challenge): Result(row.value, row.metric, row.public_id, audited=True) for row in found}


def _of_its_user(submission: Submission) -> Select[Contest]:
    """Returns the contests of a submission's user and challenge that had begun when it came."""
    return (
        select(Contest)
        .join(ContestMember, ContestMember.contest_id == Contest.id)
        .join(ContestChallenge, ContestChallenge.contest_id == Contest.id)
        .where(
            ContestMember.user_id == submission.user_id,
            ContestChallenge.challenge == submission.challenge,
            Contest.starts_at <= submission.created_at,
        )
    )


def contests_of(session: Session, submission: Submission, *, keep: bool = False) -> Sequence[Contest]:
    """Returns the contests that a submission counts in. ``keep``: nobody changes them until the commit."""
    mine = _of_its_user(submission).where(Contest.ends_at > submission.created_at)
    if submission.mode != "submit" or submission.after_giving_up:
        return []
    if keep:
        mine = mine.with_for_update(read=True, of=Contest).execution_options(populate_existing=True)
    return [contest for contest in session.scalars(mine) if submission.device_key in contest.device_keys]


def contests_missed(session: Session, submission: Submission) -> Sequence[tuple[Contest, str]]:
    """Returns the contests of its user in which a submission does not count, though it looks so, and why.

    It arrived within a day after the end, or during the contest on a device that does not count.
    """
    if submission.mode != "submit" or submission.after_giving_up:
        return []
    mine = _of_its_user(submission).where(Contest.ends_at > submission.created_at - _JUST_ENDED)
    found = []
    for contest in session.scalars(mine):
        if contest.ends_at <= submission.created_at:
            found.append((contest, "it arrived after the end"))
        elif submission.device_key not in contest.device_keys:
            found.append((contest, f"results on {submission.device_key} do not count there"))
    return found


def own_running(session: Session, challenge: str, *, user_id: int, now: datetime) -> Sequence[Contest]:
    """Returns the running contests with this challenge in which the user takes part, those that end first first."""
    mine = (
        select(Contest)
        .join(ContestMember, ContestMember.contest_id == Contest.id)
        .join(ContestChallenge, ContestChallenge.contest_id == Contest.id)
        .where(
            ContestMember.user_id == user_id,
            ContestChallenge.challenge == challenge,
            Contest.starts_at <= now,
            Contest.ends_at > now,
        )
        .order_by(Contest.ends_at, Contest.id)
    )
    return session.scalars(mine).all()


def latest_runs(session: Session, contest: Contest, *, user_id: int) -> dict[tuple[str, str], Any]:
    """Returns a user's latest run for each challenge and device of a contest that has one, by these.

    A run has ``public_id``, ``state``, ``verdict`` and ``created_at``. Runs count in no contest.
    """
    latest = (
        select(func.max(Submission.id))
        .where(Submission.user_id == user_id, Submission.mode == "run", Submission.challenge.in_(contest.slugs))
        .where(Submission.device_key.in_(contest.device_keys))
        .group_by(Submission.challenge, Submission.device_key)
    )
    columns = (
        Submission.challenge,
        Submission.device_key,
        Submission.public_id,
        Submission.state,
        Submission.verdict,
        Submission.created_at,
    )
    rows = session.execute(select(*columns).where(Submission.id.in_(latest)))
    return {(row.challenge, row.device_key): row for row in rows}


def counting(contest: Contest) -> tuple[ColumnElement[bool], ...]:
    """Returns the conditions by which a member's submission counts."""
    return (
        Submission.challenge.in_(contest.slugs),
        Submission.device_key.in_(contest.device_keys),
        Submission.created_at >= contest.starts_at,
        Submission.created_at < contest.ends_at,
        Submission.after_giving_up.is_(False),
    )
