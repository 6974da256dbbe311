"""``python -m judge.runner.profiler LOG FD REPORT FD CHANNEL INPUTS OUTPUTS LIBRARY -- PROFILER...`` profiles a runner.

It adds the command of the runner to ``PROFILER...``, which writes its log and its report to the files LOG and REPORT.
When that has ended, both are copied to the descriptors behind their names, which the runner does not have.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

_PIECE_BYTES = 1 << 20


def main(argv: list[str]) -> None:
    """Ends with the profiler's exit code, 127 if it cannot be started."""
    at = argv.index("--")
    log, log_fd, report, report_fd, *runner_fds = argv[:at]
    runner = [sys.executable, "-P", "-S", "-s", "-B", "-m", "judge.runner.profiled", *runner_fds]
    fds = [int(text) for text in runner_fds]
    try:
        done = subprocess.run([*argv[at + 1 :], *runner], pass_fds=fds, stdin=subprocess.DEVNULL, check=False)
        code = done.returncode
    except OSError as error:
        os.write(int(log_fd), f"the profiler does not start: {error}\n".encode())
        code = 127
    _copy(Path(log), int(log_fd))
    # Some versions add their suffix to a name that has it.
    written = [path for path in (Path(report), Path(f"{report}.ncu-rep")) if path.exists()]
    _copy(written[0] if written else Path(report), int(report_fd))
    os._exit(code & 0xFF)


def _copy(source: Path, target_fd: int) -> None:
    # There may be none, or one larger than the jail lets anybody write: the supervisor sees what has come.
    with contextlib.suppress(OSError), source.open("rb") as file:
        while piece := file.read(_PIECE_BYTES):
            os.write(target_fd, piece)


if __name__ == "__main__":
    main(sys.argv[1:])
