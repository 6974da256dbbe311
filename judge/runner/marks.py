"""Leaves a mark of how the process ends, for what is told to the author (``judge.wire.last_word``)."""

from __future__ import annotations

import contextlib
import ctypes
import functools
import os
import signal
import time
from collections.abc import Callable
from typing import Any

from judge.wire.last_word import FOUND, MARK_FD

# From linux/prctl.h.
_PR_SET_PDEATHSIG, _PR_SET_DUMPABLE = 1, 4
_libc = ctypes.CDLL(None)
# From bits/sigaction.h.
_SA_RESETHAND = -0x80000000
#: What the parent takes at most, on a busy machine, to see a mark and end the runner.
_PARENT_ENDS_US_S = 1.0


class _SigAction(ctypes.Structure):
    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


def _nothing_found() -> str:
    return ""


_found: Callable[[], str] = _nothing_found


def _tell_what_was_found() -> None:
    with contextlib.suppress(Exception):
        text = " ".join(_found().split())
        if text:
            os.write(2, f"\n{FOUND}{text}\n".encode(errors="replace"))


def _on_exit(code: int, _: Any) -> None:
    _tell_what_was_found()
    try:
        os.eventfd_write(MARK_FD, 1 + (code & 0xFFFFFFFF))
    finally:
        os._exit(code & 0xFF)


def _on_abort(_: int) -> None:
    _tell_what_was_found()


#: Kept for as long as the process lives: the C library has their addresses.
_ON_EXIT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(_on_exit)
_ON_ABORT = ctypes.CFUNCTYPE(None, ctypes.c_int)(_on_abort)


def leave_marks(found: Callable[[], str]) -> None:
    """Has ``exit`` and segmentation faults leave their mark. Handlers that the submission registers run before.

    ``exit`` and ``abort`` print what ``found`` returns, the first thing that the device found wrong, or an empty text:
    a submission that checks errors ends the process before the supervisor can ask.

    ``exit`` must end the process here, before the destructors of libraries abort. The handler of the fault is
    ``eventfd_write(int fd, eventfd_t value)``, given the signal's number and an address: it allocates nothing and takes
    no lock, as is due in a handler. It has no stack of its own, so that none runs after an overflow; then the process
    dies as it would without it.
    """
    global _found
    _found = found
    _libc.on_exit(_ON_EXIT, None)
    _handle(signal.SIGABRT, _ON_ABORT)
    _handle(signal.SIGSEGV, _libc.eventfd_write)


def _handle(number: signal.Signals, handler: Any) -> None:
    """Has ``handler`` run at the first such signal."""
    action = _SigAction(handler=ctypes.cast(handler, ctypes.c_void_p), flags=_SA_RESETHAND)
    _libc.sigaction(int(number), ctypes.byref(action), None)


@functools.cache
def _wait_to_be_ended() -> None:
    time.sleep(_PARENT_ENDS_US_S)


def end_if_marked() -> None:
    """Waits for the parent to end this process if a segmentation fault has left its mark and the process goes on.

    ``raise(SIGSEGV)`` returns after the handler, and a reply would overtake the parent. That the handler is gone says
    so. A submission that has set the default itself waits in vain, once.
    """
    now = _SigAction()
    _libc.sigaction(int(signal.SIGSEGV), None, ctypes.byref(now))
    if not now.handler:
        _wait_to_be_ended()


def close_memory() -> None:
    """Keeps other processes of this user from opening this one's memory."""
    _libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0)


def die_with_parent() -> None:
    """Has the kernel kill this process when its parent ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
