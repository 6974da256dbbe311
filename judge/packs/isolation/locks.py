"""Keeps a pack's process from sockets, other processes, files that are not the pack's, and taking all memory."""

from __future__ import annotations

import ctypes
import errno
import os
import resource
import sys
from pathlib import Path
from typing import Any

from judge.wire import landlock
from judge.wire.bpf import ERRNO, JUMP_ANY_BIT, JUMP_EQUAL, Instruction, assemble, deny, install, unless, when

_PR_SET_PDEATHSIG, _SIGKILL = 1, 9
#: Commands of fcntl and ioctl by which the kernel sends a signal of one's choice to whomever one names.
_F_SETOWN, _F_SETSIG, _F_SETOWN_EX, _FIOSETOWN, _SIOCSPGRP = 8, 10, 15, 0x8901, 0x8902
_CLONE_THREAD = 0x00010000
#: O_WRONLY, O_RDWR, O_CREAT, O_TRUNC.
_WRITING = 1 | 2 | 0o100 | 0o1000

_REFUSED = (
    *("socket", "socketpair", "connect", "bind", "listen", "accept", "accept4"),
    *("execve", "execveat", "fork", "vfork", "ptrace", "process_vm_readv", "process_vm_writev", "pidfd_open"),
    *("pidfd_getfd", "pidfd_send_signal", "rt_sigqueueinfo", "rt_tgsigqueueinfo", "mount", "unshare", "setns"),
    *("io_uring_setup", "bpf", "keyctl", "shmget", "msgget", "semget", "mq_open", "mq_unlink"),
    *("truncate", "symlink", "symlinkat", "openat2", "chroot", "open_by_handle_at", "fanotify_init"),
)
#: What reaches other processes of this user. Drivers of GPUs may need it.
_OF_OTHERS = (
    *("process_madvise", "process_mrelease", "migrate_pages", "move_pages", "kcmp", "perf_event_open", "userfaultfd"),
    *("add_key", "request_key", "tkill", "setpriority", "ioprio_set", "sched_setparam", "sched_setscheduler"),
    *("sched_setattr",),
)
#: What changes folders. Landlock knows in which.
_OF_FOLDERS = (
    *("creat", "rename", "renameat", "renameat2", "unlink", "unlinkat", "rmdir", "mkdir", "mkdirat", "link", "linkat"),
    *("chmod", "fchmodat"),
)
#: What changes a file's owner, times or attributes, or tells what happens to it. Landlock does not know these.
_OF_FILES = (
    *("fchmod", "fchmodat2", "chown", "fchown", "lchown", "fchownat", "utime", "utimes", "futimesat", "utimensat"),
    *("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr", "setxattrat"),
    *("removexattrat", "file_setattr", "mknod", "mknodat", "inotify_init", "inotify_init1", "name_to_handle_at"),
)


def lock_down() -> None:
    """Locks this process for the rest of its life. Call it with one thread. Raises OSError where filters are refused.

    System calls that it may not make fail with EPERM, so that the pack's code gets a PermissionError. ``confine`` adds
    what it may read.
    """
    refused = ERRNO | errno.EPERM
    no_writing = [
        *deny((*_OF_FOLDERS, *_OF_FILES, *_OF_OTHERS), refused),
        *unless("prlimit64", 0, JUMP_EQUAL, [0], refused),
        *unless("sched_setaffinity", 0, JUMP_EQUAL, [0], refused),
        *(rule for command in (_F_SETOWN, _F_SETSIG, _F_SETOWN_EX) for rule in _when("fcntl", 1, command)),
        *(rule for request in (_FIOSETOWN, _SIOCSPGRP) for rule in _when("ioctl", 1, request)),
        # The process ends with its server.
        *_when("prctl", 0, _PR_SET_PDEATHSIG),
        *when("open", 1, JUMP_ANY_BIT, _WRITING, refused),
        *when("openat", 2, JUMP_ANY_BIT, _WRITING, refused),
    ]
    _install(no_writing)


def _when(name: str, argument: int, value: int) -> list[Instruction]:
    return when(name, argument, JUMP_EQUAL, value, ERRNO | errno.EPERM)


def confine(directory: Path) -> bool:
    """Lets this process read Python, its packages, libraries, the judge's code and the files of a pack: nothing else.

    Neither settings nor data of the judge, nor what ``/proc`` tells, are among these. Returns False, with nothing done,
    where the kernel has no Landlock. Raises OSError where it refuses.
    """
    home = Path(__file__).resolve().parents[3]
    packages = [entry for entry in sys.path if entry.endswith(("-packages", "lib-dynload", ".zip"))]
    system = ["/usr", "/lib", "/lib32", "/lib64", "/etc/ld.so.cache", "/dev/null", "/dev/zero", "/dev/urandom"]
    code = [f"{home}/{name}" for name in ("judge", "emulator", "records")]
    readable = [*system, sys.prefix, sys.base_prefix, *packages, *code, str(directory)]
    return landlock.restrict(readable)


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
                *unless("clone", 0, JUMP_ANY_BIT, [_CLONE_THREAD], refused),
                *more,
                *unless("kill", 0, JUMP_EQUAL, [pid], refused),
                *unless("tgkill", 0, JUMP_EQUAL, [pid], refused),
            ]
        )
    )


def limit_memory(more_bytes: int, statm: int) -> None:
    """Lets this process allocate ``more_bytes`` beyond its memory now; mapped arrays do not count.

    ``statm`` is its own file of this name in ``/proc``, opened before it was confined.
    """
    pages = int(os.pread(statm, 200, 0).split()[5])
    wanted = pages * resource.getpagesize() + more_bytes
    _, most = resource.getrlimit(resource.RLIMIT_DATA)
    resource.setrlimit(resource.RLIMIT_DATA, (wanted if most == resource.RLIM_INFINITY else min(wanted, most), most))
