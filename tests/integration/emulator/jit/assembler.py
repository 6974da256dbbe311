"""NVIDIA's assembler, which says what PTX is: the driver of a GPU has the same one."""

from __future__ import annotations

import subprocess
from pathlib import Path

from judge.compile.toolchain import find_toolchain

#: What the cases are written for, and what an H100 or H200 makes of them.
TARGETS = ("sm_80", "sm_90")


def refusal(text: str, target: str, folder: Path) -> str:
    """Returns the errors of ptxas for the module, or "" when it takes it. ``folder``: for its files."""
    source = folder / "module.ptx"
    source.write_text(text)
    ptxas = find_toolchain().root / "bin" / "ptxas"
    command = [str(ptxas), f"-arch={target}", "-O0", str(source), "-o", str(folder / "module.cubin")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""
