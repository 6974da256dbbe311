"""``python -m judge.runner.profiled CHANNEL INPUTS OUTPUTS LIBRARY``: the runner that a profiler starts.

It serves like any other, but the profiler's process is its parent, so it has nobody who tells how it ended; the jail
ends with both.
"""

from __future__ import annotations

import gc
import sys

from judge.runner.parent import open_mark


def main(argv: list[str]) -> None:
    """Serves as the runner until the supervisor closes the channel."""
    _, fds = open_mark([int(text) for text in argv])
    gc.disable()
    from judge.runner.main import run

    run([str(fd) for fd in fds], with_parent=False)


if __name__ == "__main__":
    main(sys.argv[1:])
