"""Two accounts become one: boards, totals, drafts and memberships are as if there had been one from the beginning."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from judge.judgement import BuildReport, Judgement
from judge.measurements import Measurement
from judge.verdict import Verdict
from store.boards.best_results import best_query
from store.boards.totals import challenge_totals, solved_challenges
from store.drafts import draft_versions, latest_draft, save_draft
from store.models import (
    Assignment,
    Base,
    BestResult,
    BoardTotals,
    Class,
    ClassStaff,
    Contest,
    GivenUp,
    Identity,
    ReachedGoal,
    Role,
    StaffRole,
    Submission,
    User,
    UserProgress,
)
from store.operation.administration import NotPossibleError, set_role, suspend_user
from store.operation.operator_log import Actor, list_actions
from store.people import merging
from store.people.accounts import check_password, create_user, find_user
from store.people.merging import merge_summary, merge_user
from store.queue.jobs import LeaseRules, Stage, claim_job, finish_build, finish_judged
from store.submissions import create_submission
from store.teaching import classes, contests, solutions
from store.teaching.contest_standings import Row
from store.teaching.goals import reached_goals
from store.teaching.rights import add_staff
from tests.assignments import add_assignment
from tests.fake_judge import EMULATOR, FakePack

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
PASSWORD = "correct horse battery"
ROOT = Actor("root")

#: The columns that name a user, and why no merge moves them: the row goes with what opens the account, or is a record.
STAYS = {
    "api_tokens.user_id", "web_sessions.user_id", "one_time_links.user_id", "recovery_codes.user_id",
    "operator_actions.user_id", "draft_assemblies.user_id", "lti_launches.user_id", "lti_scores.user_id",
}  # fmt: skip
MOVES = {
    "submissions.user_id", "jobs.user_id", "reached_goals.user_id", "identities.user_id", "classes.owner_id",
    "contests.owner_id", "measurements.user_id", "best_results.user_id", "user_progress.user_id", "drafts.user_id",
    "class_members.user_id", "contest_members.user_id", "assignment_extensions.user_id", "given_up.user_id",
    "solution_likes.user_id", "roster_entries.user_id", "class_staff.user_id", "line_comments.author_id",
    "line_comments.unread_by",
}  # fmt: skip


@pytest.fixture
def people(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        for name in ("ada", "lovelace", "bo"):
            create_user(session, username=name, password=PASSWORD, now=T0)


def user(session: Session, name: str) -> User:
    found = find_user(session, name)
    assert found is not None
    return found


def solve(
    sessions: sessionmaker[Session], name: str, value: float | None, *, slug: str = "reduction", at: int = 0
) -> str:
    """Submits and judges; ``value`` None is a wrong answer."""
    pack, now = FakePack(slug=slug), T0 + timedelta(minutes=at)
    with sessions.begin() as session:
        key = "same" if at == 0 else None
        sent = create_submission(
            session,
            user=user(session, name),
            pack=pack,
            device_key="emulator",
            mode="submit",
            source=f"// {name}",
            idempotency_key=key,
            now=now,
        )
        public_id = sent.public_id
    measured = None if value is None else Measurement("time_s", value, 9, 0.0, median_s=value, low=value, high=value)
    verdict = Verdict.WRONG_ANSWER if value is None else Verdict.ACCEPTED
    with sessions.begin() as session:
        rules = LeaseRules()
        lease = claim_job(session, Stage.BUILD, owner="w", now=now, rules=rules)
        assert lease is not None
        report = BuildReport(ok=True, wall_s=0.1)
        finish_build(session, lease, digest="0", data=b"l", report=report, now=now)
        lease = claim_job(session, Stage.RUN, owner="w", now=now, rules=rules)
        assert lease is not None
        judgement = Judgement(verdict, slug, "1.2.0", EMULATOR, report, measurement=measured)
        assert finish_judged(session, lease, judgement, now=now)
    return public_id


def check_kept(session: Session) -> None:
    """Counts everything anew, and compares it with what is kept."""
    counted = best_query()
    held = session.execute(select(*(getattr(BestResult, name) for name in counted.selected_columns.keys())))  # noqa: SIM118
    assert sorted(map(tuple, held)) == sorted(map(tuple, session.execute(counted)))
    for board in session.scalars(select(BoardTotals)):
        key = {name: getattr(board, name) for name in ("challenge", "device_key", "pack_major", "metric")}
        results = session.scalars(select(BestResult).filter_by(**key)).all()
        assert (board.users, board.best_value) == (len(results), min(one.value for one in results))
    for row in session.scalars(select(UserProgress)):
        mine = select(Submission).filter_by(user_id=row.user_id, challenge=row.challenge)
        judged = session.scalars(mine).all()
        accepted = [one.finished_at for one in judged if one.verdict == "AC" and one.finished_at is not None]
        assert (row.judged, row.accepted, row.solved_at) == (len(judged), len(accepted), min(accepted, default=None))
    totals = challenge_totals(session)
    for slug, one in totals.items():
        solvers = select(func.count(Submission.user_id.distinct())).filter_by(challenge=slug, verdict="AC")
        assert one.solvers == session.scalar(solvers)


def test_every_column_that_names_a_user_is_thought_of() -> None:
    found = {
        f"{table.name}.{column.name}"
        for table in Base.metadata.tables.values()
        for column in table.columns
        if any(key.target_fullname == "users.id" for key in column.foreign_keys)
    }
    assert found == STAYS | MOVES


@pytest.mark.usefixtures("people")
def test_boards_and_totals_are_those_of_one_user(sessions: sessionmaker[Session]) -> None:
    solve(sessions, "ada", 3.0)
    solve(sessions, "bo", 2.0, at=1)
    best = solve(sessions, "lovelace", 1.0)
    solve(sessions, "lovelace", 4.0, at=2)
    solve(sessions, "lovelace", None, slug="softmax", at=3)
    solve(sessions, "ada", None, slug="softmax", at=4)
    solve(sessions, "lovelace", 5.0, slug="transpose", at=5)
    with sessions.begin() as session:
        check_kept(session)
        summary = merge_user(session, ROOT, user(session, "lovelace"), user(session, "ada"), now=T0)
        assert str(summary) == "4 submissions, 2 places on boards, 0 drafts, 0 class memberships, 0 contest memberships"
    with sessions.begin() as session:
        check_kept(session)
        ada = user(session, "ada")
        held = session.scalars(select(BestResult).filter_by(challenge="reduction").order_by(BestResult.value)).all()
        assert [(one.value, one.user_id == ada.id) for one in held] == [(1.0, True), (2.0, False)]
        assert session.get_one(Submission, held[0].submission_id).public_id == best
        assert solved_challenges(session, user_id=ada.id) == {"reduction", "transpose"}
        assert challenge_totals(session)["reduction"].solvers == 2
        assert find_user(session, "lovelace") is None
        assert check_password(session, username="lovelace", password=PASSWORD) is None
        assert check_password(session, username="ada", password=PASSWORD) is not None
        # Her sources stay: they are not those of a closed account.
        assert {one.source for one in session.scalars(select(Submission))} == {"// ada", "// bo", "// lovelace"}
        (logged,) = list_actions(session, target="user ada")
        assert (logged.actor, logged.action, logged.details["merged"]) == ("root", "merge", "lovelace")


@pytest.mark.usefixtures("people")
def test_drafts_are_in_the_order_of_their_saving(
    sessions: sessionmaker[Session], monkeypatch: pytest.MonkeyPatch
) -> None:
    with sessions.begin() as session:
        for number, (name, slug) in enumerate(
            [("ada", "reduction"), ("lovelace", "reduction"), ("ada", "reduction"), ("lovelace", "softmax")]
        ):
            owner = user(session, name).id
            latest = latest_draft(session, user_id=owner, challenge=slug)
            save_draft(
                session,
                user_id=owner,
                challenge=slug,
                source=f"{number}",
                base=latest.version if latest else 0,
                now=T0 + timedelta(hours=number),
            )
    monkeypatch.setattr(merging, "MOST_VERSIONS", 2)
    with sessions.begin() as session:
        assert merge_user(session, ROOT, user(session, "lovelace"), user(session, "ada"), now=T0).drafts == 2
    with sessions.begin() as session:
        ada = user(session, "ada").id
        found = draft_versions(session, user_id=ada, challenge="reduction")
        assert [draft.source for draft in found] == ["2", "1"]
        assert found[-1].version > 2  # a page that has version 2 open is told that there is another
        assert [draft.source for draft in draft_versions(session, user_id=ada, challenge="softmax")] == ["3"]


@pytest.mark.usefixtures("people")
def test_what_one_account_gave_up_marks_what_the_other_sent_later(sessions: sessionmaker[Session]) -> None:
    solve(sessions, "bo", 9.0)
    # Given up by one account, solved by the other afterwards, and once more by an account that had solved it before.
    with sessions.begin() as session:
        other = user(session, "lovelace").id
        solutions.give_up(session, "reduction", user_id=other, now=T0 + timedelta(minutes=5))
        solutions.give_up(session, "softmax", user_id=other, now=T0 + timedelta(minutes=5))
    later = solve(sessions, "ada", 3.0, at=6)
    before = solve(sessions, "ada", 2.0, slug="softmax", at=1)
    with sessions.begin() as session:
        merge_user(session, ROOT, user(session, "lovelace"), user(session, "ada"), now=T0)
    with sessions.begin() as session:
        check_kept(session)
        ada = user(session, "ada").id
        marked = dict(
            session.execute(select(Submission.public_id, Submission.after_giving_up).filter_by(user_id=ada)).all()
        )
        assert marked == {later: True, before: False}
        assert [one.user_id == ada for one in session.scalars(select(BestResult).filter_by(challenge="reduction"))] == [
            False
        ]
        assert [one.challenge for one in session.scalars(select(GivenUp).filter_by(user_id=ada))] == ["reduction"]


@pytest.mark.usefixtures("people")
def test_solutions_and_likes_are_those_of_one_person(sessions: sessionmaker[Session]) -> None:
    sent = {name: solve(sessions, name, 3.0, at=at) for at, name in enumerate(("ada", "lovelace", "bo"), 1)}
    with sessions.begin() as session:
        one = {
            name: session.scalars(select(Submission).filter_by(public_id=public_id)).one()
            for name, public_id in sent.items()
        }
        for minute, submission in enumerate(one.values()):
            solutions.publish(session, submission, now=T0 + timedelta(minutes=minute))
        for who, whose in (("ada", "bo"), ("lovelace", "bo"), ("ada", "lovelace"), ("bo", "lovelace")):
            solutions.like(session, one[whose], user_id=user(session, who).id, now=T0)
    with sessions.begin() as session:
        merge_user(session, ROOT, user(session, "lovelace"), user(session, "ada"), now=T0)
    with sessions.begin() as session:
        shown = solutions.list_solutions(session, viewer_id=user(session, "ada").id, limit=9)
        assert {(each.public_id, each.username, each.likes, each.liked) for each in shown} == {
            (sent["lovelace"], "ada", 1, False),
            (sent["bo"], "bo", 1, True),
        }


@pytest.mark.usefixtures("people")
def test_memberships_results_and_what_is_taught_go_over(sessions: sessionmaker[Session]) -> None:
    solve(sessions, "lovelace", 1.0)
    solve(sessions, "ada", 3.0, at=1)
    solve(sessions, "bo", 2.0, at=2)
    with sessions.begin() as session:
        ada, other, bo = (user(session, name) for name in ("ada", "lovelace", "bo"))
        both, hers = (
            Class(title=title, description="", code=classes.new_code(), owner_id=other.id, created_at=T0)
            for title in "ab"
        )
        session.add_all([both, hers])
        session.flush()
        classes.join(session, both, user_id=ada.id, known_as="Ada", now=T0)
        for group in (both, hers):
            classes.join(session, group, user_id=other.id, known_as="A. L.", now=T0)
        work = add_assignment(session, both.id, (), now=T0, due_at=T0)
        contest = Contest(
            slug="friday",
            title="Friday",
            description="",
            starts_at=T0,
            ends_at=T0 + timedelta(hours=1),
            scoring="points",
            devices="emulator",
            owner_id=other.id,
            created_at=T0,
            settled_at=T0,
        )
        contests.set_challenges(contest, ["reduction"])
        session.add(contest)
        session.flush()
        for hours, one in ((2, ada), (3, other)):
            classes.set_extension(session, work, user_id=one.id, due_at=T0 + timedelta(hours=hours))
            contests.join(session, contest, user_id=one.id, now=T0)
        contests.join(session, contest, user_id=bo.id, now=T0)
        taught = [Class(title=t, description="", code=classes.new_code(), owner_id=bo.id, created_at=T0) for t in "cd"]
        session.add_all(taught)
        session.flush()
        for group in taught:
            add_staff(session, group, user_id=other.id, role=StaffRole.TEACHER)
        add_staff(session, taught[0], user_id=ada.id, role=StaffRole.ASSISTANT, section="A")
        session.add(Identity(user_id=other.id, issuer="i", subject="s", name="l", created_at=T0))
        session.add(ReachedGoal(submission_id=1, user_id=other.id, challenge="reduction", goal="g", reached_at=T0))
        set_role(session, ROOT, other, Role.TEACHER, now=T0)
    with sessions.begin() as session:
        ada, other = user(session, "ada"), user(session, "lovelace")
        assert (merge_summary(session, other).classes, merge_summary(session, other).contests) == (2, 1)
        merge_user(session, ROOT, other, ada, now=T0)
    with sessions.begin() as session:
        ada = user(session, "ada")
        groups = classes.joined_classes(session, user_id=ada.id)
        names = {member.known_as for group in groups for member in classes.list_members(session, group)}
        assert names == {"Ada", "A. L."}
        assert [group.owner_id for group in groups] == [ada.id, ada.id]
        assert classes.extensions(session, session.query(Assignment).one()) == {ada.id: T0 + timedelta(hours=3)}
        staff = [(each.user_id, each.role, each.section) for each in session.query(ClassStaff)]
        assert staff == [(ada.id, "teacher", "")] * 2
        contest = session.query(Contest).one()
        assert (contest.owner_id, contest.settled_at) == (ada.id, None)
        rows: list[Row] = contests.standings(session, contest, now=T0, viewer_id=None, whole=True)
        assert [(row.username, row.total) for row in rows] == [("ada", 100.0), ("bo", 50.0)]
        assert session.query(Identity).one().user_id == ada.id
        assert session.query(ReachedGoal).one().user_id == ada.id
        assert ada.role == Role.USER
        assert reached_goals(session, user_id=ada.id) == frozenset()  # it was not a goal of a track


@pytest.mark.usefixtures("people")
def test_what_cannot_be_merged(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        ada, other, bo = (user(session, name) for name in ("ada", "lovelace", "bo"))
        create_submission(session, user=bo, pack=FakePack(), device_key="emulator", mode="run", source="", now=T0)
        set_role(session, ROOT, other, Role.OPERATOR, now=T0)
        suspend_user(session, ROOT, ada, "spam", now=T0)
        for actor, one, into, why in (
            (ROOT, ada, ada, "itself"),
            (ROOT, bo, ada, "wait or run"),
            (ROOT, other, ada, "only operator"),
            (Actor("ada", ada.id), ada, bo, "your own account"),
        ):
            with pytest.raises(NotPossibleError, match=why):
                merge_user(session, actor, one, into, now=T0)
        merge_user(session, ROOT, ada, other, now=T0)
        with pytest.raises(NotPossibleError, match="is closed"):
            merge_user(session, ROOT, ada, other, now=T0)
        with pytest.raises(NotPossibleError, match="is closed"):
            merge_user(session, ROOT, other, ada, now=T0)
