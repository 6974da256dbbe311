"""Stores the devices that workers offer. Each worker updates its device's row while it runs."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from judge.judgement import DeviceInfo
from store.clock import utc_now
from store.models import Device
from store.upsert import upsert

#: A device counts as away when its row is older than this, in seconds.
RECENT_S = 60.0


def upsert_device(session: Session, device: DeviceInfo, *, now: datetime | None = None) -> None:
    """Records that a worker offers this device at ``now``."""
    now = now or utc_now()
    seen = {
        "kind": device.kind,
        "name": device.name,
        "compute_capability": device.compute_capability,
        "details": device.details,
        "last_seen_at": now,
    }
    session.execute(upsert(session, Device, {"key": device.key, "first_seen_at": now, **seen}, ["key"], set(seen)))


def list_devices(session: Session, *, now: datetime | None = None, recent_s: float = RECENT_S) -> list[Device]:
    """Returns the devices with a running worker, ordered by key."""
    since = (now or utc_now()) - timedelta(seconds=recent_s)
    return list(session.scalars(select(Device).where(Device.last_seen_at >= since).order_by(Device.key)))


def is_held(session: Session, key: str) -> bool:
    """Returns whether an operator holds the device: it finishes what runs, and takes nothing new."""
    return session.scalar(select(Device.held).where(Device.key == key)) is not None


def device_info(device: Device) -> DeviceInfo:
    """Returns the engine's description of a recorded device, for build workers, which have no device.

    The kind is returned as recorded; the engine rejects unknown kinds.
    """
    return DeviceInfo(
        key=device.key,
        kind=device.kind,
        name=device.name,
        compute_capability=device.compute_capability,
        details=dict(device.details),
    )
