"""Finds how many registers a thread of each kernel takes: from machine code in the program, or else from ptxas.

The emulator itself does not need the number, but a profile's occupancy depends on it, and so do the answers of the
occupancy API. Those use machine code only, since ptxas may take seconds and may not be installed. Only code for compute
capability 8.0 counts, since others differ a little.
"""

from __future__ import annotations

import logging
import struct
from collections.abc import Iterator

from emulator.elf import ElfFile
from emulator.runtime import fatbinary
from emulator.runtime.modules import ARCHITECTURE

_ATTRIBUTE = struct.Struct("<BBH")  # format, attribute, size or value
_WITH_SIZE, _REGISTER_COUNT = 4, 0x2F  # a symbol's number and a count, 32 bits each

UNREADABLE = (struct.error, IndexError, ValueError, OverflowError)

_log = logging.getLogger(__name__)


class RegisterCounts:
    """The register counts of the kernels in one fat binary, read when first asked for."""

    def __init__(self, image: bytes) -> None:
        self._image = image
        self._by_code: dict[str, int] | None = None
        self._by_ptxas: dict[str, int] | None = None

    def of(self, kernel: str, *, ask_ptxas: bool) -> int | None:
        """Returns the count for a mangled kernel name; None where it is not known."""
        if self._by_code is None:
            self._by_code = _from_machine_code(self._image)
        if kernel in self._by_code or not ask_ptxas:
            return self._by_code.get(kernel)
        if self._by_ptxas is None:
            # Only here: most processes never ask, and each of them would wait for what this imports.
            from emulator.runtime.ptxas import registers_from_ptxas

            self._by_ptxas = registers_from_ptxas(self._image, ARCHITECTURE)
        return self._by_ptxas.get(kernel)


def _from_machine_code(image: bytes) -> dict[str, int]:
    try:
        for cubin in fatbinary.cubins(image):
            if cubin.architecture == ARCHITECTURE:
                return cubin_registers(cubin.data)
    except (fatbinary.FatBinaryError, *UNREADABLE):
        _log.warning("machine code in the program cannot be read", exc_info=True)
    return {}


def cubin_registers(cubin: bytes) -> dict[str, int]:
    """Returns registers by kernel, from an ELF file for a GPU. Raises one of ``UNREADABLE`` for other data."""
    elf = ElfFile.from_bytes(cubin)
    symbols = [symbol.name.decode() for symbol in elf.symbols()]
    return {
        symbols[symbol]: number
        for section in elf.named(b".nv.info")
        for symbol, number in _register_counts(elf.content(section))
    }


def _register_counts(info: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    while position < len(info):
        form, attribute, size = _ATTRIBUTE.unpack_from(info, position)
        position += _ATTRIBUTE.size
        if form == _WITH_SIZE:
            if attribute == _REGISTER_COUNT:
                yield struct.unpack_from("<II", info, position)
            position += size
