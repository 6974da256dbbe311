"""The end of a runner's process as its parent reports it: the status from the kernel, and the runner's mark.

The mark is a number that the submission's process could change, and only words are chosen by it, never a verdict:
``exit`` adds its argument and one, so that it is told beyond the 8 bits that the kernel keeps; a segmentation fault
adds an address, larger than that, if there was stack left for its handler.
"""

from __future__ import annotations

import os
import signal
import struct
from dataclasses import dataclass

_FORM = struct.Struct("<IQ")
SIZE_BYTES = _FORM.size
#: The handler of a segmentation fault is given the signal's number, and takes it for that of the mark's descriptor.
MARK_FD = int(signal.SIGSEGV)
#: Marks of ``exit`` are at most this; addresses of signal frames lie beyond.
LARGEST_EXIT_MARK = 1 << 32
LARGEST_MARK = (1 << 64) - 1
#: How the line begins that the runner prints where the submission ends the process: what the device found wrong.
FOUND = "gpujudge: before this: "
#: What the runner exits with when it cannot go on.
RUNNER_FAILED = 70


@dataclass(frozen=True, slots=True)
class LastWord:
    """``status`` is that of ``waitpid``, ``mark`` the counter that the runner left."""

    status: int
    mark: int

    def pack(self) -> bytes:
        return _FORM.pack(self.status, self.mark)

    @staticmethod
    def unpack(data: bytes) -> LastWord | None:
        """Returns None for anything but one whole word."""
        return LastWord(*_FORM.unpack(data)) if len(data) == SIZE_BYTES else None

    @property
    def signal(self) -> int | None:
        """The signal that ended the process, None if it exited."""
        return os.WTERMSIG(self.status) if os.WIFSIGNALED(self.status) else None

    @property
    def code(self) -> int | None:
        """The exit code: the whole argument of ``exit``, 8 bits after ``_exit``; None after a signal."""
        if self.signal is not None:
            return None
        low = os.WEXITSTATUS(self.status)
        if not self.called_exit:
            return low
        code = self.mark - 1
        return code - (1 << 32) if code >= 1 << 31 else code

    @property
    def called_exit(self) -> bool:
        """Whether ``exit`` ended it, which only the submission calls."""
        told = 0 < self.mark <= LARGEST_EXIT_MARK and self.signal is None
        return told and (self.mark - 1) & 0xFF == os.WEXITSTATUS(self.status)

    @property
    def stack_overflow(self) -> bool:
        """Whether a segmentation fault left no room on the stack for its handler."""
        return self.signal == signal.SIGSEGV and self.mark <= LARGEST_EXIT_MARK
