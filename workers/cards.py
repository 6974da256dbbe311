"""Times on this worker's card what another card audited, when there is nothing else to do: so cards are compared."""

from __future__ import annotations

from collections.abc import Sequence

import structlog
from sqlalchemy.orm import Session

from judge.bench.library.record import LibraryTime
from judge.errors import Cancelled, InternalError
from judge.gpu.calibration import device_hash
from judge.judgement import DeviceInfo
from judge.packs.pack import Pack
from judge.verdict import Verdict
from store.boards.audits import find_contenders, is_idle
from store.boards.board_key import BoardKey
from store.boards.cards import TimedOnCard, record_card_times, untimed_kernels
from store.models import Submission
from workers.audit import time_contenders
from workers.context import WorkerContext
from workers.gpu import DeviceService
from workers.libraries import libraries_on_card

log = structlog.get_logger(__name__)


def time_on_card_one(context: WorkerContext, device: DeviceInfo, service: DeviceService) -> bool:
    """Times the audited kernels of one board that have no time on this card. Returns False if there are none.

    No score changes. What is not accepted here is recorded without a time, so that it is not tried again.
    """
    card = device_hash(device)
    with context.reads() as session:
        if not is_idle(session, device.key):
            return False
        kernels = untimed_kernels(session, device.key, card, now=context.clock(), lacking=context.lacking)
        if not kernels:
            return False
        found = find_contenders(session, kernels)
        board = BoardKey.of(session.get_one(Submission, found[0].submission_id))
    times = {each.public_id: TimedOnCard(each.public_id) for each in found}
    with structlog.contextvars.bound_contextvars(card_of=board.challenge):
        try:
            with service.job():
                judged = time_contenders(context, device, board, found, _record_libraries)
        except Cancelled:
            return False
        except InternalError as error:
            log.warning("card.failed", error=str(error))
        else:
            for contender, made in judged.items():
                measured = made.measurement if made.verdict is Verdict.ACCEPTED else None
                if measured is not None:
                    kernel = contender.public_id
                    times[kernel] = TimedOnCard(kernel, measured.value, measured.low, measured.high)
        _record(context, board, card, list(times.values()))
        log.info("card.done", kernels=len(times), timed=sum(each.value is not None for each in times.values()))
    return True


def _record_libraries(context: WorkerContext, pack: Pack, device: DeviceInfo, times: Sequence[LibraryTime]) -> None:
    board = BoardKey(pack.slug, device.key, pack.major)
    _record(context, board, device_hash(device), libraries_on_card(times))


def _record(context: WorkerContext, board: BoardKey, card: str, times: Sequence[TimedOnCard]) -> None:
    def record(session: Session) -> None:
        record_card_times(session, board, card, times, now=context.clock())

    context.persist(record)
