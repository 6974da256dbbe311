"""Launches the judge's kernels (``judge.gpu.kernels``) from the runner.

The kernels are prepared once, and nothing here waits for them. Blocking kernels run on the legacy default stream; all
others on a stream of the judge's own, whose attributes no submission sets (an access policy window would keep the
inputs that they make in the L2). It waits for the legacy default stream, and that one for it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from typing import Any

import pycuda.driver as cuda

from judge.runner.device import Placed
from judge.wire.bursts import GUARD_BYTES
from judge.wire.digest import DIGEST_BYTES
from judge.wire.kernel_abi import ARGUMENTS, Launch, digest_launches, is_planted, piece_launch, recipe_launch

_GUARD_THREADS = 512
_SWEEP_THREADS = 512
_BLOCKING_THREADS = 256
_UNTIL_BYTES = 8
#: CU_STREAM_NON_BLOCKING.
_NON_BLOCKING = 1

#: The arguments of the kernels that the runner alone launches.
_ARGUMENTS = {
    "write_guards": "PQIQ",
    "check_guards": "PQIQP",
    "sweep": "PQ",
    "hold": "QPQ",
    "wait": "QP",
    "hold_longer": "QQPPQ",
}


class Kernels:
    """Needs a current context; addresses are plain numbers. ``found`` is the address of a buffer's flags."""

    def __init__(self, path: str, device: cuda.Device) -> None:
        self._module = cuda.module_from_file(path)
        self._multiprocessors = device.get_attribute(cuda.device_attribute.MULTIPROCESSOR_COUNT)
        self._threads = device.get_attribute(cuda.device_attribute.MAX_THREADS_PER_MULTIPROCESSOR)
        self._until = cuda.mem_alloc(_UNTIL_BYTES)
        self._beside = cuda.Stream(_NON_BLOCKING)
        self._stream = cuda.Stream()
        #: The keys of the guard bands, by the address of their buffer.
        self._guard_keys: dict[int, int] = {}
        self._last_guard_key = int.from_bytes(os.urandom(8))
        self._functions: dict[str, Any] = {}
        for name, arguments in {**ARGUMENTS, **_ARGUMENTS}.items():
            self._functions[name] = self._module.get_function(name)
            self._functions[name].prepare(arguments)

    def make(self, placed: Placed) -> None:
        """Fills the buffer by its recipe."""
        self._recipe("make", placed, 0)
        if placed.recipe is not None and is_planted(placed.recipe):
            self._recipe("plant", placed, 0)

    def compare(self, placed: Placed, found: int) -> None:
        """Sets flag 4 if the buffer differs from what its recipe makes; destroys its contents."""
        if placed.recipe is not None and is_planted(placed.recipe):
            self._recipe("unplant", placed, found)
        self._recipe("compare", placed, found)

    def write_guards(self, address: int, size: int) -> None:
        """Fills the guard bands of a buffer with what no other buffer's bands hold, nor these the last time."""
        self._last_guard_key = (self._last_guard_key + 1) % 2**64
        self._guard_keys[address] = self._last_guard_key
        arguments = (address, size, GUARD_BYTES, self._last_guard_key)
        self._launch(Launch("write_guards", 2, _GUARD_THREADS, arguments))

    def check_guards(self, address: int, size: int, found: int) -> None:
        """Sets flag 1 or 2 if the guard band before or behind the buffer is not as ``write_guards`` left it."""
        key = self._guard_keys.get(address, 0)
        self._launch(Launch("check_guards", 2, _GUARD_THREADS, (address, size, GUARD_BYTES, key, found)))

    def digest(self, address: int, size: int, scratch: int, out: int) -> None:
        """Computes the tree digest of ``judge.wire.digest``; ``scratch`` has room for all levels but the last."""
        free = scratch

        def place(level: int) -> int:
            nonlocal free
            free, at = free + level, free
            return out if level == DIGEST_BYTES else at

        for launch in digest_launches(address, size, place):
            self._launch(launch)

    def piece_digests(self, address: int, size: int, out: int) -> None:
        """Computes the first level of the tree digest."""
        self._launch(piece_launch(address, size, out))

    def sweep(self, address: int, size: int) -> None:
        """Reads all of a zeroed buffer."""
        self._launch(Launch("sweep", 2 * self._multiprocessors, _SWEEP_THREADS, (address, size // 16)))

    def prepare_blocking(self, seconds: float, address: int, size: int) -> Callable[[], None]:
        """Returns the launch of a blocking kernel, which occupies the whole device for ``seconds``.

        Meanwhile no other kernel starts, on whatever stream. Copy engines go on: so it keeps reading the zeroed buffer
        at ``address``, which drives out of the L2 what they bring there.
        """
        return functools.partial(
            self._functions["hold"].prepared_call,
            self._blocking_grid,
            (_BLOCKING_THREADS, 1, 1),
            round(seconds * 1e9),
            address,
            size // 16,
        )

    def prepare_longer_blocking(self, seconds: float, longer_s: float, address: int, size: int) -> Callable[[], None]:
        """Returns the launches of blocking kernels for programs with streams of their own.

        The default stream goes on after ``seconds``, all others ``longer_s`` later. Call ``reset_blocking`` before
        each. The buffer is read as by ``prepare_blocking``.
        """
        block = (_BLOCKING_THREADS, 1, 1)
        nanoseconds, until = round(seconds * 1e9), int(self._until)
        wait = functools.partial(self._functions["wait"].prepared_call, (1, 1), block, nanoseconds, until)
        # One block more than fits beside the waiting one: it starts when that one ends.
        hold = functools.partial(
            self._functions["hold_longer"].prepared_async_call,
            self._blocking_grid,
            block,
            self._beside,
            round(longer_s * 1e9),
            4 * nanoseconds,
            until,
            address,
            size // 16,
        )

        def both() -> None:
            wait()
            hold()

        return both

    def reset_blocking(self) -> None:
        """Forgets when the last blocking kernel ended."""
        cuda.memset_d8(self._until, 0, _UNTIL_BYTES)

    @property
    def _blocking_grid(self) -> tuple[int, int]:
        """The blocks of a blocking kernel that fit on the device at a time."""
        return self._multiprocessors * (self._threads // _BLOCKING_THREADS), 1

    def _recipe(self, work: str, placed: Placed, found: int) -> None:
        buffer, recipe = placed.buffer, placed.recipe
        if recipe is None or not buffer.size:
            return
        beside = placed.beside.address if placed.beside is not None else 0
        self._launch(
            recipe_launch(
                work,
                recipe,
                buffer.address,
                buffer.size,
                multiprocessors=self._multiprocessors,
                beside=beside,
                found=found,
            )
        )

    def _launch(self, launch: Launch) -> None:
        function, block = self._functions[launch.kernel], (launch.threads, 1, 1)
        function.prepared_async_call((launch.blocks, 1), block, self._stream, *launch.arguments)
