"""The kernels of ``peaks.cu``: how much arithmetic each does, its operands, and on which GPUs it reaches the peak.

The figures mirror the constants of the kernels; a test counts on the emulator what they really execute.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Words = npt.NDArray[Any]

_CHAINS, _STEPS = 8, 16
_TILES_A, _TILES_B = 2, 4
_WARP_GROUPS, _SLICES = 2, 4


@dataclass(frozen=True, slots=True)
class Peak:
    """One kernel: ``kernel(operands, results, rounds)`` in blocks of ``threads``.

    A block makes ``first + rounds * each`` operations (a multiply-add is two) on ``operand_count`` elements of the
    arithmetic type, the same for every block, and needs ``shared_bytes`` of dynamic shared memory.
    """

    kernel: str
    arithmetic: str
    threads: int
    first: int
    each: int
    operand_count: int
    result_bytes: int
    shared_bytes: int = 0
    least: tuple[int, int] = (5, 0)
    only: int = 0

    def operations(self, blocks: int, rounds: int) -> int:
        return blocks * (self.first + rounds * self.each)

    def runs_on(self, capability: tuple[int, int]) -> bool:
        """Returns whether a GPU of this compute capability has the instruction."""
        return capability >= self.least and self.only in (0, capability[0])

    def operands(self, rng: np.random.Generator) -> Words:
        """Returns random operands, in the form in which the kernel reads them."""
        return _MAKERS[self.arithmetic](rng, self.operand_count)


def _fma(arithmetic: str, threads: int = 512) -> Peak:
    each = 2 * _CHAINS * _STEPS * threads
    size = 8 if arithmetic == "fp64" else 4
    return Peak(f"fma_{arithmetic}", arithmetic, threads, 0, each, _CHAINS * threads, size * threads)


def _mma(
    kernel: str, arithmetic: str, shape: tuple[int, int, int], result_words: int, least: tuple[int, int] = (8, 0)
) -> Peak:
    """Returns the facts of a matrix kernel: ``shape`` is m, n, k; ``result_words`` are a lane's sums."""
    threads = 256
    m, n, k = shape
    warps, tiles = threads // 32, _TILES_A * _TILES_B
    pass_ = 2 * m * n * k * tiles * warps
    operands = (_TILES_A * m * k + _TILES_B * k * n) * warps
    return Peak(
        kernel, arithmetic, threads, pass_, 2 * pass_, operands, 4 * result_words * tiles * threads, least=least
    )


def _wgmma(arithmetic: str, k: int) -> Peak:
    rows, columns = 64, 256
    pass_ = 2 * rows * columns * k * _SLICES * _WARP_GROUPS
    operands = (_WARP_GROUPS * rows + columns) * k * _SLICES
    shared = (_WARP_GROUPS * rows + columns) * 32 * _SLICES
    return Peak(
        f"wgmma_{arithmetic}",
        arithmetic,
        128 * _WARP_GROUPS,
        pass_,
        2 * pass_,
        operands,
        4 * 128 * 128 * _WARP_GROUPS,
        shared_bytes=shared,
        least=(9, 0),
        only=9,
    )


PEAKS = (
    _fma("fp32"),
    _fma("fp64"),
    _mma("mma_fp64", "fp64", (8, 8, 4), 4),
    _mma("mma_fp64_large", "fp64", (16, 8, 16), 8, least=(9, 0)),
    _mma("mma_tf32", "tf32", (16, 8, 8), 4),
    _mma("mma_fp16", "fp16", (16, 8, 16), 4),
    _mma("mma_fp16_sums", "fp16", (16, 8, 16), 2),
    _mma("mma_bf16", "bf16", (16, 8, 16), 4),
    _mma("mma_int8", "int8", (16, 8, 32), 4),
    _wgmma("tf32", 8),
    _wgmma("fp16", 16),
    _wgmma("bf16", 16),
    _wgmma("int8", 32),
)

_MATRIX = ("tf32", "fp16", "bf16", "int8")


def peaks_for(capability: tuple[int, int]) -> tuple[Peak, ...]:
    """Returns the kernels that run on a GPU of this compute capability."""
    return tuple(peak for peak in PEAKS if peak.runs_on(capability))


def incomplete_for(capability: tuple[int, int]) -> tuple[str, ...]:
    """Returns the arithmetic types whose fastest instruction none of these kernels uses.

    ``mma.sync`` is the fastest of compute capability 8.x and 12.x, ``wgmma`` that of 9.0. 10.x and 11.x have
    ``tcgen05``; later ones are unknown.
    """
    return () if capability[0] in (7, 8, 9, 12) else _MATRIX


def _uniform(dtype: type[np.floating[Any]]) -> Callable[[np.random.Generator, int], Words]:
    return lambda rng, count: rng.uniform(-0.99, 0.99, count).astype(dtype)


def _bf16(rng: np.random.Generator, count: int) -> Words:
    return (_uniform(np.float32)(rng, count).view(np.uint32) >> 16).astype(np.uint16)


def _tf32(rng: np.random.Generator, count: int) -> Words:
    return (_uniform(np.float32)(rng, count).view(np.uint32) & 0xFFFFE000).view(np.float32)


_MAKERS: dict[str, Callable[[np.random.Generator, int], Words]] = {
    "fp32": _uniform(np.float32),
    "fp64": _uniform(np.float64),
    "tf32": _tf32,
    "fp16": _uniform(np.float16),
    "bf16": _bf16,
    "int8": lambda rng, count: rng.integers(-127, 128, count).astype(np.int8),
}
