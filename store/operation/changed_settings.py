"""Stores the settings that operators changed while the site runs. ``web.settings`` says which, and checks values.

Changes go to the operators' log.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import ChangedSetting
from store.operation.operator_log import Actor, record_action
from store.upsert import upsert


def changed_settings(session: Session) -> dict[str, Any]:
    """Returns the values that differ from the environment's, by the settings' names."""
    return {name: value for name, value in session.execute(select(ChangedSetting.name, ChangedSetting.value))}  # noqa: C416


def change_setting(session: Session, actor: Actor, name: str, value: Any, *, now: datetime) -> None:
    """Gives a setting a value, from the next request on."""
    before = _stored(session, name)
    values = {"name": name, "value": value, "changed_at": now}
    session.execute(upsert(session, ChangedSetting, values, ["name"], {"value", "changed_at"}))
    record_action(session, actor, "set", f"setting {name}", now=now, before=before, after=value)


def reset_setting(session: Session, actor: Actor, name: str, *, now: datetime) -> bool:
    """Gives a setting the environment's value again. Returns False if it had that already."""
    removed = delete(ChangedSetting).where(ChangedSetting.name == name).returning(ChangedSetting.value)
    found = session.execute(removed).one_or_none()
    if found is not None:
        record_action(session, actor, "reset", f"setting {name}", now=now, before=found.value)
    return found is not None


def _stored(session: Session, name: str) -> Any:
    return session.scalar(select(ChangedSetting.value).where(ChangedSetting.name == name).with_for_update())
