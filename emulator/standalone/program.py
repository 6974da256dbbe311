"""Finds the program to run, and explains beforehand why it cannot run."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

from emulator import fat_binaries
from emulator.elf import ElfError, ElfFile
from records import dataclass

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
class ProgramFile:
    """The facts about a program's ELF file that the command needs."""

    needed: tuple[bytes, ...]  # shared libraries
    has_old_rpath: bool  # an RPATH, which comes before LD_LIBRARY_PATH
    has_kernels: bool
    sources: tuple[str, ...]  # the .cu files it was made of, where it still tells


def find_program(name: str) -> Path:
    """Finds a program as a shell does. Raises ``ProgramError`` for one that is missing or cannot use this runtime."""
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
    program = read_program(path)
    if program is not None:
        _check_runtime(name, program)
    return path


def build_command(sources: tuple[str, ...], output: str) -> str:
    """Returns the command that builds a program for the emulator."""
    files = " ".join(sources) or f"{Path(output).name}.cu"
    return f"nvcc -cudart shared -lineinfo -g -gencode arch=compute_80,code=compute_80 {files} -o {output}"


def _check_runtime(name: str, program: ProgramFile) -> None:
    runtimes = [library for library in program.needed if library.startswith(_LIBRARY)]
    command = build_command(program.sources, name)
    if any(not library.startswith(_LIBRARY + _VERSION) for library in runtimes):
        needed = runtimes[0].decode(errors="replace")
        raise ProgramError(f"{name} needs {needed}; build it with nvcc 13:\n    {command}", CANNOT_RUN)
    if program.has_kernels and not runtimes:
        raise ProgramError(
            f"{name} has the CUDA runtime inside (nvcc links it statically unless told not to), so that nothing can\n"
            f"take its place; build it with -cudart shared:\n    {command}",
            CANNOT_RUN,
        )


def read_program(path: Path) -> ProgramFile | None:
    """Returns None for what is not an ELF file for this machine, or is a damaged one."""
    try:
        elf = ElfFile.from_bytes(path.read_bytes())
        tags = {tag for tag, _ in elf.dynamic_entries()}
        tables = (section for section in elf.named(b".strtab") if section.size < _LARGEST_TABLE)
        strings = b"".join(elf.content(section) for section in tables)
        return ProgramFile(
            needed=elf.dynamic_strings(_DT_NEEDED),
            has_old_rpath=_DT_RPATH in tags and _DT_RUNPATH not in tags,
            has_kernels=bool(elf.named(fat_binaries.SECTION)),
            sources=tuple(
                name if name.endswith(".cu") else f"{name}.cu"
                for name in dict.fromkeys(found.decode() for found in _SOURCE_NAME.findall(strings))
            ),
        )
    except (OSError, ElfError, UnicodeDecodeError):
        return None
