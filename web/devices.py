"""The devices that users can choose, for the pages and the API."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from sqlalchemy.orm import Session

from judge.kinds import KINDS
from store.clock import Clock
from store.devices import list_devices
from store.settings import Settings

#: Devices seen within the last week can still be chosen: their workers are expected back.
REMEMBERED_S = 7 * 86400.0


@dataclass(frozen=True, slots=True)
class DeviceChoice:
    """A device. ``online``: its worker reported recently, and no operator holds it. Submissions to another wait."""

    key: str
    kind: str
    name: str
    compute_capability: str
    online: bool


def device_choices(session: Session, settings: Settings, clock: Clock) -> list[DeviceChoice]:
    """Returns the devices seen within a week: online ones first, real ones before the emulator, then by key."""
    now = clock()
    recent = now - timedelta(seconds=settings.device_seen_s)
    choices = [
        DeviceChoice(
            key=device.key,
            kind=device.kind,
            name=device.name,
            compute_capability=device.compute_capability,
            online=device.last_seen_at >= recent and device.held is None,
        )
        for device in list_devices(session, now=now, recent_s=REMEMBERED_S)
    ]
    return sorted(choices, key=lambda device: (not device.online, not KINDS[device.kind].is_real, device.key))
