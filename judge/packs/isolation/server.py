"""``python -m judge.packs.isolation.server FD [LIBRARY]``: the process that packs' processes are forked from.

It has imported what they need, so that one is there in milliseconds, and it has one thread. It reads one command after
the other from its socket: FORK comes with the descriptor of the new process's channel and is answered with a process
number; END, with such a number, kills that process and is answered with its exit status. When the socket closes, all
end.
"""

from __future__ import annotations

import gc
import os
import signal
import socket
import sys
import warnings
from pathlib import Path
from typing import NoReturn

from judge.packs.isolation.control import ANSWER, COMMAND, FORK


def main(argv: list[str]) -> None:
    """Forks a child for each command of the socket ``argv[0]``, until it closes.

    ``argv[1]``, if given, is the native library to load first.
    """
    # What is imported lives as long as this process and its children, for which it is not copied then.
    gc.disable()
    # Forking is safe here: NumPy's threads are not running (OPENBLAS_NUM_THREADS=1).
    warnings.simplefilter("ignore", DeprecationWarning)
    control = socket.socket(fileno=int(argv[0]))
    if len(argv) > 1:
        from judge.native import library

        library.load(Path(argv[1]))
    from threadpoolctl import ThreadpoolController

    import judge.packs.isolation.child
    import judge.packs.judging  # noqa: F401

    products = ThreadpoolController()
    gc.freeze()
    gc.enable()
    children: set[int] = set()
    while True:
        data, fds, _, _ = socket.recv_fds(control, COMMAND.size, 1)
        if len(data) < COMMAND.size:
            break
        command, number = COMMAND.unpack(data)
        if command == FORK:
            pid = os.fork()
            if pid == 0:
                control.close()
                _run(fds[0], products)
            os.close(fds[0])
            children.add(pid)
            control.sendall(ANSWER.pack(pid))
        elif number in children:
            control.sendall(ANSWER.pack(_end(number)))
            children.discard(number)
    for pid in children:
        _end(pid)


def _end(pid: int) -> int:
    """Kills a child unless it has ended, and returns its exit status in the form of ``waitpid``."""
    os.kill(pid, signal.SIGKILL)
    return os.waitpid(pid, 0)[1]


def _run(fd: int, products: object) -> NoReturn:
    from judge.packs.isolation.child import serve

    status = 1
    try:
        serve(socket.socket(fileno=fd), products)  # type: ignore[arg-type]
        status = 0
    finally:
        # Neither this process's handlers nor its buffers are the child's.
        os._exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
