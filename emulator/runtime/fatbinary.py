"""Reads fat binaries, the containers in which nvcc puts PTX and machine code into a program.

The layout is not documented; this reader follows files of nvcc 11 to 13. A 16-byte header is followed by
entries, each with a header that gives its kind, architecture, size and compression.
"""

from __future__ import annotations

import ctypes
import struct
from collections.abc import Iterator

from records import dataclass

_MAGIC = 0xBA55ED50
_HEADER = struct.Struct("<IHHQ")  # magic, version, header size, size of the entries
# Kind, version, size of the header, of the payload, and of what is compressed in it; -, minor, major, architecture,
# -, -, flags, -, size when not compressed.
_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_KIND_PTX, _KIND_CUBIN = 1, 2
_KIND_OBJECT = 0x4C4F  # of our own library
_FLAG_LZ4 = 0x2000
_FLAG_ZSTD = 0x8000
_LARGEST = 1 << 30


class FatBinaryError(Exception):
    """The data is not a fat binary, or one that this reader does not understand."""


class NoPtxError(FatBinaryError):
    """The fat binary has machine code but no PTX."""


@dataclass(frozen=True, slots=True)
class PtxImage:
    """PTX for one virtual architecture: 80 is compute_80."""

    architecture: int
    text: str


@dataclass(frozen=True, slots=True)
class Cubin:
    """Machine code for one architecture, an ELF file."""

    architecture: int
    data: bytes


def read_at(address: int) -> bytes:
    """Returns the fat binary that begins at ``address`` in this process."""
    magic, _, header_size, size = _HEADER.unpack(ctypes.string_at(address, _HEADER.size))
    if magic != _MAGIC or size > _LARGEST:
        raise FatBinaryError("not a fat binary: wrong magic number")
    return ctypes.string_at(address, header_size + size)


def ptx_images(data: bytes) -> list[PtxImage]:
    """Returns every PTX image in it. Raises ``FatBinaryError`` for foreign or truncated data."""
    return [
        PtxImage(architecture, payload.rstrip(b"\0").decode("utf-8", errors="replace"))
        for architecture, payload in _payloads(data, _KIND_PTX)
    ]


def ptx_architectures(data: bytes) -> list[int]:
    """Returns the architecture of each PTX image, 80 for compute_80. Raises as ``ptx_images`` does."""
    return [fields[8] for _, fields in _entries(data) if fields[0] == _KIND_PTX]


def cubins(data: bytes) -> list[Cubin]:
    """Returns every cubin in it. Raises as ``ptx_images`` does."""
    return [Cubin(architecture, payload) for architecture, payload in _payloads(data, _KIND_CUBIN)]


def _payloads(data: bytes, wanted: int) -> Iterator[tuple[int, bytes]]:
    """Yields (architecture, decompressed content) of the entries of one kind."""
    for position, fields in _entries(data):
        kind, _, header_size, size, compressed_size, _, _, _, architecture, _, _, flags, _, plain_size = fields
        if kind != wanted:
            continue
        begin = position + header_size
        payload = data[begin : begin + size]
        if flags & (_FLAG_ZSTD | _FLAG_LZ4):
            payload = _decompress(payload[:compressed_size], plain_size, zstd=bool(flags & _FLAG_ZSTD))
        yield architecture, payload


def objects(data: bytes) -> list[bytes]:
    """Returns the fat binaries that a program was linked from (native/api/fat_binary.h), or else ``data`` itself.

    Raises as ``ptx_images`` does.
    """
    linked = [
        data[position + fields[2] : position + fields[2] + fields[3]]
        for position, fields in _entries(data)
        if fields[0] == _KIND_OBJECT
    ]
    return linked or [data]


def choose(images: list[PtxImage], architecture: int) -> PtxImage | None:
    """Returns the newest image that a device of ``architecture`` takes, else the oldest that is too new for it."""
    if not images:
        return None
    suitable = [image for image in images if image.architecture <= architecture]
    if suitable:
        return max(suitable, key=lambda image: image.architecture)
    return min(images, key=lambda image: image.architecture)


def _entries(data: bytes) -> list[tuple[int, tuple[int, ...]]]:
    if len(data) < _HEADER.size:
        raise FatBinaryError("not a fat binary: too short")
    magic, _, header_size, size = _HEADER.unpack_from(data)
    if magic != _MAGIC:
        raise FatBinaryError("not a fat binary: wrong magic number")
    position, end = header_size, header_size + size
    if end > len(data):
        raise FatBinaryError("the fat binary is truncated")
    entries = []
    while position < end:
        if position + _ENTRY.size > end:
            raise FatBinaryError("the fat binary is truncated")
        fields = _ENTRY.unpack_from(data, position)
        entry_header, payload = fields[2], fields[3]
        if entry_header < _ENTRY.size or position + entry_header + payload > end:
            raise FatBinaryError("the fat binary is truncated")
        entries.append((position, fields))
        position += entry_header + payload
    return entries


def _decompress(payload: bytes, plain_size: int, *, zstd: bool) -> bytes:
    if plain_size > _LARGEST:
        raise FatBinaryError("the fat binary claims an absurd size")
    if not zstd:
        return _lz4_block(payload, plain_size)
    import zstandard

    try:
        return zstandard.ZstdDecompressor().decompress(payload, max_output_size=plain_size)
    except zstandard.ZstdError as error:
        raise FatBinaryError(f"the fat binary's compressed PTX is broken: {error}") from error


def _lz4_block(payload: bytes, plain_size: int) -> bytes:
    """Decompresses an LZ4 block: literals, then a copy from the output so far, repeatedly."""
    out = bytearray()
    position = 0

    def length(nibble: int) -> int:
        nonlocal position
        total = nibble
        while nibble == 15:
            byte = payload[position]
            position += 1
            total += byte
            if byte != 255:
                break
        return total

    try:
        while len(out) < plain_size:
            token = payload[position]
            position += 1
            literals = length(token >> 4)
            out += payload[position : position + literals]
            position += literals
            if position >= len(payload) or len(out) >= plain_size:
                break
            offset = payload[position] | payload[position + 1] << 8
            position += 2
            copied = length(token & 15) + 4
            if not 0 < offset <= len(out):
                raise FatBinaryError("the fat binary's compressed PTX is broken")
            for _ in range(copied):
                out.append(out[-offset])
    except IndexError:
        raise FatBinaryError("the fat binary's compressed PTX is broken") from None
    return bytes(out)
