"""Devices on both databases: their boards, why one is out of service, and calibrations over time."""

from __future__ import annotations

import dataclasses
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy.orm import Session, sessionmaker

from judge.gpu.calibration import Calibration
from judge.judgement import DeviceInfo
from store.devices import all_devices, count_work, list_calibrations, list_device_boards, record_board, upsert_device
from store.models import User
from store.queue.jobs import LeaseRules, Stage, claim_job
from store.submissions import create_submission
from tests.fake_judge import FakePack
from tests.web_site import H200

T0 = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
DEVICE = DeviceInfo(H200.key, "cuda", "NVIDIA H200", "9.0", {"driver": "550.1"})
MEASURED = Calibration("a", "NVIDIA H200", "550.1", "2026-01-02T03:00:00+00:00", 4.1e12, 3.9e12, {"fp32": 6e13})


def test_a_problem_has_its_beginning_and_its_end(sessions: sessionmaker[Session]) -> None:
    with sessions.begin() as session:
        record_board(session, DEVICE, "a", problem="", calibration=None, now=T0)
        assert list_device_boards(session, DEVICE.key) == []  # before the device itself
        upsert_device(session, DEVICE, now=T0)
    seen = []
    for minutes, problem in enumerate(["", "it stays busy", "Xid 79", ""]):
        with sessions.begin() as session:
            now = T0 + timedelta(minutes=minutes)
            record_board(session, DEVICE, "a", problem=problem, calibration=None, now=now)
        with sessions.begin() as session:
            (board,) = list_device_boards(session, DEVICE.key)
            assert (board.driver, board.last_seen_at) == ("550.1", now)
            seen.append((board.problem, board.problem_since))
    since = T0 + timedelta(minutes=1)
    assert seen == [(None, None), ("it stays busy", since), ("Xid 79", since), (None, None)]


def test_each_calibration_is_kept_once(sessions: sessionmaker[Session]) -> None:
    later = dataclasses.replace(MEASURED, date="2026-01-03T03:00:00+00:00", read_bytes_per_s=4.0e12)
    with sessions.begin() as session:
        upsert_device(session, DEVICE, now=T0)
        for board, calibration in (("a", later), ("a", MEASURED), ("a", MEASURED), ("b", MEASURED)):
            record_board(session, DEVICE, board, problem="", calibration=calibration, now=T0)
    with sessions.begin() as session:
        found = list_calibrations(session, DEVICE.key)
        assert [(one.board, one.measured_at.day, one.read_bytes_per_s) for one in found] == [
            ("a", 2, 4.1e12),
            ("b", 2, 4.1e12),
            ("a", 3, 4.0e12),
        ]
        assert found[0].rates == {"fp32": 6e13}
        assert [one.measured_at.day for one in list_calibrations(session, DEVICE.key, limit=1)] == [3]
        assert list_calibrations(session, "emulator") == []


@pytest.mark.parametrize("running", [0, 1])
def test_work_is_counted_by_device(sessions: sessionmaker[Session], ada: User, running: int) -> None:
    with sessions.begin() as session:
        for key in ("emulator", "emulator", H200.key):
            create_submission(
                session,
                user=session.get_one(User, ada.id),
                pack=FakePack(),
                device_key=key,
                mode="run",
                source="",
                now=T0,
            )
        rules = LeaseRules()
        for _ in range(running):
            lease = claim_job(session, Stage.BUILD, owner="w", now=T0, rules=rules, device_key=H200.key)
            assert lease is not None
    with sessions.begin() as session:
        # What is built still waits for its device.
        assert count_work(session) == {"emulator": (0, 2), H200.key: (0, 1)}
        assert all_devices(session) == []
