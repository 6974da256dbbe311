"""Reads 64-bit little-endian ELF files: sections, symbols and dynamic entries.

The files come from submissions, so every offset and size in them may be false. The reader never reads outside the
file, nor more than 64 KiB for a name, and raises nothing but ``ElfError`` for a damaged file.

``native/object_code.cpp`` has a reader of its own: it puts LLVM's objects into executable memory, which Python cannot.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Callable, Iterator

from records import dataclass

#: Largest section that is read unless the caller allows more.
MOST_SECTION_BYTES = 64 << 20

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_DYNAMIC = struct.Struct("<qQ")
_MAGIC = b"\x7fELF\x02\x01"  # 64 bits, little-endian
_SYMBOL_TABLE, _NO_BITS = 2, 8
_MOST_NAME_BYTES = 1 << 16

Read = Callable[[int, int], bytes]  # (offset, size) → at most that many bytes of the file


class ElfError(ValueError):
    """The bytes are not an ELF file of this kind, or a damaged one."""


@dataclass(frozen=True, slots=True)
class Section:
    """A row of the section table. ``offset`` and ``size`` in bytes; ``link`` is the index of a related section."""

    name: bytes
    kind: int
    link: int
    offset: int
    size: int


@dataclass(frozen=True, slots=True)
class Symbol:
    """A row of the symbol table. ``section`` 0: the file uses the symbol but does not define it."""

    name: bytes
    section: int
    value: int


class ElfFile:
    """An open ELF file. The constructors raise ``ElfError``."""

    def __init__(self, read: Read) -> None:
        self._read = read
        header = _HEADER.unpack(self._bytes(0, _HEADER.size))
        if not header[0].startswith(_MAGIC):
            raise ElfError("not a 64-bit little-endian ELF file")
        table_at, row_bytes, count, names_index = header[6], header[11], header[12], header[13]
        if count and row_bytes != _SECTION.size:
            raise ElfError(f"a section table with rows of {row_bytes} bytes")
        rows = list(_SECTION.iter_unpack(self._bytes(table_at, _SECTION.size * count)))
        if count and names_index >= count:
            raise ElfError(f"section {names_index} of {count} has the names")
        names = self._bytes(rows[names_index][4], _bounded(rows[names_index][5], MOST_SECTION_BYTES)) if count else b""
        self.sections = tuple(Section(_string(names, row[0]), row[1], row[6], row[4], row[5]) for row in rows)

    @classmethod
    def from_bytes(cls, data: bytes) -> ElfFile:
        """Reads a file that is in memory."""
        return cls(lambda offset, size: data[offset : offset + size])

    @classmethod
    def from_descriptor(cls, fd: int) -> ElfFile:
        """Reads an open file, which must stay open. Does not move its position."""

        def read(offset: int, size: int) -> bytes:
            try:
                return os.pread(fd, size, offset)
            except (OSError, OverflowError) as error:
                raise ElfError(f"cannot read the file: {error}") from error

        return cls(read)

    def named(self, name: bytes) -> tuple[Section, ...]:
        """Returns the sections of this name, in the order of the file."""
        return tuple(section for section in self.sections if section.name == name)

    def content(self, section: Section, most_bytes: int = MOST_SECTION_BYTES) -> bytes:
        """Returns the bytes of a section; none for one that takes no room in the file."""
        if section.kind == _NO_BITS:
            return b""
        return self._bytes(section.offset, _bounded(section.size, most_bytes))

    def symbols(self) -> Iterator[Symbol]:
        """Yields the symbols in the order of the file; none where the file was stripped."""
        table = next((section for section in self.sections if section.kind == _SYMBOL_TABLE), None)
        if table is None:
            return
        if table.link >= len(self.sections):
            raise ElfError(f"section {table.link} of {len(self.sections)} has the names of symbols")
        names = self.content(self.sections[table.link])
        for row in _rows(_SYMBOL, self.content(table)):
            yield Symbol(_string(names, row[0]), row[3], row[4])

    def dynamic_entries(self) -> tuple[tuple[int, int], ...]:
        """Returns the entries (tag, value) for the dynamic linker; none for a static program."""
        return tuple(
            (tag, value) for section in self.named(b".dynamic") for tag, value in _rows(_DYNAMIC, self.content(section))
        )

    def dynamic_strings(self, tag: int) -> tuple[bytes, ...]:
        """Returns the strings of the dynamic entries with this tag, such as the libraries that the program needs."""
        offsets = [value for found, value in self.dynamic_entries() if found == tag]
        tables = self.named(b".dynstr")
        if offsets and not tables:
            raise ElfError("no strings for the dynamic linker")
        strings = self.content(tables[0]) if offsets else b""
        return tuple(_string(strings, offset) for offset in offsets)

    def _bytes(self, offset: int, size: int) -> bytes:
        data = self._read(offset, size) if size else b""
        if len(data) != size:
            raise ElfError(f"the file ends before byte {offset + size}")
        return data


def _bounded(size: int, most: int) -> int:
    if size > most:
        raise ElfError(f"a section of {size} bytes, more than {most}")
    return size


def _rows(row: struct.Struct, table: bytes) -> Iterator[tuple[int, ...]]:
    if len(table) % row.size:
        raise ElfError(f"a table of {len(table)} bytes with rows of {row.size}")
    return row.iter_unpack(table)


def _string(table: bytes, offset: int) -> bytes:
    if offset == 0 and not table:
        return b""
    end = table.find(b"\0", offset, offset + _MOST_NAME_BYTES)
    if offset >= len(table) or end < 0:
        raise ElfError(f"no name ends behind byte {offset} of {len(table)}")
    return table[offset:end]
