"""Classes on both databases."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy import update
from sqlalchemy.orm import Session, sessionmaker

from store.clock import utc_now
from store.models import Class, Submission, User
from store.people.accounts import set_email
from store.submissions import create_submission
from store.teaching import classes, rights
from store.teaching.grades import Yardsticks, messages, read_gradebook
from store.teaching.points import Grade
from store.teaching.roster import (
    Person,
    RosterChange,
    apply_list,
    claim_invitations,
    entries_by_user,
    section_of,
)
from tests.assignments import add_assignment
from tests.integration.store.test_submissions import PACK


def test_members_their_deadlines_and_their_grades(sessions: sessionmaker[Session], ada: User) -> None:
    now = utc_now()
    with sessions.begin() as session:
        group = Class(title="Spring", description="", code=classes.new_code(), owner_id=ada.id, created_at=now)
        session.add(group)
        session.flush()
        assert classes.find_by_code(session, f" {group.code.upper()} ") is group
        for name in ("One", "Two"):
            classes.join(session, group, user_id=ada.id, known_as=name, now=now)
        assert [member.known_as for member in classes.list_members(session, group)] == ["Two"]
        assert classes.count_members(session, [group]) == {group.id: 1}
        assignment = add_assignment(
            session, group.id, [PACK.slug, "softmax"], now=now, due_at=now + timedelta(hours=1), shows_hints=False
        )
        user = session.get_one(User, ada.id)
        sent = create_submission(
            session,
            user=user,
            pack=PACK,
            device_key="emulator",
            mode="submit",
            source="x",
            now=now + timedelta(hours=2),
        )

        def graded() -> Grade:
            book = read_gradebook(session, group, [assignment], yardsticks=Yardsticks(), user_id=ada.id)
            return book.grade(assignment, ada.id, PACK.slug)

        assert (graded().attempt, graded().waiting) == (None, True)
        session.query(Submission).filter_by(id=sent.id).update({"verdict": "AC"})
        assert (graded().reached, graded().days_late, graded().points) == (True, 1, 0.0)
        for _ in range(2):
            classes.set_extension(session, assignment, user_id=ada.id, due_at=now + timedelta(hours=3))
        assert (graded().counts, graded().points) == (True, 50.0)
        session.query(Submission).filter_by(id=sent.id).update({"off_board": "copied"})
        assert (graded().attempt, graded().waiting) == (None, False)
        # Her extension is the last deadline.
        until = now + timedelta(hours=3)
        assert classes.hints_hidden_until(session, "softmax", now=now - timedelta(seconds=1)) is None
        assert classes.hints_hidden_until(session, "softmax", now=now) == until
        assert classes.hints_hidden_until(session, "transpose", now=now) is None
        assert classes.hints_hidden_until(session, "softmax", now=until) is None
        classes.set_extension(session, assignment, user_id=ada.id, due_at=now + timedelta(minutes=1))
        assert classes.hints_hidden_until(session, "softmax", now=now) == assignment.due_at
        assert rights.is_taught_by(session, sent, user_id=ada.id, as_owner=True)
        assert classes.leave(session, group, user_id=ada.id)
        assert not classes.leave(session, group, user_id=ada.id)
        assert not rights.is_taught_by(session, sent, user_id=ada.id, as_owner=True)


def test_a_roster_on_both_databases_and_what_judgements_say(sessions: sessionmaker[Session], ada: User) -> None:
    now = utc_now()
    people = [Person("Ada L.", "Ada@example.org", "1", "A"), Person("Bo", "bo@example.org", "2", "B")]
    with sessions.begin() as session:
        group = Class(title="Spring", description="", code=classes.new_code(), owner_id=ada.id, created_at=now)
        session.add(group)
        session.flush()
        assert apply_list(session, group, people, now=now) == RosterChange(new=2, changed=0, joined=0, left=0)
        user = session.get_one(User, ada.id)
        assert claim_invitations(session, user, now=now) == 0  # she has confirmed no address
        set_email(session, user=user, email="ADA@example.org")
        assert claim_invitations(session, user, now=now) == 1
        assert claim_invitations(session, user, now=now) == 0
        assert [member.known_as for member in classes.list_members(session, group)] == ["Ada L."]
        assert section_of(entries_by_user(session, group), ada.id) == "A"
        assert apply_list(session, group, people[1:], now=now) == RosterChange(new=0, changed=0, joined=0, left=1)
        assert apply_list(session, group, people, now=now) == RosterChange(new=0, changed=1, joined=0, left=0)
        sent = [
            create_submission(
                session, user=user, pack=PACK, device_key="emulator", mode="submit", source=f"{n}", now=now
            )
            for n in range(3)
        ]
        for one, judgement in zip(sent[:2], ({"message": "ä row is wrong"}, None), strict=True):
            values = {"verdict": "WA", "judgement": judgement}
            session.execute(update(Submission.__table__).filter_by(id=one.id).values(values))  # type: ignore[arg-type]
        said = messages(session, [one.public_id for one in sent])
        assert said == {sent[0].public_id: "ä row is wrong", sent[1].public_id: ""}
