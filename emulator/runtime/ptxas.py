"""Asks ptxas how many registers kernels take, where the program has no machine code that says so."""

from __future__ import annotations

import logging
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from emulator.runtime import fatbinary

_PTXAS_S = 60.0
_COMPILING = re.compile(r"Compiling entry function '([^']+)'|Used (\d+) registers")

_log = logging.getLogger(__name__)


def registers_from_ptxas(image: bytes, architecture: int) -> dict[str, int]:
    """Returns the registers of a thread by kernel, for ``architecture`` (80) or that of newer PTX.

    Returns nothing where ptxas is missing, must not run, or rejects the PTX.
    """
    try:
        ptx = fatbinary.choose(fatbinary.ptx_images(image), architecture)
        ptxas = shutil.which("ptxas")
        if ptxas is None or ptx is None:
            return {}
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "kernels.ptx"
            source.write_text(ptx.text)
            command = [ptxas, "-v", f"-arch=sm_{max(ptx.architecture, architecture)}", "-o", "/dev/null", str(source)]
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
