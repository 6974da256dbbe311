"""nvcc makes a shared library of a kernel's source, as the judge builds submissions; kept by what went into it."""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tests.builds import built_once

_FLAGS = (
    *("-std=c++17", "-O3", "-lineinfo", "--extended-lambda", "--expt-relaxed-constexpr"),
    *("-Xcompiler", "-fPIC", "-shared", "-cudart", "shared", "-gencode", "arch=compute_80,code=compute_80"),
)
_EMULATED = ("--compress-mode=none",)


class BuildError(Exception):
    """nvcc is missing, or does not take the source; the message is its output."""


def build(source: Path, cache: Path, architecture: str | None = None) -> Path:
    """The library of ``source`` under ``cache``. ``architecture`` (such as ``90``) adds a GPU's machine code."""
    native = ("-gencode", f"arch=compute_{architecture},code=sm_{architecture}") if architecture else _EMULATED
    return _compile(source.read_bytes(), f"{source.parent.name}-{source.stem}", cache, native, source)


def solve_of(source: Path) -> str:
    """Returns the name of a source's ``solve`` in a library that ``build_together`` makes."""
    return f"solve_{source.parent.name}_{source.stem}"


def build_together(sources: Sequence[Path], cache: Path) -> Path:
    """One library for the emulator, in which the ``solve`` of each source is called ``solve_of(source)``.

    The headers take most of a compiler's time, and are read once: each source is included in a namespace of its own,
    where its own inclusions have no effect any more. Its macros are forgotten after it.
    """
    texts = {source: source.read_text() for source in sources}
    headers = sorted(
        {header for text in texts.values() for header in re.findall(r"^#include <.*>$", text, re.MULTILINE)}
    )
    lines = list(headers)
    for source, text in texts.items():
        name = solve_of(source)
        lines += [f"namespace in_{name} {{", f"#define solve {name}", f'#include "{source}"']
        lines += [f"#undef {macro}" for macro in ("solve", *re.findall(r"^#define (\w+)", text, re.MULTILINE))]
        lines.append("}")
    key = "".join(f"// {hashlib.sha256(text.encode()).hexdigest()}\n" for text in texts.values())
    return _compile((key + "\n".join(lines) + "\n").encode(), "together", cache, _EMULATED)


def _compile(text: bytes, name: str, cache: Path, native: Sequence[str], source: Path | None = None) -> Path:
    """``source``: where ``text`` is from, if from anywhere."""
    flags = (*_FLAGS, *native)
    nvcc, version = _nvcc()
    digest = hashlib.sha256("\0".join((version, *flags)).encode() + b"\0" + text).hexdigest()[:20]
    library = cache / f"{name}-{digest}.so"
    with built_once(library):
        if not library.exists():
            _run_nvcc([nvcc, *flags], text, library, source)
    return library


def _run_nvcc(command: Sequence[str], text: bytes, library: Path, source: Path | None) -> None:
    name = library.stem.rpartition("-")[0]
    with tempfile.TemporaryDirectory(dir=library.parent, prefix="build-") as scratch:
        made = Path(scratch) / library.name
        if source is None:
            source = Path(scratch) / f"{name}.cu"
            source.write_bytes(text)
        done = subprocess.run(
            [*command, str(source), "-o", str(made)], capture_output=True, text=True, errors="replace", check=False
        )
        if done.returncode:
            raise BuildError(f"{name}:\n{(done.stdout + done.stderr)[-4000:]}")
        made.replace(library)


@functools.cache
def _nvcc() -> tuple[str, str]:
    """Returns the path of nvcc, and what it says its version is."""
    homes = [os.environ[name] for name in ("CUDA_HOME", "CUDA_PATH") if os.environ.get(name)]
    candidates = [
        shutil.which("nvcc"),
        *(shutil.which("nvcc", path=f"{home}/bin") for home in (*homes, "/usr/local/cuda")),
    ]
    found = next((path for path in candidates if path), None)
    if found is None:
        raise BuildError("nvcc is not found: put it on PATH, or set CUDA_HOME")
    return found, subprocess.run([found, "--version"], capture_output=True, text=True, check=True).stdout
