"""The seccomp filters that a runner installs on itself, on top of its jail's (``judge.sandbox.seccomp``).

- *before load*: when the device is up, before the submission is opened, so that its constructors run under it. Forbids
  new programs, processes and threads, sockets, signals to others, and all executable memory but mappings of existing
  files, which the loader needs.
- *scheduling*: just before the submission is opened, when the runner is on its processor. Forbids changes to where and
  when its threads run, and what would change that for other processes.
- *after load*: once the submission is loaded. Forbids every new executable mapping.

A system call that only an attacker makes kills the process; one that libraries try and do without returns an error.
Filters can be added but not removed, and hold for all threads.
"""

from __future__ import annotations

import ctypes
import errno
import os

from judge.wire.bpf import (
    ARGS_OFFSET,
    ERRNO,
    JUMP_ANY_BIT,
    JUMP_EQUAL,
    KILL_PROCESS,
    LOAD,
    NR_OFFSET,
    NUMBERS,
    RETURN,
    Instruction,
    assemble,
    deny,
    install,
    unless,
    when,
)

# From linux/seccomp.h, linux/sched.h, linux/prctl.h and asm/mman.h.
_CLONE_THREAD = 0x00010000
_PR_SET_TSC, _PR_SET_TIMERSLACK, _PR_SET_SPECULATION_CTRL, _PR_SCHED_CORE, _ARCH_SET_CPUID = 26, 29, 53, 62, 0x1012
_AF_UNIX, _PROT_EXEC, _PR_SET_DUMPABLE, _PR_SET_PTRACER = 1, 4, 4, 0x59616D61
_MAP_ANONYMOUS = 0x20

_BEFORE_KILLED = ("execve", "execveat", "fork", "vfork")
_BEFORE_REFUSED = (
    "socketpair",
    "connect",
    "accept",
    "accept4",
    "bind",
    "listen",
    "sendto",
    "shmget",
    "shmat",
    "tkill",
    "rt_sigqueueinfo",
    "rt_tgsigqueueinfo",
    "pidfd_open",
    "pidfd_send_signal",
)
_SCHEDULING = (
    "sched_setaffinity",
    "sched_setscheduler",
    "sched_setparam",
    "sched_setattr",
    "setpriority",
    "ioprio_set",
)


def before_load_program(pid: int, *, allow_executable: bool) -> bytes:
    """Returns the filter for constructors. ``pid`` is the runner's own, since abort() signals itself."""
    return assemble(
        [
            *([] if allow_executable else _no_new_code()),
            *deny(_BEFORE_KILLED, KILL_PROCESS),
            *deny(_BEFORE_REFUSED, ERRNO | errno.EPERM),
            *deny(("clone3",), ERRNO | errno.ENOSYS),
            # A constructor's thread would go on running beside timed calls.
            *when("clone", 0, JUMP_ANY_BIT, _CLONE_THREAD, ERRNO | errno.EPERM),
            *deny(("clone",), KILL_PROCESS),
            # Drivers try Unix sockets to their daemons and do without; no honest code here uses another family.
            *when("socket", 0, JUMP_EQUAL, _AF_UNIX, ERRNO | errno.EPERM),
            *deny(("socket",), KILL_PROCESS),
            *unless("kill", 0, JUMP_EQUAL, [pid], KILL_PROCESS),
            *unless("tgkill", 0, JUMP_EQUAL, [pid], KILL_PROCESS),
            # The runner is undumpable, which keeps /proc/self/mem closed.
            *when("prctl", 0, JUMP_EQUAL, _PR_SET_DUMPABLE, ERRNO | errno.EPERM),
            *when("prctl", 0, JUMP_EQUAL, _PR_SET_PTRACER, ERRNO | errno.EPERM),
        ]
    )


def scheduling_program() -> bytes:
    """Returns the filter that keeps a process on its processor. It returns errors, since drivers try this."""
    options = (_PR_SET_TSC, _PR_SET_TIMERSLACK, _PR_SET_SPECULATION_CTRL, _PR_SCHED_CORE)
    return assemble(
        [
            *deny(_SCHEDULING, ERRNO | errno.EPERM),
            *(rule for option in options for rule in when("prctl", 0, JUMP_EQUAL, option, ERRNO | errno.EPERM)),
            *when("arch_prctl", 0, JUMP_EQUAL, _ARCH_SET_CPUID, ERRNO | errno.EPERM),
        ]
    )


def after_load_program() -> bytes:
    """Returns the filter that holds during calls."""
    rules: list[Instruction] = []
    for name in ("mmap", "mprotect", "pkey_mprotect"):
        rules += when(name, 2, JUMP_ANY_BIT, _PROT_EXEC, ERRNO | errno.EPERM)
    return assemble(rules)


def lock_before_load(*, allow_executable: bool = False) -> None:
    """Locks the runner after its imports and the device's start, before ``dlopen`` of the submission.

    Also makes the process undumpable, so that ``/proc/self/mem`` cannot be opened. ``allow_executable``: the device
    itself makes code, as the emulator does. Raises OSError where the kernel refuses filters.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE)")
    install(before_load_program(os.getpid(), allow_executable=allow_executable))


def lock_scheduling() -> None:
    """Keeps the runner on its processor from now on. Call it before ``dlopen`` of the submission.

    Raises OSError where the kernel refuses filters.
    """
    install(scheduling_program())


def lock_after_load() -> None:
    """Forbids new code from now on. Call it after ``dlopen``, before the first call, unless the device makes code.

    Raises OSError where the kernel refuses filters.
    """
    install(after_load_program())


def _no_new_code() -> list[Instruction]:
    """Returns the rules by which neither writable memory nor a file that was writable becomes code."""
    return [
        *deny(("memfd_create", "memfd_secret"), ERRNO | errno.EPERM),
        *when("mprotect", 2, JUMP_ANY_BIT, _PROT_EXEC, ERRNO | errno.EPERM),
        *when("pkey_mprotect", 2, JUMP_ANY_BIT, _PROT_EXEC, ERRNO | errno.EPERM),
        (JUMP_EQUAL, 0, 6, NUMBERS["mmap"]),
        (LOAD, 0, 0, ARGS_OFFSET + 8 * 2),
        (JUMP_ANY_BIT, 0, 3, _PROT_EXEC),
        (LOAD, 0, 0, ARGS_OFFSET + 8 * 3),
        (JUMP_ANY_BIT, 0, 1, _MAP_ANONYMOUS),
        (RETURN, 0, 0, ERRNO | errno.EPERM),
        (LOAD, 0, 0, NR_OFFSET),
    ]
