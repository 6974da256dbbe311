"""Begins the part of a submission's timing that does not depend on it, while the submission is still built.

Starting a process takes a GPU half a second, and filling its pool with secret numbers as long again; the oracle imports
CuPy and rehearses. All of that loads processors and the GPU, which disturbs neither a compiler nor functional cases.
"""

from __future__ import annotations

import contextlib
import importlib.util
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from judge.bench.conditions import HostLoad
from judge.bench.oracle.oracle import ANSWER_S, LEAST_MEMORY_BYTES, Oracle
from judge.bench.oracle.process import SpareProcess
from judge.bench.oracle.questions import Begin
from judge.bench.statistics import PROCESSES
from judge.bench.timing.call_maker import CallMaker, reservation
from judge.bench.timing.null_kernel import CALLS, null_kernel_factory
from judge.bench.timing.sampling import opened_call_count
from judge.gpu.calibration import device_hash
from judge.judgement import DeviceInfo
from judge.packs.data.inputs import input_recipes
from judge.packs.isolation.shared_array import SharedRooms
from judge.packs.pack import Case, Pack
from judge.packs.sizes import buffer_bytes, case_bytes
from judge.settings import JudgeSettings
from judge.supervisor.factory import SessionFactory
from judge.supervisor.session import Session
from judge.wire.bursts import ReserveRequest

#: Sessions are started ahead where the device has this many times the memory that one reserves: submissions need the
#: rest, and the null kernel's own processes come on top when it was not timed before.
_ROOM = 16


class TimingAhead:
    """Processes that start and reserve their memory in the background, and the oracle.

    ``close`` ends what was not taken. Make it in a thread that outlives them. Raises InternalError and RunnerEnded.
    """

    def __init__(
        self, pack: Pack, cases: Sequence[Case], device: DeviceInfo, factory: SessionFactory, oracle: Oracle | None
    ) -> None:
        #: What the machine's processors do from now on.
        self.load = HostLoad()
        self.oracle = oracle
        self.rooms = SharedRooms()
        memory_bytes = int(device.details.get("memory_bytes") or 0)
        makers = [CallMaker(pack, case, 0, memory_bytes) for case in cases]
        self._whole, self._null = reservation(makers), reservation(makers, CALLS)
        self._threads = ThreadPoolExecutor(PROCESSES + 1, thread_name_prefix="reserve-ahead")
        for maker in makers:
            self._threads.submit(_prepare_rooms, self.rooms, maker)
        self._sessions: list[Session] = []
        self._null_sessions: list[Session] = []
        if memory_bytes < _ROOM * _bytes_of(self._whole):
            return
        try:
            self._begin(self._null_sessions, null_kernel_factory(factory), self._null, 1)
            self._begin(self._sessions, factory, self._whole, PROCESSES)
        except BaseException:
            self.close()
            raise

    def take(self, factory: SessionFactory) -> Session:
        """Returns a session for the submission, with its memory reserved or being reserved if one is left."""
        return _take(self._sessions, factory)

    def take_null(self, factory: SessionFactory) -> Session:
        """Returns a session for the null kernel likewise."""
        return _take(self._null_sessions, factory)

    def close(self) -> None:
        """Ends all that nobody took, and the oracle. Idempotent."""
        left = [*self._sessions, *self._null_sessions]
        self._sessions.clear()
        self._null_sessions.clear()
        with contextlib.ExitStack() as ending:
            if self.oracle is not None:
                ending.callback(self.oracle.close)
            ending.callback(self._threads.shutdown)
            for session in left:
                ending.callback(session.finish)

    def _begin(self, sessions: list[Session], factory: SessionFactory, request: ReserveRequest, count: int) -> None:
        for _ in range(count):
            sessions.append(session := factory.start())
            session.reserve_ahead(request, self._threads)


def _take(sessions: list[Session], factory: SessionFactory) -> Session:
    if not sessions:
        return factory.start()
    session = sessions.pop(0)
    session.adopt(factory.submission, factory.bounds)
    return session


def _prepare_rooms(rooms: SharedRooms, maker: CallMaker) -> None:
    """Makes memory for the outputs that one process opens, if they are large."""
    count = opened_call_count(maker.input_bytes + maker.output_bytes)
    if count is not None:
        for output in maker.pack.outputs:
            rooms.prepare(buffer_bytes(maker.case, output), count)


def _bytes_of(request: ReserveRequest) -> int:
    return sum(request.rooms) + request.staged + request.pool


def start_oracle(
    pack: Pack,
    device: DeviceInfo,
    settings: JudgeSettings,
    build_kernels: Callable[[], Path],
    *,
    answer_s: float = ANSWER_S,
) -> Oracle | None:
    """Starts the oracle of a pack on a GPU; None where that has too little memory. Raises what ``build_kernels`` does.

    ``build_kernels`` returns the judge's own kernels, compiled for the GPU. An answer may take ``answer_s``.
    """
    if not _has_room(device):
        return None
    small = [case for case in pack.cases_for(device.kind) if case.group != "benchmark"]
    rehearsal = min(small, key=lambda case: case_bytes(pack, case), default=None)
    # Drawing a benchmark's inputs takes the host seconds.
    benchmarks = pack.benchmarks_for(device.kind)
    drawn = [case for case in benchmarks if None not in input_recipes(pack, case, 0).values()]
    folder = _folder(settings, device, pack.digest[:24])
    begin = Begin(pack, build_kernels(), _ordinal(device), rehearsal, folder, next(iter(drawn), None))
    return Oracle(begin, answer_s=answer_s)


def spare_oracle(device: DeviceInfo, settings: JudgeSettings) -> SpareProcess:
    """Returns the keeper of a process for the next oracle on a GPU that has one."""
    return SpareProcess(_ordinal(device), _folder(settings, device, "opening"))


def has_oracle(device: DeviceInfo) -> bool:
    """Returns whether outputs can be checked on the GPU: it has room, and CuPy is installed."""
    return _has_room(device) and importlib.util.find_spec("cupy") is not None


def _has_room(device: DeviceInfo) -> bool:
    return int(device.details.get("memory_bytes") or 0) >= LEAST_MEMORY_BYTES


def _ordinal(device: DeviceInfo) -> int:
    return int(device.details.get("ordinal", 0))


def _folder(settings: JudgeSettings, device: DeviceInfo, name: str) -> Path:
    return settings.data_dir / "oracle" / f"{device_hash(device)}-{name}"
