"""A worker reports that its device is there, and how its board is."""

from __future__ import annotations

import dataclasses

from judge.gpu.calibration import Calibration
from store.devices import list_calibrations, list_device_boards
from store.models import Device
from tests.fake_judge import EMULATOR, FakeJudge, FakePack
from tests.integration.workers.conftest import MakeFleet
from tests.unit.workers.test_gpu import FakeHealth
from workers.context import make_context
from workers.device import Presence
from workers.gpu import DeviceService


def test_a_board_out_of_service_is_reported_and_its_device_is_not(make_fleet: MakeFleet) -> None:
    fleet, pack, health = make_fleet(), FakePack(), FakeHealth()
    context = make_context(fleet.settings, judge=FakeJudge(fleet.diary), packs={pack.slug: pack})  # type: ignore[dict-item]
    device = dataclasses.replace(EMULATOR, details={"uuid_hash": "a" * 16, "driver": "550.1"})
    measured = Calibration("a" * 16, "GPU", "550.1", "2026-01-01T00:00:00+00:00", 4e12, 3e12, {})
    service = DeviceService(health)  # type: ignore[arg-type]
    presence = Presence(context, device, service=service, calibration=lambda: measured)
    presence.announce()
    with context.reads() as session:
        seen = session.get_one(Device, device.key).last_seen_at
        (board,) = list_device_boards(session, device.key)
        assert (board.board, board.problem) == ("a" * 16, None)
        assert len(list_calibrations(session, device.key)) == 1
    health.problem = "Xid 79"
    presence.announce()
    with context.reads() as session:
        assert session.get_one(Device, device.key).last_seen_at == seen
        (board,) = list_device_boards(session, device.key)
        assert board.problem == "Xid 79"
        assert board.last_seen_at > seen
        assert len(list_calibrations(session, device.key)) == 1
    context.doorbell.close()
    context.engine.dispose()
