"""Stores the notices that all pages show, and what was shown before. Changes go to the operators' log."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Literal, get_args

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from store.models import Notice
from store.operation.operator_log import Actor, record_action

#: How a notice looks: for information, or for trouble.
Kind = Literal["info", "warning"]
KINDS: tuple[Kind, ...] = get_args(Kind)
MAX_CHARACTERS = 500


class NoticeError(ValueError):
    """Raised for a notice that cannot be posted; ``field`` is what is wrong, the message why."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def post_notice(
    session: Session,
    actor: Actor,
    text: str,
    *,
    now: datetime,
    kind: Kind = "info",
    starts_at: datetime | None = None,
    ends_at: datetime | None = None,
) -> Notice:
    """Posts a notice; without ``starts_at`` it is shown at once. White space is joined. Raises NoticeError."""
    joined = " ".join(text.replace("\x00", "").split())
    if not joined:
        raise NoticeError("text", "a notice needs a text")
    if len(joined) > MAX_CHARACTERS:
        raise NoticeError("text", f"a notice has at most {MAX_CHARACTERS} characters, and this one {len(joined)}")
    begin = starts_at or now
    if ends_at is not None and ends_at <= max(begin, now):
        raise NoticeError("ends_at", "a notice ends after it begins, and in the future")
    notice = Notice(text=joined, kind=kind, starts_at=begin, ends_at=ends_at)
    session.add(notice)
    session.flush()
    until = None if ends_at is None else ends_at.isoformat()
    record_action(
        session,
        actor,
        "notice",
        f"notice {notice.id}",
        now=now,
        text=joined,
        kind=kind,
        starts_at=begin.isoformat(),
        ends_at=until,
    )
    return notice


def end_notice(session: Session, actor: Actor, notice_id: int, *, now: datetime) -> Notice | None:
    """Ends a notice now; one that has not begun is never shown. Returns None if there is none, or it has ended."""
    notice = session.get(Notice, notice_id, with_for_update=True)
    if notice is None or (notice.ends_at is not None and notice.ends_at <= now):
        return None
    notice.ends_at = now
    record_action(session, actor, "end notice", f"notice {notice.id}", now=now, text=notice.text)
    return notice


def shown_notices(session: Session, *, now: datetime) -> Sequence[Notice]:
    """Returns the notices that pages show now, the newest first."""
    is_on = (Notice.starts_at <= now, or_(Notice.ends_at.is_(None), Notice.ends_at > now))
    return session.scalars(select(Notice).where(*is_on).order_by(Notice.id.desc())).all()


def list_notices(session: Session, *, limit: int = 50) -> Sequence[Notice]:
    """Returns the newest notices, ended ones included, the newest first."""
    return session.scalars(select(Notice).order_by(Notice.id.desc()).limit(limit)).all()
