"""The structures of ``emulator/native/abi.h`` that Python fills in.

A change of one needs the same change of the other. ``warp_context`` has the offsets.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum, IntFlag

from emulator.profile.counters import CLASSES, FLOP_TYPES


class Space(IntEnum):
    """The memory that an access goes to: ``EmuSpace``, and one value of Python's own."""

    GLOBAL = 0
    SHARED = 1
    LOCAL = 2
    CONST = 3
    GENERIC = 4
    PARAM = 5
    #: Only while addresses are resolved: accesses to shared memory of the cluster are generic to the library.
    CLUSTER = 6


class Access(IntEnum):
    """How a site touches memory: ``EmuAccess``; NONE is a trap, an assert or a call, kept for its line."""

    LOAD = 0
    STORE = 1
    ATOMIC = 2
    NONE = 3


class Order(IntFlag):
    """The meaning of an access to other threads, as bits: ``EmuOrder``, with a comment on each."""

    STRONG = 1
    RELEASE = 2
    BLIND = 4
    LATER = 8
    GUESS = 16
    CONSTANT = 32
    SYSTEM = 64
    BLOCK = 128
    READ_ONLY = 256


class AtomicForm(IntFlag):
    """The machine code of an atomic, which decides its cost, as bits: ``EmuAtomicForm``."""

    AWAITED = 1
    FLOAT = 2
    SWAP_LOOP = 4
    COUNT = 8
    ADDS = 16


NO_BLOCK = 0xFFFFFFFF

EXITED = 0x7FFFFFFF
AT_BARRIER = 0x40000000
AT_WARP_SYNC = 0x20000000
HAS_MET = 0x10000000

# WarpContext.mode. MASKED_ONCE: one block at least before going back to the uniform function.
UNIFORM, MASKED, MASKED_ONCE = 0, 1, 2


class EmuLine(ctypes.Structure):
    """A line of the source; ``line`` is 0 when unknown."""

    _fields_ = [("file", ctypes.c_char_p), ("line", ctypes.c_uint32)]


class EmuSharedArray(ctypes.Structure):
    """A variable in shared memory: its offset in the window, and bytes (0: up to the window's end)."""

    _fields_ = [("name", ctypes.c_char_p), ("offset", ctypes.c_uint32), ("size", ctypes.c_uint32)]


class EmuSite(ctypes.Structure):
    """A place in the source that touches memory, traps or calls the runtime: ``artifact.AccessSite``."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint32),
        ("size", ctypes.c_uint8),
        ("order", ctypes.c_uint16),
        ("kind", ctypes.c_uint8),
        ("space", ctypes.c_uint8),
        ("block", ctypes.c_uint32),
        ("atomic_form", ctypes.c_uint32),
        ("shared_begin", ctypes.c_uint32),
        ("shared_end", ctypes.c_uint32),
        ("element_size", ctypes.c_uint32),
        ("copied", ctypes.c_uint32),
    ]


class EmuContent(ctypes.Structure):
    """The part of one basic block that comes from one source line: ``artifact.LineMix``."""

    _fields_ = [
        ("file", ctypes.c_char_p),
        ("line", ctypes.c_uint32),
        ("block", ctypes.c_uint32),
        ("instructions", ctypes.c_uint32 * len(CLASSES)),
        ("flops", ctypes.c_uint32 * len(FLOP_TYPES)),
        ("dependent_steps", ctypes.c_uint32),
        ("dependent_loads", ctypes.c_uint32),
    ]


class EmuKernel(ctypes.Structure):
    """A kernel compiled for one block shape; ``loader`` fills it in, and keeps what its pointers name."""

    _fields_ = [
        ("functions", ctypes.c_void_p * 2),
        ("name", ctypes.c_char_p),
        ("block", ctypes.c_uint32 * 3),
        ("register_bytes", ctypes.c_uint32),
        ("shared_bytes", ctypes.c_uint32),
        ("reserved_shared_bytes", ctypes.c_uint32),
        ("local_bytes", ctypes.c_uint32),
        ("param_bytes", ctypes.c_uint32),
        ("param_count", ctypes.c_uint32),
        ("param_offsets", ctypes.POINTER(ctypes.c_uint32)),
        ("param_sizes", ctypes.POINTER(ctypes.c_uint32)),
        ("site_count", ctypes.c_uint32),
        ("sites", ctypes.POINTER(EmuSite)),
        ("symbols", ctypes.POINTER(ctypes.c_uint64)),
        ("block_lines", ctypes.POINTER(EmuLine)),
        ("shared_arrays", ctypes.POINTER(EmuSharedArray)),
        ("shared_array_count", ctypes.c_uint32),
        ("max_threads", ctypes.c_uint32),
        ("uses_stack", ctypes.c_uint32),
        ("uses_barriers", ctypes.c_uint32),
        ("uses_grid_barrier", ctypes.c_uint32),
        ("block_count", ctypes.c_uint32),
        ("observed", ctypes.c_uint32),
        ("content_count", ctypes.c_uint32),
        ("contents", ctypes.POINTER(EmuContent)),
        ("polling_count", ctypes.c_uint32),
        ("polling", ctypes.POINTER(ctypes.c_uint32)),
        ("live_ends", ctypes.POINTER(ctypes.c_uint32)),
        ("live", ctypes.POINTER(ctypes.c_uint32)),
        ("waiting_count", ctypes.c_uint32),
        ("waiting", ctypes.POINTER(ctypes.c_uint32)),
        ("hot_after", ctypes.c_uint64),
        ("work", ctypes.c_uint64),
    ]
