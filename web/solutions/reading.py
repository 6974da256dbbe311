"""What a visitor may read of a challenge's solutions, for the pages and the API."""

from __future__ import annotations

from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from store.models import Submission
from store.solutions import Access, access_of, find_solution
from web.accounts.visitor import Visitor
from web.problems import Problem
from web.services import services

#: Why solutions are closed, in words.
CLOSED = {
    Access.UNSOLVED: "Solve the challenge, or give up, to see solutions.",
    Access.EXAMINED: (
        "Solutions are closed while you have time for an assignment or a contest with this challenge, or a class works "
        "on it without hints."
    ),
}


def find_access(session: Session, pack: Pack, visitor: Visitor) -> Access:
    """Returns whether a challenge's solutions are open to the visitor."""
    return access_of(session, pack.slug, user_id=visitor.id, role=visitor.role, now=services().clock())


def require_access(session: Session, pack: Pack, visitor: Visitor) -> None:
    """Raises Problem 403 where the challenge's solutions are closed to the visitor."""
    access = find_access(session, pack, visitor)
    if not access.is_open:
        raise Problem(403, "solutions_closed", CLOSED[access])


def readable_solution(session: Session, pack: Pack, public_id: str, visitor: Visitor) -> Submission:
    """Returns a solution that the visitor may read: an open one, or the own. Raises Problem 403 or 404."""
    submission = find_solution(session, pack.slug, public_id)
    if submission is None or submission.user_id != visitor.id:
        require_access(session, pack, visitor)
    if submission is None:
        raise Problem(404, "not_found", "There is no such solution: its author may have withdrawn it.")
    return submission
