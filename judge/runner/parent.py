"""``python -m judge.runner.parent WORD CHANNEL INPUTS OUTPUTS LIBRARY``: starts the runner and tells how it ended.

Whoever waits outside the jail learns an exit code only, in which a signal looks like ``exit(128 + signal)``. So the
runner has a parent inside, which writes a ``LastWord`` to the descriptor WORD. The parent does nothing else and holds
nothing of the submission; the runner does not have WORD.
"""

from __future__ import annotations

import contextlib
import gc
import os
import select
import signal
import sys

from judge.wire.last_word import LARGEST_EXIT_MARK, LARGEST_MARK, MARK_FD, LastWord


def main(argv: list[str]) -> None:
    """Forks the runner, waits for its end, and writes its ``LastWord``; exits as the runner did."""
    made, (word_fd, *runner_fds) = open_mark([int(text) for text in argv])
    child = os.fork()
    if child == 0:
        os.close(made)
        os.close(word_fd)
        # A collection would add to the time of a call. Cycles end with the process.
        gc.disable()
        from judge.runner.main import run

        run([str(fd) for fd in runner_fds])
    # Not before: a driver's start writes to /proc/self.
    from judge.runner.marks import close_memory

    close_memory()
    last = _last_word(child, runner_fds)
    os.write(word_fd, last.pack())
    os._exit(128 + last.signal if last.signal is not None else last.status >> 8)


def open_mark(fds: list[int]) -> tuple[int, list[int]]:
    """Opens the mark under its number. Returns its other descriptor, and ``fds`` without that number."""
    moved = [os.dup(fd) if fd == MARK_FD else fd for fd in fds]
    made = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
    os.dup2(made, MARK_FD, inheritable=False)
    return made, moved


def _last_word(child: int, runner_fds: list[int]) -> LastWord:
    # What the runner holds is to end with the runner.
    for fd in (0, 1, 2, *runner_fds):
        os.close(fd)
    poll = select.poll()
    ended = os.pidfd_open(child)
    poll.register(ended, select.POLLIN)
    poll.register(MARK_FD, select.POLLIN)
    mark = 0
    while all(fd != ended for fd, _ in poll.poll()):
        mark += os.eventfd_read(MARK_FD)
        if mark > LARGEST_EXIT_MARK:
            # The handler has returned to what faults once more. Where somebody only sent the signal, nothing does.
            os.kill(child, signal.SIGSEGV)
            poll.unregister(MARK_FD)
    with contextlib.suppress(BlockingIOError):
        mark += os.eventfd_read(MARK_FD)
    return LastWord(os.waitpid(child, 0)[1], min(mark, LARGEST_MARK))


if __name__ == "__main__":
    main(sys.argv[1:])
