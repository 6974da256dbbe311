"""Replays a recording."""

from __future__ import annotations

import ctypes
import struct
from dataclasses import fields

from emulator.fat_binaries import fat_binaries
from emulator.replay.recording import Recording, RecordingError, Transfers
from emulator.runtime.fatbinary import FatBinaryError
from emulator.runtime.library import NativeTransfers
from emulator.runtime.modules import digest_of
from emulator.runtime.runtime import Runtime


class Replay:
    """A replay of a recorded program, one to a process, which has loaded no program.

    Its device code comes out of ``program``, the file; the recording tells which kernels run, and on what.

    The buffers that the program was given must be at the addresses that they had (``Runtime.malloc(.., at=..)``). What
    the program found in memory that it had allocated, or in its variables, it finds again.
    """

    def __init__(self, runtime: Runtime, recording: Recording, program: bytes) -> None:
        """Raises RecordingError for anything but a recording of this program."""
        self._library = runtime.library
        images = images_of(program)
        missing = [digest for digest in recording.modules.values() if digest not in images]
        if missing:
            raise RecordingError("it launched code that is not in the program")
        # For as long as the process lives: the library reads them when they are needed.
        self._steps = recording.steps
        self._images = [(number, ctypes.create_string_buffer(images[it])) for number, it in recording.modules.items()]
        counted = NativeTransfers()
        if self._library.emu_replay_open(self._steps, len(self._steps), ctypes.byref(counted)):
            raise RecordingError(self._library.emu_replay_reason().decode(errors="replace"))
        for number, image in self._images:
            self._library.emu_replay_image(number, image)
        self.transfers = Transfers(**{field.name: getattr(counted, field.name) for field in fields(Transfers)})

    def run(self) -> None:
        """Does the steps of the next call, in order.

        Errors are those of the device, as with a program (``Runtime.synchronize``).
        """
        self._library.emu_replay_run()


def images_of(program: bytes) -> dict[bytes, bytes]:
    """Returns the fat binaries of a 64-bit ELF file by the hash of their PTX (``runtime.modules.digest_of``).

    Leaves out what it cannot read. A program that was linked from several objects with ``-rdc=true`` has none.
    """
    found = {}
    for image in fat_binaries(program):
        try:
            found[digest_of(image)] = image
        except (FatBinaryError, struct.error):
            continue
    return found
