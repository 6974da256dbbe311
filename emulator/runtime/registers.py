"""How many registers a thread of each kernel takes: of machine code in the program, or else as ptxas allots them.

The emulator itself has no use for it, but what a profile says of occupancy depends on it, and so do the answers of the
occupancy API. Those go by machine code alone, since ptxas may take seconds, and is not everywhere. Only compute
capability 8.0 is looked for, since others differ a little.
"""

from __future__ import annotations

import logging
import re
import shutil
import struct
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

from emulator.runtime import fatbinary
from emulator.runtime.modules import ARCHITECTURE

_PTXAS_S = 60.0

_SECTION = struct.Struct("<IIQQQQIIQQ")  # name, type, flags, address, offset, size, link, info, alignment, entry size
_SYMBOL = struct.Struct("<IBBHQQ")  # name, …
_SYMBOL_TABLE = 2
_ATTRIBUTE = struct.Struct("<BBH")  # format, attribute, size or value
_WITH_SIZE, _REGISTER_COUNT = 4, 0x2F  # a symbol's number and a count, 32 bits each
_COMPILING = re.compile(r"Compiling entry function '([^']+)'|Used (\d+) registers")

UNREADABLE = (struct.error, IndexError, ValueError, OverflowError)

_log = logging.getLogger(__name__)


class RegisterCounts:
    """Of the kernels in one fat binary; found out when first asked."""

    def __init__(self, image: bytes) -> None:
        self._image = image
        self._by_code: dict[str, int] | None = None
        self._by_ptxas: dict[str, int] | None = None

    def of(self, kernel: str, *, ask_ptxas: bool) -> int | None:
        """By its mangled name; None where nothing tells it."""
        if self._by_code is None:
            self._by_code = _from_machine_code(self._image)
        if kernel in self._by_code or not ask_ptxas:
            return self._by_code.get(kernel)
        if self._by_ptxas is None:
            self._by_ptxas = _from_ptxas(self._image)
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
    """Kernel → registers, of an ELF file for a GPU. Raises one of ``UNREADABLE`` for what is none."""
    if cubin[:5] != b"\x7fELF\x02":
        raise ValueError("not a 64-bit ELF file")
    (table,) = struct.unpack_from("<Q", cubin, 0x28)
    size, count, names = struct.unpack_from("<HHH", cubin, 0x3A)
    sections = [_SECTION.unpack_from(cubin, table + index * size) for index in range(count)]
    symbols: list[str] = []
    for section in sections:
        if section[1] == _SYMBOL_TABLE:
            strings = sections[section[6]][4]
            places = range(section[4], section[4] + section[5], _SYMBOL.size)
            symbols = [_text(cubin, strings + _SYMBOL.unpack_from(cubin, place)[0]) for place in places]
    counts: dict[str, int] = {}
    for section in sections:
        if _text(cubin, sections[names][4] + section[0]) == ".nv.info":
            for symbol, number in _register_counts(cubin[section[4] : section[4] + section[5]]):
                counts[symbols[symbol]] = number
    return counts


def _register_counts(info: bytes) -> Iterator[tuple[int, int]]:
    position = 0
    while position < len(info):
        form, attribute, size = _ATTRIBUTE.unpack_from(info, position)
        position += _ATTRIBUTE.size
        if form == _WITH_SIZE:
            if attribute == _REGISTER_COUNT:
                yield struct.unpack_from("<II", info, position)
            position += size


def _text(data: bytes, position: int) -> str:
    return data[position : data.index(b"\0", position)].decode()


def _from_ptxas(image: bytes) -> dict[str, int]:
    """Empty where there is no ptxas, or it may not run, or does not take the PTX."""
    try:
        ptx = fatbinary.choose(fatbinary.ptx_images(image), ARCHITECTURE)
        ptxas = shutil.which("ptxas")
        if ptxas is None or ptx is None:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "kernels.ptx"
            source.write_text(ptx.text)
            command = [ptxas, "-v", f"-arch=sm_{max(ptx.architecture, ARCHITECTURE)}", "-o", "/dev/null", str(source)]
            said = subprocess.run(command, capture_output=True, text=True, timeout=_PTXAS_S, check=True).stderr
    except (OSError, subprocess.SubprocessError, fatbinary.FatBinaryError) as error:
        _log.info("ptxas does not tell the kernels' registers: %s", error)
        return {}
    counts: dict[str, int] = {}
    kernel = ""
    for name, number in _COMPILING.findall(said):
        if name:
            kernel = name
        else:
            counts.setdefault(kernel, int(number))
    return counts
