"""Records docs/terminal-session.md: starts a server of its own, types commands at it, and writes down what they print.

    .venv/bin/python scripts/record_session.py

Each command runs as at a terminal of 100 columns, its stderr and stdout in the order in which they came.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "terminal-session.md"
sys.path.insert(0, str(ROOT))

from benchmarks.stack import Stack, running_stack  # noqa: E402

_KERNEL = """\
// gpujudge: challenge=vector-add device=emulator
#include "solve.h"

__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    C[i] = A[i] + B[i];
}

extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
"""
_MENDED = ("    C[i] =", "    if (i < N) C[i] =")
#: What is said before a command, and the command. ``mend`` changes the kernel.
SESSION = (
    ("Who is logged in, and what there is to do:", "gpujudge whoami"),
    ("", "gpujudge challenges | head -4"),
    ("A challenge's starter and statement:", "gpujudge init vector-add"),
    ("A first `solve`, which forgets that N may not be a multiple of 256:", "cat vector-add.cu"),
    ("", "gpujudge run vector-add.cu"),
    ("With the test, `if (i < N)`:", "mend"),
    ("", "gpujudge submit vector-add.cu"),
    ("", "gpujudge leaderboard vector-add"),
    ("Without a server, one case of a chosen seed:", "gpujudge judge vector-add.cu --case four --seed 7"),
    ("An error, as JSON:", "gpujudge judge --json nosuch.cu -c vector-add"),
)
_HEAD = """\
# A session at the terminal

What `gpujudge` prints, from the list of challenges to a place on the board, on the emulator.
`scripts/record_session.py` types these commands and writes this page; the user's name, the address and the folder
are replaced.
"""


def record(stack: Stack, folder: Path) -> str:
    """Returns the page, after running every command of the session in ``folder``."""
    env = {
        **{name: value for name, value in os.environ.items() if not name.startswith("GPUJUDGE_")},
        "GPUJUDGE_SERVER": stack.address,
        "GPUJUDGE_TOKEN": stack.token,
        "GPUJUDGE_DATA_DIR": str(stack.data_dir),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "COLUMNS": "100",
    }
    parts = [_HEAD]
    source = folder / "vector-add.cu"
    for said, command in SESSION:
        if said:
            parts.append(f"{said}\n")
        if command == "mend":
            source.write_text(_KERNEL.replace(*_MENDED))
            continue
        if command.startswith("cat"):
            source.write_text(_KERNEL)
        done = subprocess.run(  # noqa: S602 (the commands above, as a reader types them)
            command,
            shell=True,
            env=env,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        printed = done.stdout.replace(stack.username, "ada").replace(stack.address, "https://judge.example.org")
        printed = "\n".join(line.rstrip() for line in printed.replace(str(folder), "/home/ada").splitlines())
        status = f"\n[exit code {done.returncode}]" if done.returncode else ""
        parts.append(f"```console\n$ {command}\n{printed}{status}\n```\n")
    return "\n".join(parts)


def main() -> None:
    """Writes the page."""
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch) / "work"
        folder.mkdir()
        with running_stack(Path(scratch) / "data", "--device", "emulator") as stack:
            PAGE.write_text(record(stack, folder))


if __name__ == "__main__":
    main()
