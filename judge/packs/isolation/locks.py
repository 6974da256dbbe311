"""Keeps a pack's process from sockets, other processes, writing files and taking all memory."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
from pathlib import Path
from typing import Any

from judge.wire import landlock
from judge.wire.bpf import ERRNO, JUMP_ANY_BIT, JUMP_EQUAL, assemble, deny, install, unless, when

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
_CLONE_THREAD = 0x00010000
#: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC.
_WRITING = 1 | 2 | 0o100 | 0o1000

_REFUSED = (
    *("socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"),
    *("execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open"),
    *("pidfd_getfd", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "mount", "unshare", "setns"),
    *("io_uring_setup", "bpf", "keyctl", "shmget", "truncate", "symlink", "symlinkat", "openat2"),
)
#: What changes folders. Landlock knows in which.
_OF_FOLDERS = (
    *("creat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat"),
    *("chmod", "fchmodat"),
)


def lock_down() -> None:
    """Locks this process for the rest of its life. Call it with one thread. Raises OSError where filters are refused.

    System calls that it may not make fail with EPERM, so that the pack's code gets a PermissionError.
    """
    refused = ERRNO | errno.EPERM
    no_writing = [
        *deny(_OF_FOLDERS, refused),
        *when("open", 1, JUMP_ANY_BIT, _WRITING, refused),
        *when("openat", 2, JUMP_ANY_BIT, _WRITING, refused),
    ]
    _install(no_writing)


def lock_down_gpu(folder: Path) -> None:
    """Locks a process that computes on a GPU, which the driver opens for writing again and again.

    Where the kernel has Landlock, nothing else can be written but files in ``folder``; where it has none, no folder
    changes. Threads that run already are not locked: they are the driver's. Raises OSError where filters are refused.
    """
    nodes = [str(path) for path in Path("/dev").iterdir() if path.name.startswith("nvidia")]
    confined = landlock.restrict(["/"], [*nodes, "/dev/null", "/dev/zero"], [str(folder)])
    _install([] if confined else deny(_OF_FOLDERS, ERRNO | errno.EPERM))


def _install(more: list[Any]) -> None:
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, _SIGKILL, 0, 0, 0)
    pid = os.getpid()
    refused = ERRNO | errno.EPERM
    install(
        assemble(
            [
                *deny(_REFUSED, refused),
                # The C library falls back to clone, whose flags a filter can read.
                *deny(("clone3",), ERRNO | errno.ENOSYS),
                *unless("clone", 0, JUMP_ANY_BIT, _CLONE_THREAD, refused),
                *more,
                *unless("kill", 0, JUMP_EQUAL, pid, refused),
                *unless("tgkill", 0, JUMP_EQUAL, pid, refused),
            ]
        )
    )


def limit_memory(more_bytes: int) -> None:
    """Lets this process allocate ``more_bytes`` beyond its memory now; mapped arrays do not count."""
    pages = int(Path("/proc/self/statm").read_text().split()[5])
    wanted = pages * resource.getpagesize() + more_bytes
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
