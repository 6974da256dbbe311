"""Stores the devices that workers offer. Each worker updates its device's row while it runs."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

from sqlalchemy import case, func, select
from sqlalchemy.orm import Session

from judge.gpu.calibration import Calibration
from judge.judgement import DeviceInfo
from store.clock import utc_now
from store.models import Device, DeviceBoard, DeviceCalibration, Job, State
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


def all_devices(session: Session) -> Sequence[Device]:
    """Returns every device that a worker ever offered, ordered by key."""
    return session.scalars(select(Device).order_by(Device.key)).all()


def record_board(
    session: Session, device: DeviceInfo, board: str, *, problem: str, calibration: Calibration | None, now: datetime
) -> None:
    """Records how a board of the device is: why it is out of service (empty: it is in service), and its calibration.

    A calibration that is known already is not recorded again. Does nothing before the device itself is recorded.
    """
    if session.get(Device, device.key) is None:
        return
    known = session.get(DeviceBoard, (device.key, board))
    since = None if not problem else known.problem_since if known and known.problem_since else now
    seen = {
        "driver": str(device.details.get("driver", ""))[:64],
        "last_seen_at": now,
        "problem": problem or None,
        "problem_since": since,
    }
    key = {"device_key": device.key, "board": board}
    session.execute(upsert(session, DeviceBoard, {**key, **seen}, list(key), set(seen)))
    if calibration is None:
        return
    measured_at = datetime.fromisoformat(calibration.date)
    values = {
        **key,
        "measured_at": measured_at if measured_at.tzinfo else measured_at.replace(tzinfo=UTC),
        "driver": calibration.driver[:64],
        "read_bytes_per_s": calibration.read_bytes_per_s,
        "copy_bytes_per_s": calibration.copy_bytes_per_s,
        "rates": dict(calibration.rates),
    }
    unique = ["device_key", "board", "measured_at"]
    session.execute(upsert(session, DeviceCalibration, values, unique, set()))


def list_device_boards(session: Session, key: str) -> Sequence[DeviceBoard]:
    """Returns the boards of a device that a worker ever watched."""
    return session.scalars(select(DeviceBoard).where(DeviceBoard.device_key == key).order_by(DeviceBoard.board)).all()


def list_calibrations(session: Session, key: str, *, limit: int = 200) -> list[DeviceCalibration]:
    """Returns the latest calibrations of a device's boards, the oldest first."""
    own = select(DeviceCalibration).where(DeviceCalibration.device_key == key)
    latest = own.order_by(DeviceCalibration.measured_at.desc(), DeviceCalibration.id.desc()).limit(limit)
    return list(reversed(session.scalars(latest).all()))


def count_work(session: Session) -> dict[str, tuple[int, int]]:
    """Returns how many jobs run on each device and how many wait for it, by key; a device without any is left out."""
    running = func.sum(case((Job.state == State.RUNNING, 1), else_=0))
    counted = select(Job.device_key, running, func.count() - running)
    counted = counted.where(Job.state.in_([State.QUEUED, State.BUILDING, State.BUILT, State.RUNNING]))
    return {row[0]: (int(row[1]), int(row[2])) for row in session.execute(counted.group_by(Job.device_key))}


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
