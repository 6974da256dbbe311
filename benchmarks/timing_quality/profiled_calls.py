"""Calls ``solve`` under Nsight Compute: what ``benchmarks.timing_quality.profiler`` has ``ncu`` run.

``python -m benchmarks.timing_quality.profiled_calls LIBRARY PACK COUNT KERNELS`` calls ``solve`` of a built library on
inputs of the benchmark case, in this process and without the jail: only for kernels of our own.
"""

from __future__ import annotations

import itertools
import mmap
import os
import random
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pycuda.driver as cuda

from judge.bench.timing.call_maker import CallMaker
from judge.bench.timing.schedule import PlannedBurst, Purpose, Schedule
from judge.packs.collection.loader import load_pack
from judge.packs.collection.pool import SecretPool
from judge.packs.data.drawing import Drawing
from judge.runner.cuda.device import CudaDevice
from judge.runner.memory import SharedMemory
from judge.runner.reservation import Reservation
from judge.runner.submission import Submission
from judge.runner.timing import TimedCalls
from judge.supervisor.factory import BURST_OUTPUT_BYTES
from judge.supervisor.layout import argument_specs
from judge.wire.bursts import PieceRequest, PlaceRequest

#: What the schedule is told: the warm-up is over, and calls are short enough for the largest bursts.
_ELAPSED_S, _CALL_S = 1.0, 1e-3


class _ProfiledDevice(CudaDevice):
    """Profiles each call instead of timing it."""

    def make_call(self, call: Callable[[], None]) -> None:
        cuda.start_profiler()
        call()
        cuda.Context.synchronize()
        cuda.stop_profiler()


def call_solve(library: Path, pack_folder: Path, count: int, kernels: str) -> None:
    """Makes ``count`` profiled calls of ``solve`` as the judge makes timed ones, in this process.

    What a kernel finds is part of its time: where its buffers lie decides how fast atomics on one address are, and it
    matters that its inputs were just written. So both come from the judge's own schedule and runner.
    """
    pack = load_pack(pack_folder)
    case = pack.benchmarks_for("cuda")[0]
    specs = argument_specs(pack.arguments)
    device = _ProfiledDevice(0, kernels)
    maker = CallMaker(pack, case, 1, cuda.Context.get_device().total_memory())
    reserved = maker.reservation()
    room = max(BURST_OUTPUT_BYTES, reserved.pinned)
    outputs = SharedMemory(_anonymous_file(room), room, writable=True)
    reservation = Reservation(device, _drawn_pool(reserved.pool), outputs)
    reservation.reserve(reserved)
    if reserved.pool:
        reservation.fill_pool(PieceRequest(0, 0, reserved.pool))
    with library.open("rb") as file:
        submission = Submission(file.fileno(), specs)
    calls = TimedCalls(device, submission, reservation, outputs, specs)
    planned = ((index, call) for burst in _bursts(maker) for index, call in enumerate(burst.calls))
    for index, call in itertools.islice(planned, count):
        calls.undo()
        calls.place(PlaceRequest(index, maker.timed_call(call, index, {}, pooled=bool(reserved.pool))))
        calls.solve()
        calls.commit()
    device.close()


def _bursts(maker: CallMaker) -> Iterator[PlannedBurst]:
    schedule = Schedule(random.Random(), maker.pack, maker.case, maker.max_calls, 1)
    while True:
        burst = schedule.next_burst(_ELAPSED_S, _CALL_S)
        if burst.purpose is Purpose.TIMED:
            yield burst


def _drawn_pool(size: int) -> SharedMemory:
    file = _anonymous_file(size)
    if size:
        pool = SecretPool.draw(size)
        with mmap.mmap(file, size) as memory:
            Drawing(pool.recipe, size // 4).draw(0, np.frombuffer(memory, np.uint32))
    return SharedMemory(file, size, writable=False)


def _anonymous_file(size: int) -> int:
    file = os.memfd_create("gpujudge-profiler")
    os.ftruncate(file, size)
    return file


if __name__ == "__main__":
    call_solve(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
