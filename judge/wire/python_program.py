"""The file of a submission in Python: its source, and the kernels that it launches, compiled ahead.

It is an ELF file without code for the host. The section ``.nv_fatbin`` holds the kernels as nvcc would put them into a
program, so that whatever finds the device code of a native submission finds theirs; ``.gpujudge.python`` holds the
source, and what a launcher has to know of each kernel.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from judge.wire.frames import FrameError, Reader, Writer

#: The kernels of a submission, each with its types and constants.
MAX_SPECIALIZATIONS = 96
#: The length of the text that names one.
MAX_KEY_BYTES = 64 << 10
#: The arguments that a kernel gets at its launch.
MAX_KERNEL_ARGUMENTS = 256
#: The autotuned kernels of a submission, and the calls whose configurations are chosen beforehand.
MAX_TUNED, MAX_ROUNDS = 96, 64
#: The configurations of a kernel.
MAX_CONFIGS = 64

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_FAT_HEADER = struct.Struct("<IHHQ")
_FAT_ENTRY = struct.Struct("<HHIQIIHHIIIQQQ")
_FAT_MAGIC, _PTX, _CUBIN = 0xBA55ED50, 1, 2
#: 64 bits, and Linux.
_FAT_FLAGS = 0x11
_PROGRAM_BITS = 1
_SECTIONS = (b"", b".nv_fatbin", b".gpujudge.python", b".shstrtab")
_NAMES = b"\0".join((*_SECTIONS, b""))


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """One kernel with its types and constants fixed; ``key`` is what a launcher finds it by.

    ``arguments`` are those of the launch that the device gets, by index, each with its type in Triton's words ("*fp32",
    "i32"). ``shared`` are bytes of shared memory a block, ``scratch`` bytes of global memory a block, at a multiple of
    ``scratch_align``. ``image`` is PTX, or a GPU's machine code.
    """

    key: str
    name: str
    warps: int
    shared: int
    scratch: int
    scratch_align: int
    arguments: tuple[tuple[int, str], ...]
    image: bytes


@dataclass(frozen=True, slots=True)
class TunedConfig:
    """A configuration of an autotuned kernel, in words, with the names of what was compiled for it.

    ``problem`` says why there is none.
    """

    told: str
    kernels: tuple[str, ...] = ()
    problem: str = ""


@dataclass(frozen=True, slots=True)
class TunedKernel:
    """A kernel under an autotuner: where it stands in the source, and the configurations that were looked at."""

    place: str
    configs: tuple[TunedConfig, ...]

    @property
    def name(self) -> str:
        return self.place.rpartition(":")[0]

    @property
    def ready(self) -> tuple[TunedConfig, ...]:
        """Those that compile."""
        return tuple(config for config in self.configs if not config.problem)


#: The configuration that each autotuned kernel takes, by its place.
Choice = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class PythonProgram:
    """A source and its kernels, for the architecture ``sm_<capability>``.

    ``rounds`` has the choice of each call; the last one holds for all that follow. A kernel without a choice takes its
    first configuration that compiles.
    """

    source: bytes
    capability: int
    kernels: tuple[CompiledKernel, ...]
    tuned: tuple[TunedKernel, ...] = ()
    rounds: tuple[Choice, ...] = ()


def pack_program(program: PythonProgram) -> bytes:
    """Returns the file."""
    images = [_fat_binary(kernel.image, program.capability) for kernel in program.kernels]
    about = _about(program)
    bodies = (b"", b"".join(images), about, _NAMES)
    at = _HEADER.size
    rows = []
    for name, body in zip(_SECTIONS, bodies, strict=True):
        name_at = _NAMES.index(name + b"\0") if name else 0
        kind = _PROGRAM_BITS if name else 0
        rows.append(_SECTION.pack(name_at, kind, 0, 0, at if name else 0, len(body), 0, 0, 8, 0))
        at += _padded(len(body))
    ident = b"\x7fELF\x02\x01\x01" + bytes(9)
    header = _HEADER.pack(ident, 3, 62, 1, 0, 0, at, 0, _HEADER.size, 0, 0, _SECTION.size, len(rows), len(rows) - 1)
    return header + b"".join(body.ljust(_padded(len(body)), b"\0") for body in bodies) + b"".join(rows)


def unpack_program(data: bytes) -> PythonProgram:
    """Reads the output of ``pack_program``. Raises FrameError."""
    try:
        header = _HEADER.unpack_from(data)
        rows = [_SECTION.unpack_from(data, header[6] + index * _SECTION.size) for index in range(len(_SECTIONS))]
    except struct.error:
        raise FrameError("not a program in Python") from None
    images, about, names = (data[row[4] : row[4] + row[5]] for row in rows[1:])
    if names != _NAMES:
        raise FrameError("not a program in Python")
    return _read_about(about, images)


def _about(program: PythonProgram) -> bytes:
    out = Writer().u32(program.capability).u32(len(program.source)).raw(program.source).u32(len(program.kernels))
    for kernel in program.kernels:
        key = kernel.key.encode()
        out.u32(len(key)).raw(key).text(kernel.name).u32(kernel.warps).u32(kernel.shared)
        out.u64(kernel.scratch).u32(kernel.scratch_align).u32(len(kernel.arguments))
        for index, kind in kernel.arguments:
            out.u32(index).text(kind)
        out.u32(len(kernel.image))
    out.u32(len(program.tuned))
    for tuned in program.tuned:
        out.text(tuned.place).u32(len(tuned.configs))
        for config in tuned.configs:
            out.text(config.told).text(config.problem).u32(len(config.kernels))
            for name in config.kernels:
                out.text(name)
    out.u32(len(program.rounds))
    for choice in program.rounds:
        out.u32(len(choice))
        for place, told in choice:
            out.text(place).text(told)
    return out.payload()


def _read_about(about: bytes, images: bytes) -> PythonProgram:
    r = Reader(about)
    capability, source = r.u32(), r.raw(r.u32())
    kernels, at = [], 0
    for _ in range(r.count(MAX_SPECIALIZATIONS)):
        key, name = r.raw(r.count(MAX_KEY_BYTES)).decode("utf-8", "replace"), r.text()
        warps, shared, scratch, align = r.u32(), r.u32(), r.u64(), r.u32()
        arguments = tuple((r.u32(), r.text()) for _ in range(r.count(MAX_KERNEL_ARGUMENTS)))
        size = r.u32()
        begin = at + _FAT_HEADER.size + _FAT_ENTRY.size
        kernels.append(
            CompiledKernel(key, name, warps, shared, scratch, align, arguments, images[begin : begin + size])
        )
        at += _fat_bytes(size)
    tuned = tuple(_read_tuned(r) for _ in range(r.count(MAX_TUNED)))
    rounds = tuple(tuple((r.text(), r.text()) for _ in range(r.count(MAX_TUNED))) for _ in range(r.count(MAX_ROUNDS)))
    r.end()
    return PythonProgram(source, capability, tuple(kernels), tuned, rounds)


def _read_tuned(r: Reader) -> TunedKernel:
    place, configs = r.text(), []
    for _ in range(r.count(MAX_CONFIGS)):
        told, problem = r.text(), r.text()
        configs.append(TunedConfig(told, tuple(r.text() for _ in range(r.count(MAX_SPECIALIZATIONS))), problem))
    return TunedKernel(place, tuple(configs))


def kernel_fat_binaries(program: PythonProgram) -> Sequence[bytes]:
    """Returns each kernel's fat binary, in their order."""
    return [_fat_binary(kernel.image, program.capability) for kernel in program.kernels]


def _fat_binary(image: bytes, capability: int) -> bytes:
    """Returns the container of nvcc with one image in it; ``emulator.runtime.fatbinary`` has its layout."""
    is_ptx = not image.startswith(b"\x7fELF")
    payload = image + b"\0" if is_ptx else image
    padded = payload.ljust(_fat_bytes(len(image)) - _FAT_HEADER.size - _FAT_ENTRY.size, b"\0")
    entry = _FAT_ENTRY.pack(
        _PTX if is_ptx else _CUBIN, 0x101, _FAT_ENTRY.size, len(padded), 0, 0, 0, 0, capability, 0, 0, _FAT_FLAGS, 0, 0
    )
    body = entry + padded
    return _FAT_HEADER.pack(_FAT_MAGIC, 1, _FAT_HEADER.size, len(body)) + body


def _fat_bytes(size: int) -> int:
    return _FAT_HEADER.size + _FAT_ENTRY.size + _padded(size + 1)


def _padded(size: int) -> int:
    return -(-size // 8) * 8
