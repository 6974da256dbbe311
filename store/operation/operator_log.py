"""Records the operators' actions: who, what, on what, when and from where. Nothing changes or deletes a record."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from store.models import OperatorAction


@dataclass(frozen=True, slots=True)
class Actor:
    """The actor. ``user_id`` is None and ``address`` empty for a command on the server's machine."""

    name: str
    user_id: int | None = None
    address: str = ""


def record_action(
    session: Session, actor: Actor, action: str, target: str, *, now: datetime, **details: Any
) -> OperatorAction:
    """Records an action in the transaction that does it. ``target`` is such as ``user ada``."""
    row = OperatorAction(
        at=now,
        user_id=actor.user_id,
        actor=actor.name[:100],
        address=actor.address[:64],
        action=action,
        target=target[:200],
        details=details,
    )
    session.add(row)
    session.flush()
    return row


def list_actions(
    session: Session, *, target: str | None = None, before: int | None = None, limit: int = 50
) -> list[OperatorAction]:
    """Returns the actions, the latest first: those on ``target``, and those with ids below ``before``."""
    found = select(OperatorAction).order_by(OperatorAction.id.desc()).limit(limit)
    if target is not None:
        found = found.where(OperatorAction.target == target)
    if before is not None:
        found = found.where(OperatorAction.id < before)
    return list(session.scalars(found))
