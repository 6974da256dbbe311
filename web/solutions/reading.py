"""The solutions of a challenge that a visitor may read, for the pages and the API."""

from __future__ import annotations

from sqlalchemy.orm import Session

from judge.packs.pack import Pack
from store.models import Role, Submission
from store.teaching.solutions import Access, access_of, closed_until, find_solution
from web.accounts.visitor import Visitor
from web.problems import Problem
from web.services import services

_UNSOLVED = "Solve the challenge, or give up, to see solutions."


def why_closed(session: Session, pack: Pack, visitor: Visitor | None) -> str:
    """Returns why solutions are closed to the visitor and, if an assignment or a contest closes them, until when."""
    user_id, role = _who(visitor)
    until = closed_until(session, pack.slug, user_id=user_id, role=role, now=services().clock())
    if until is None:
        return _UNSOLVED
    return (
        f"Solutions of this challenge are closed until {until:%Y-%m-%d %H:%M} UTC, because an assignment or a contest "
        "with it is open."
    )


def find_access(session: Session, pack: Pack, visitor: Visitor | None) -> Access:
    """Returns whether a challenge's solutions are open to the visitor, or to nobody in particular."""
    user_id, role = _who(visitor)
    return access_of(session, pack.slug, user_id=user_id, role=role, now=services().clock())


def require_access(session: Session, pack: Pack, visitor: Visitor) -> None:
    """Raises Problem 403 where the challenge's solutions are closed to the visitor."""
    access = find_access(session, pack, visitor)
    if not access.is_open:
        raise Problem(403, "solutions_closed", why_closed(session, pack, visitor))


def _who(visitor: Visitor | None) -> tuple[int, Role]:
    return (0, Role.USER) if visitor is None else (visitor.id, visitor.role)


def readable_solution(session: Session, pack: Pack, public_id: str, visitor: Visitor) -> Submission:
    """Returns a solution that the visitor may read: an open one, or the own. Raises Problem 403 or 404."""
    submission = find_solution(session, pack.slug, public_id)
    if submission is None or submission.user_id != visitor.id:
        require_access(session, pack, visitor)
    if submission is None:
        raise Problem(404, "not_found", "There is no such solution: its author may have withdrawn it.")
    return submission
