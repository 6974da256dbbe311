"""Finds functions of a library that it does not export: in its ELF symbol table, which the linker leaves in it.

A submission for a GPU carries its own CUDA runtime and exports ``solve`` alone, so that the error of a refused
launch, which only that runtime knows, is not to be had by ``dlsym``.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_SYMTAB = 2
_MAX_TABLE_BYTES = 64 << 20


def function_offsets(fd: int, names: Iterable[str]) -> dict[str, int]:
    """The offsets of those of ``names`` that the 64-bit ELF file defines, from where it is loaded. Empty if it
    cannot tell.
    """
    wanted = {name.encode(): name for name in names}
    try:
        header = _HEADER.unpack(os.pread(fd, _HEADER.size, 0))
        table_at, entry_size, count = header[6], header[11], header[12]
        if not header[0].startswith(b"\x7fELF\x02") or entry_size != _SECTION.size:
            return {}
        raw = os.pread(fd, entry_size * count, table_at)
        sections = [_SECTION.unpack_from(raw, entry_size * index) for index in range(count)]
        for section in sections:
            if section[1] == _SYMTAB:
                texts = sections[section[6]]
                return _search(_read(fd, section), _read(fd, texts), wanted)
    except (OSError, struct.error, IndexError):
        pass
    return {}


def _read(fd: int, section: tuple[int, ...]) -> bytes:
    return os.pread(fd, min(section[5], _MAX_TABLE_BYTES), section[4])


def _search(symbols: bytes, texts: bytes, wanted: dict[bytes, str]) -> dict[str, int]:
    found: dict[str, int] = {}
    for name_at, _info, _other, section, value, _size in _SYMBOL.iter_unpack(symbols):
        if section == 0 or value == 0:
            continue
        name = wanted.get(texts[name_at : texts.find(b"\0", name_at)])
        if name is not None:
            found[name] = value
    return found
