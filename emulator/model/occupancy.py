"""Computes how many blocks of a launch a multiprocessor holds at a time."""

from __future__ import annotations

from emulator.model.gpu import Gpu
from records import dataclass

_WARP = 32
#: A warp gets registers in units of this many (CUDA Occupancy Calculator, "Register allocation unit size").
_REGISTER_UNIT = 256
_SHARED_UNIT = 128


@dataclass(frozen=True, slots=True)
class Occupancy:
    """How many ``blocks`` and ``warps`` fit on one multiprocessor.

    ``ratio``: the fraction of the most warps that it can hold. ``limiter``: the resource that runs out
    first: ``threads``, ``blocks``, ``registers`` or ``shared memory``.
    """

    blocks: int
    warps: int
    ratio: float
    limiter: str


def occupancy_of(gpu: Gpu, threads: int, registers: int, shared_bytes: int) -> Occupancy:
    """Returns the occupancy for blocks of ``threads`` threads.

    ``registers`` are those of a thread; ``shared_bytes`` those of a block, static and dynamic. At least one block fits:
    the launch did run in the emulator.
    """
    limits = gpu.limits
    warps = -(-max(threads, 1) // _WARP)
    registers_of_warp = -(-max(registers, 1) * _WARP // _REGISTER_UNIT) * _REGISTER_UNIT
    shared = -(-(shared_bytes + limits.reserved_shared_bytes) // _SHARED_UNIT) * _SHARED_UNIT
    fits = {
        "threads": limits.threads // _WARP // warps,
        "blocks": limits.blocks,
        "registers": limits.registers // registers_of_warp // warps,
        "shared memory": limits.shared_bytes // shared if shared else limits.blocks,
    }
    limiter = min(fits, key=lambda what: fits[what])
    blocks = max(1, fits[limiter])
    return Occupancy(blocks, blocks * warps, min(1.0, blocks * warps * _WARP / limits.threads), limiter)
