"""The devices that workers offer. A row is written when a worker starts and touched while it lives."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import select
from sqlalchemy.orm import Session

from judge.judgement import DeviceInfo, DeviceKind
from store.clock import utc_now
from store.models import Device
from store.upsert import upsert

#: A device whose workers have been silent for longer than this is not offered.
RECENT_S = 60.0


def upsert_device(session: Session, device: DeviceInfo, *, now: datetime | None = None) -> None:
    """Record that a worker offers this device now."""
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
    """The devices with a living worker, by key."""
    since = (now or utc_now()) - timedelta(seconds=recent_s)
    return list(session.scalars(select(Device).where(Device.last_seen_at >= since).order_by(Device.key)))


def device_info(device: Device) -> DeviceInfo:
    """The engine's description of a recorded device: what a build worker, which has none, builds for."""
    kind: DeviceKind = "cuda" if device.kind == "cuda" else "emulator"
    return DeviceInfo(
        key=device.key,
        kind=kind,
        name=device.name,
        compute_capability=device.compute_capability,
        details=dict(device.details),
    )
