"""API endpoints for operators: the queue, and devices with their boards."""

from __future__ import annotations

from sqlalchemy.orm import Session

from store.boards.rechecks import failed_rechecks, recheck_figures
from store.devices import all_devices, count_work, list_calibrations, list_device_boards
from store.models import Device
from store.operation.administration import hold_device, release_device
from store.queue.queue_listing import list_queue
from web.admin.devices import find_device
from web.api.admin import schemas
from web.api.admin.acting import TAG, acting
from web.api.auth import admin_token_required
from web.api.spec import operation
from web.services import reader, services


@admin_token_required
@operation(schemas.Queue, tag=TAG)
def admin_get_queue() -> schemas.Queue:
    """Lists what runs and what waits."""
    checks = recheck_figures(reader(), now=services().clock())
    return schemas.Queue(
        jobs=[
            schemas.QueuedJob(
                id=job.public_id,
                user=job.username,
                challenge=job.challenge,
                device=job.device_key,
                mode=job.mode,
                state=job.state,
                created_at=job.created_at,
                since=job.since,
                worker=job.worker,
                last_error=job.last_error,
                failed=job.failed,
            )
            for job in list_queue(reader())
        ],
        rechecks=schemas.Rechecks(
            waiting=checks.waiting,
            running=checks.running,
            oldest_wait_s=checks.oldest_wait_s,
            failed=[
                schemas.FailedRecheck(
                    challenge=one.challenge, submission=one.public_id, last_error=one.last_error, is_over=one.is_over
                )
                for one in failed_rechecks(reader())
            ],
        ),
    )


@admin_token_required
@operation(schemas.OperatedDeviceList, tag=TAG)
def admin_list_devices() -> schemas.OperatedDeviceList:
    """Lists the devices that a worker ever offered, and why one is held or a board of it out of service."""
    return schemas.OperatedDeviceList(devices=[_device(reader(), device) for device in all_devices(reader())])


@admin_token_required
@operation(schemas.CalibrationList, 404, tag=TAG)
def admin_list_calibrations(key: str) -> schemas.CalibrationList:
    """Lists what the boards of a device were measured to be able to do, over time."""
    find_device(reader(), key)
    rows = [
        schemas.Calibration(
            board=row.board,
            measured_at=row.measured_at,
            driver=row.driver,
            read_bytes_per_s=row.read_bytes_per_s,
            copy_bytes_per_s=row.copy_bytes_per_s,
            rates=row.rates,
        )
        for row in list_calibrations(reader(), key)
    ]
    return schemas.CalibrationList(calibrations=rows)


@admin_token_required
@operation(schemas.OperatedDevice, 400, 404, 409, 413, 415, 422, tag=TAG)
def admin_hold_device(key: str, json: schemas.Reason) -> schemas.OperatedDevice:
    """Lets a device finish what runs and take nothing new."""
    with acting() as (writer, actor):
        device = find_device(writer, key)
        hold_device(writer, actor, device, json.reason, now=services().clock())
        return _device(writer, device)


@admin_token_required
@operation(schemas.OperatedDevice, 404, tag=TAG)
def admin_release_device(key: str) -> schemas.OperatedDevice:
    """Lets a held device take work again."""
    with acting() as (writer, actor):
        device = find_device(writer, key)
        release_device(writer, actor, device, now=services().clock())
        return _device(writer, device)


def _device(session: Session, device: Device) -> schemas.OperatedDevice:
    running, waiting = count_work(session).get(device.key, (0, 0))
    boards = [
        schemas.OperatedBoard(
            board=row.board,
            driver=row.driver,
            last_seen_at=row.last_seen_at,
            problem=row.problem,
            problem_since=row.problem_since,
        )
        for row in list_device_boards(session, device.key)
    ]
    return schemas.OperatedDevice(
        key=device.key,
        kind=device.kind,
        name=device.name,
        compute_capability=device.compute_capability,
        last_seen_at=device.last_seen_at,
        judging_s=device.judging_s,
        held=device.held,
        running=running,
        waiting=waiting,
        boards=boards,
    )
