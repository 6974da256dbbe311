"""Leaves a mark of how the process ends, for the message to the author (``judge.wire.last_word``)."""

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
#: Printing what was found takes no longer, in seconds, or a signal ends the process.
_PATIENCE_S = 2
#: What the parent takes at most, on a busy machine, to see a mark and end the runner.
_PARENT_ENDS_US_S = 1.0


class _SigAction(ctypes.Structure):
    _fields_ = (
        ("handler", ctypes.c_void_p),
        ("mask", ctypes.c_ulong * 16),
        ("flags", ctypes.c_int),
        ("restorer", ctypes.c_void_p),
    )


class _LastWords:
    """The device's error, printed where the submission ends the process before the supervisor can ask."""

    def __init__(self) -> None:
        self.find: Callable[[], str] = str
        self.terminate_as_before: Callable[[], None] = os.abort

    def tell(self) -> None:
        # The submission may have damaged what this needs.
        _libc.signal(int(signal.SIGALRM), None)
        _libc.alarm(_PATIENCE_S)
        with contextlib.suppress(Exception):
            text = " ".join(self.find().split())
            if text:
                os.write(2, f"\n{FOUND}{text}\n".encode(errors="replace"))
        _libc.alarm(0)


_last_words = _LastWords()


def _on_exit(code: int, _: Any) -> None:
    try:
        _last_words.tell()
        os.eventfd_write(MARK_FD, 1 + (code & 0xFFFFFFFF))
    finally:
        os._exit(code & 0xFF)


def _on_terminate() -> None:
    _last_words.tell()
    _last_words.terminate_as_before()


#: Kept for as long as the process lives: the C library has their addresses.
_ON_EXIT = ctypes.CFUNCTYPE(None, ctypes.c_int, ctypes.c_void_p)(_on_exit)
_TERMINATE = ctypes.CFUNCTYPE(None)
_ON_TERMINATE = _TERMINATE(_on_terminate)


def leave_marks(find: Callable[[], str]) -> None:
    """Has ``exit`` and segmentation faults leave their mark. Exit handlers that ``solve`` registers run before.

    ``exit`` and an exception that nobody catches print what ``find`` returns, the first thing that the device found
    wrong, or an empty text: submissions that check errors end the process before the supervisor can ask. ``abort``
    prints nothing: the C library calls it with its allocator locked.

    ``exit`` must end the process here, before the destructors of libraries abort. The handler of the fault is
    ``eventfd_write(int fd, eventfd_t value)``, given the signal's number and an address: it allocates nothing and takes
    no lock, as is due in a handler. It has no stack of its own, so that none runs after an overflow; then the process
    dies as it would without it.
    """
    _last_words.find = find
    mark_exit_first()
    with contextlib.suppress(OSError, AttributeError):
        set_terminate = ctypes.CDLL("libstdc++.so.6")._ZSt13set_terminatePFvvE
        set_terminate.restype = _TERMINATE
        _last_words.terminate_as_before = set_terminate(_ON_TERMINATE)
    handler = ctypes.cast(_libc.eventfd_write, ctypes.c_void_p)
    action = _SigAction(handler=handler, flags=_SA_RESETHAND)
    _libc.sigaction(int(signal.SIGSEGV), ctypes.byref(action), None)


def mark_exit_first() -> None:
    """Has ``exit`` come to the mark before the destructors of all that exists by now.

    Call it before code of the submission runs: a thread may use such objects at that time, as one that makes machine
    code does, and libraries make some when they are first used.
    """
    _libc.on_exit(_ON_EXIT, None)


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
