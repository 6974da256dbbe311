"""Classes on both databases."""

from __future__ import annotations

from datetime import timedelta

from sqlalchemy.orm import Session, sessionmaker

from store.clock import utc_now
from store.models import Assignment, Class, Submission, User
from store.submissions import create_submission
from store.teaching import classes
from store.teaching.grades import Yardsticks, read_gradebook
from store.teaching.points import Grade
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
        assignment = Assignment(
            class_id=group.id, title="Sums", opens_at=now, due_at=now + timedelta(hours=1), counts="accepted",
            least_percent=0, shows_hints=False, created_at=now,
        )  # fmt: skip
        classes.set_challenges(assignment, [PACK.slug, "softmax"])
        session.add(assignment)
        session.flush()
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
        assert classes.is_taught_by(session, sent, user_id=ada.id)
        assert classes.leave(session, group, user_id=ada.id)
        assert not classes.leave(session, group, user_id=ada.id)
        assert not classes.is_taught_by(session, sent, user_id=ada.id)
