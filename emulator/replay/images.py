"""The device code in a program's file, by the names that a recording gives it."""

from __future__ import annotations

import struct

from emulator.fat_binaries import fat_binaries
from emulator.runtime.fatbinary import FatBinaryError
from emulator.runtime.modules import digest_of


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
