"""Finds the program to run, and tells beforehand why it could not be run."""

from __future__ import annotations

import os
import re
import shutil
import struct
from dataclasses import dataclass
from pathlib import Path

CANNOT_RUN = 125  # as env, timeout and docker have it: the command itself failed,
NOT_EXECUTABLE = 126  # the program cannot be run,
NOT_FOUND = 127  # or there is none

_LIBRARY = b"libcudart.so."
_VERSION = b"13"
_LARGEST_TABLE = 1 << 24
_SOURCE_NAME = re.compile(rb"(?:tmpxft_[0-9a-f]+_[0-9a-f]+-\d+_)?([\w.+-]+)\.cudafe1\.cpp\0")
_DT_NEEDED, _DT_RPATH, _DT_RUNPATH = 1, 15, 29


class ProgramError(Exception):
    """The program cannot be run; ``exit_code`` is what the command ends with."""

    def __init__(self, message: str, exit_code: int) -> None:
        super().__init__(message)
        self.exit_code = exit_code


@dataclass(frozen=True, slots=True)
class ElfFile:
    """What matters here of an ELF file for x86-64."""

    needed: tuple[bytes, ...]  # shared libraries
    has_old_rpath: bool  # an RPATH, which comes before LD_LIBRARY_PATH
    has_kernels: bool
    sources: tuple[str, ...]  # the .cu files it was made of, where it still tells


def find_program(name: str) -> Path:
    """As a shell would. Raises ``ProgramError`` for what is none, and for programs that cannot use this runtime."""
    path = Path(name)
    if "/" not in name:
        found = shutil.which(name)
        if found is None:
            hint = f"; did you mean ./{name}?" if path.is_file() else ""
            raise ProgramError(f"{name}: no such program in PATH{hint}", NOT_FOUND)
        path = Path(found)
    if not path.exists():
        raise ProgramError(f"{name}: no such file", NOT_FOUND)
    path = path.absolute()
    if path.is_dir():
        raise ProgramError(f"{name} is a folder", NOT_EXECUTABLE)
    if path.suffix in (".cu", ".cpp", ".cc", ".c"):
        command = build_command((path.name,), path.stem)
        raise ProgramError(f"{name} is source code; build it first:\n    {command}", NOT_EXECUTABLE)
    if not os.access(path, os.X_OK):
        raise ProgramError(f"{name} is not executable", NOT_EXECUTABLE)
    elf = read_elf(path)
    if elf is not None:
        _check_runtime(name, elf)
    return path


def build_command(sources: tuple[str, ...], output: str) -> str:
    """How to build a program for the emulator."""
    files = " ".join(sources) or f"{Path(output).name}.cu"
    return f"nvcc -cudart shared -lineinfo -g -gencode arch=compute_80,code=compute_80 {files} -o {output}"


def _check_runtime(name: str, elf: ElfFile) -> None:
    runtimes = [library for library in elf.needed if library.startswith(_LIBRARY)]
    command = build_command(elf.sources, name)
    if any(not library.startswith(_LIBRARY + _VERSION) for library in runtimes):
        needed = runtimes[0].decode(errors="replace")
        raise ProgramError(f"{name} needs {needed}; build it with nvcc 13:\n    {command}", CANNOT_RUN)
    if elf.has_kernels and not runtimes:
        raise ProgramError(
            f"{name} has the CUDA runtime inside (nvcc links it statically unless told not to), so that nothing can\n"
            f"take its place; build it with -cudart shared:\n    {command}",
            CANNOT_RUN,
        )


def read_elf(path: Path) -> ElfFile | None:
    """None: it is no ELF file for this machine, or not one that makes sense."""
    try:
        with path.open("rb") as file:
            return _parse(file.read())
    except (OSError, struct.error, ValueError):
        return None


def _parse(data: bytes) -> ElfFile | None:
    if data[:6] != b"\x7fELF\x02\x01":
        return None
    (section_table,) = struct.unpack_from("<Q", data, 0x28)
    entry_size, count, names_index = struct.unpack_from("<HHH", data, 0x3A)
    sections: dict[bytes, bytes] = {}
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, section_table + i * entry_size) for i in range(count)]
    names = _content(data, headers[names_index]) if names_index < len(headers) else b""
    for header in headers:
        name = _string(names, header[0])
        is_table = name in (b".dynamic", b".dynstr", b".strtab")
        sections[name] = _content(data, header) if is_table and header[5] < _LARGEST_TABLE else b""
    needed, tags = [], set()
    dynamic = sections.get(b".dynamic", b"")
    for tag, value in struct.iter_unpack("<qQ", dynamic[: len(dynamic) // 16 * 16]):
        tags.add(tag)
        if tag == _DT_NEEDED:
            needed.append(_string(sections.get(b".dynstr", b""), value))
    sources = dict.fromkeys(name.decode() for name in _SOURCE_NAME.findall(sections.get(b".strtab", b"")))
    return ElfFile(
        needed=tuple(needed),
        has_old_rpath=_DT_RPATH in tags and _DT_RUNPATH not in tags,
        has_kernels=b".nv_fatbin" in sections,
        sources=tuple(name if name.endswith(".cu") else f"{name}.cu" for name in sources),
    )


def _content(data: bytes, header: tuple[int, ...]) -> bytes:
    offset, size = header[4], header[5]
    return data[offset : offset + size]


def _string(table: bytes, offset: int) -> bytes:
    end = table.find(b"\0", offset)
    return table[offset:end] if end >= 0 else b""
