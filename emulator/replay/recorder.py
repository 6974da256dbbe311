"""Records the calls that the programs of this process make to the device."""

from __future__ import annotations

import ctypes
from collections.abc import Callable

from emulator.replay.recording import Recording, RecordingError
from emulator.runtime.runtime import Runtime


class Recorder:
    """A recorder of what a program asks of the device, which begins at once.

    Load the program afterwards, so that nothing is missed. Buffers from ``Runtime.malloc``, and what is written to them
    through ``Runtime.view``, are not part of it: whoever replays it brings them.
    """

    def __init__(self, runtime: Runtime, *, most_bytes: int) -> None:
        self._runtime = runtime
        runtime.library.emu_recording_begin(most_bytes)

    def next_call(self) -> None:
        """Begins another call: all that follows belongs to it."""
        self._runtime.library.emu_recording_next_call()

    def call(self, solve: Callable[[], None]) -> None:
        """Calls the program, and records what its own code takes of the host's processors (``Transfers.host_ns``)."""
        alone, overlapped, alone_then, overlapped_then = (ctypes.c_uint64() for _ in range(4))
        self._runtime.library.emu_host_begins(ctypes.byref(alone_then), ctypes.byref(overlapped_then))
        solve()
        self._runtime.library.emu_host_clock(ctypes.byref(alone), ctypes.byref(overlapped))
        self._runtime.library.emu_recording_host(
            alone.value - alone_then.value, overlapped.value - overlapped_then.value
        )

    def take(self) -> Recording:
        """Returns the recording so far. Raises ``RecordingError`` if it is larger than ``most_bytes``."""
        steps, size = ctypes.c_void_p(), ctypes.c_uint64()
        if not self._runtime.library.emu_recording_take(ctypes.byref(steps), ctypes.byref(size)):
            raise RecordingError("the program asks for more than can be recorded")
        return Recording(self._runtime.programs.digests(), ctypes.string_at(steps, size.value))
