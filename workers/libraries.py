"""Times libraries for boards of this worker's device, when it has nothing else to do."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import structlog
from sqlalchemy.orm import Session

from judge.bench.library.record import LibraryTime, holds_for, versions
from judge.errors import Cancelled, InternalError
from judge.gpu.calibration import device_hash
from judge.judgement import DeviceInfo
from judge.libraries import why_no_libraries
from judge.packs.pack import Pack
from store.boards.board_key import BoardKey
from store.boards.cards import TimedOnCard, record_card_times
from store.boards.libraries import boards_with_times, record_library_times
from workers.context import WorkerContext
from workers.gpu import DeviceService

log = structlog.get_logger(__name__)

_installed = functools.cache(versions)


def time_libraries_one(context: WorkerContext, device: DeviceInfo, service: DeviceService) -> bool:
    """Times the libraries of one board that somebody is on, where none hold that are known.

    They are timed again when the pack, the card, the driver or a library is another one. What cannot be timed is
    recorded with its reason, so that it is not tried again until then. Returns False if there is nothing to do.
    """
    if not _installed():
        return False
    with context.reads() as session:
        boards = boards_with_times(session, device.key)
    packs = context.packs.load() if boards else {}
    for (challenge, major), known in sorted(boards.items()):
        pack = packs.get(challenge)
        if pack is None or pack.major != major or why_no_libraries(pack, device):
            continue
        if known != holds_for(pack, device, _installed()):
            return _time(context, pack, device, service)
    return False


def record_libraries(context: WorkerContext, pack: Pack, device: DeviceInfo, times: Sequence[LibraryTime]) -> None:
    """Writes the times of a pack's libraries on a device."""
    digest = holds_for(pack, device, _installed())

    def record(session: Session) -> None:
        now = context.clock()
        record_library_times(session, pack.slug, device.key, pack.major, times, holds_for=digest, now=now)
        board = BoardKey(pack.slug, device.key, pack.major)
        record_card_times(session, board, device_hash(device), libraries_on_card(times), now=now)

    context.persist(record)


def libraries_on_card(times: Sequence[LibraryTime]) -> list[TimedOnCard]:
    """Returns the times of libraries as those of one card."""
    return [TimedOnCard(each.name, each.value, each.low, each.high) for each in times if each.is_timed]


def _time(context: WorkerContext, pack: Pack, device: DeviceInfo, service: DeviceService) -> bool:
    with structlog.contextvars.bound_contextvars(libraries=pack.slug):
        try:
            with service.job():
                times = context.judge.library_times(pack, device, cancelled=context.stopping.is_set)
        except Cancelled:
            return False
        except InternalError as error:
            log.warning("libraries.failed", error=str(error))
            times = [
                LibraryTime(each.name, each.library, each.conditions, problem=str(error), versions=_installed())
                for each in pack.baselines.calls
            ]
        for each in times:
            if each.problem:
                log.warning("libraries.refused", problem=each.problem)
        record_libraries(context, pack, device, times)
        log.info("libraries.done", timed=[each.library for each in times if each.is_timed])
    return True
