"""The devices that can be chosen, as pages and the API list them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from store.clock import Clock
from store.devices import list_devices
from store.settings import Settings

#: A device that was there within a week can still be chosen: its worker is taken to come back. An older one is history.
REMEMBERED_S = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """``online`` says whether a worker for it was heard of lately; a submission to one that is away waits for it."""

    key: str
    kind: str
    name: str
    compute_capability: str
    online: bool


def device_choices(session: Session, settings: Settings, clock: Clock) -> list[DeviceChoice]:
    """Those online first, real GPUs before the emulator, then by key."""
    now = clock()
    recent = now - timedelta(seconds=settings.device_seen_s)
    choices = [
        DeviceChoice(
            key=device.key,
            kind=device.kind,
            name=device.name,
            compute_capability=device.compute_capability,
            online=device.last_seen_at >= recent,
        )
        for device in list_devices(session, now=now, recent_s=REMEMBERED_S)
    ]
    return sorted(choices, key=lambda device: (not device.online, device.kind == "emulator", device.key))
