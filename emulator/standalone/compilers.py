"""Compilers for programs that make device code while they run: what they call machine code (a cubin) is PTX here.

PyCUDA runs ``nvcc --cubin`` and Triton ``ptxas``; both hand the result to the driver, which takes PTX as well. What the
compilers say of their version tells them from the real ones, so that caches of compiled code do not mix the two.
"""

from __future__ import annotations

import os
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

_NOTE = "Of a program on the CPU emulator: cubins are PTX"

_NVCC = """#!/bin/sh
cubin= output= source=
for argument; do
    shift
    case $argument in
        -cubin | --cubin) cubin=yes argument=-ptx ;;
        -o* | --output-file*) output=yes ;;
        -V | --version) {nvcc} --version && echo {note}; exit ;;
        *.cu) source=${{argument##*/}} ;;
    esac
    set -- "$@" "$argument"
done
[ -n "$cubin" ] && [ -z "$output" ] && set -- "$@" -o "${{source%.cu}}.cubin"
exec {nvcc} "$@"
"""

# Its version decides which PTX Triton makes.
_PTXAS = """#!/bin/sh
output= source=
while [ $# -gt 0 ]; do
    case $1 in
        -o) shift; output=$1 ;;
        -V | --version) echo "Cuda compilation tools, release 13.0, V13.0.88"; echo {note}; exit ;;
        *.ptx) source=$1 ;;
    esac
    shift
done
exec cp "$source" "$output"
"""


def place_compilers(folder: Path, environment: Mapping[str, str]) -> dict[str, str]:
    """Writes the compilers into ``folder``. Returns the variables that make programs use them.

    ``environment``: the program's variables otherwise. There is an ``nvcc`` if its PATH has one.
    """
    note = shlex.quote(_NOTE)
    ptxas = folder / "ptxas"
    _write(ptxas, _PTXAS.format(note=note))
    found = {name: str(ptxas) for name in ("TRITON_PTXAS_PATH", "TRITON_PTXAS_BLACKWELL_PATH")}
    path = environment.get("PATH", os.defpath)
    nvcc = shutil.which("nvcc", path=path)
    if nvcc is not None:
        programs = _beside_toolkit(folder / "toolkit", Path(nvcc).resolve().parent.parent)
        _write(programs / "nvcc", _NVCC.format(nvcc=shlex.quote(nvcc), note=note))
        found["PATH"] = os.pathsep.join((str(programs), path))
    return found


def _beside_toolkit(folder: Path, toolkit: Path) -> Path:
    """Returns an empty ``bin`` in a folder that has all else of the toolkit, which programs find by where nvcc is."""
    programs = folder / "bin"
    programs.mkdir(parents=True)
    for entry in toolkit.iterdir():
        if entry.name != programs.name:
            (folder / entry.name).symlink_to(entry)
    return programs


def _write(script: Path, text: str) -> None:
    script.write_text(text)
    script.chmod(0o755)
