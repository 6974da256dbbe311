"""System call filters, assembled here and installed either by bubblewrap (``base_program``) or by the runner on itself.

The runner imports this module, so it needs nothing but the standard library and no other module of the judge.

Four filters lie over one another; each is a list of what is denied, since what CUDA drivers call changes with every
release, and a list of what is allowed would break with it:

- *base*: the whole life of every jail, compilers included. No way out of the namespaces, no looking into other
  processes, no kernel interfaces with a history of holes.
- *before load*: the runner puts it on when its device is up and before it opens the submission, so that constructors
  meet it. No new program, process or thread, no sockets, no signals to others, and no way to executable memory but
  mapping a file that is there already, as the loader does.
- *scheduling*: just before the submission is opened, when the runner is on its processor. Nothing of where and when its
  threads run can be changed, nor of what a change to another process costs.
- *after load*: once the submission is loaded. No new executable mapping at all.

What only an attacker does kills the process (SIGSYS, which the supervisor turns into SV). What libraries are known to
try and to live without returns an error instead. Filters can be added and never removed, and hold for all threads.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
from collections.abc import Iterable

# From linux/seccomp.h, linux/filter.h, linux/audit.h, linux/sched.h and asm/unistd_64.h.
_KILL_PROCESS, _ERRNO, _ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_AUDIT_ARCH_X86_64, _X32_BIT = 0xC000003E, 0x40000000
_LOAD, _JUMP_EQUAL, _JUMP_GREATER_EQUAL, _JUMP_ANY_BIT, _RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
_NR_OFFSET, _ARCH_OFFSET, _ARGS_OFFSET = 0, 4, 16
_SECCOMP_SET_MODE_FILTER, _FLAG_TSYNC, _PR_SET_NO_NEW_PRIVS = 1, 1, 38
_CLONE_THREAD = 0x00010000
_PR_SET_TSC, _PR_SET_TIMERSLACK, _PR_SET_SPECULATION_CTRL, _PR_SCHED_CORE, _ARCH_SET_CPUID = 26, 29, 53, 62, 0x1012
#: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME.
_CLONE_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80
_AF_UNIX, _PROT_EXEC, _PR_SET_DUMPABLE, _PR_SET_PTRACER, _TIOCSTI = 1, 4, 4, 0x59616D61, 0x5412
_MAP_ANONYMOUS = 0x20

# fmt: off
NUMBERS = {
    "mmap": 9, "mprotect": 10, "ioctl": 16, "shmget": 29, "shmat": 30, "socket": 41, "connect": 42, "accept": 43,
    "sendto": 44, "sendmsg": 46, "bind": 49, "listen": 50, "socketpair": 53, "clone": 56, "fork": 57, "vfork": 58,
    "execve": 59, "kill": 62, "ptrace": 101, "syslog": 103, "rt_sigqueueinfo": 129, "uselib": 134, "personality": 135,
    "ustat": 136, "sysfs": 139, "vhangup": 153, "modify_ldt": 154, "pivot_root": 155, "prctl": 157, "chroot": 161,
    "acct": 163, "settimeofday": 164, "mount": 165, "umount2": 166, "swapon": 167, "swapoff": 168, "reboot": 169,
    "sethostname": 170, "setdomainname": 171, "iopl": 172, "ioperm": 173, "init_module": 175, "delete_module": 176,
    "quotactl": 179, "tkill": 200, "lookup_dcookie": 212, "clock_settime": 227, "tgkill": 234, "add_key": 248,
    "request_key": 249, "keyctl": 250, "migrate_pages": 256, "unshare": 272, "vmsplice": 278, "move_pages": 279,
    "accept4": 288, "rt_tgsigqueueinfo": 297, "perf_event_open": 298, "fanotify_init": 300, "open_by_handle_at": 304,
    "setns": 308, "process_vm_readv": 310, "process_vm_writev": 311, "kcmp": 312, "finit_module": 313, "seccomp": 317,
    "kexec_load": 246, "kexec_file_load": 320, "bpf": 321, "execveat": 322, "userfaultfd": 323, "pkey_mprotect": 329,
    "pidfd_send_signal": 424, "io_uring_setup": 425, "io_uring_enter": 426, "io_uring_register": 427, "open_tree": 428,
    "move_mount": 429, "fsopen": 430, "fsconfig": 431, "fsmount": 432, "fspick": 433, "pidfd_open": 434, "clone3": 435,
    "pidfd_getfd": 438, "process_madvise": 440, "mount_setattr": 442, "quotactl_fd": 443, "process_mrelease": 448,
    "open_tree_attr": 467, "memfd_create": 319, "memfd_secret": 447, "setpriority": 141, "sched_setparam": 142,
    "sched_setscheduler": 144, "arch_prctl": 158, "sched_setaffinity": 203, "ioprio_set": 251, "sched_setattr": 314,
}
# fmt: on

Instruction = tuple[int, int, int, int]

_BASE_KILLED = (
    "ptrace",
    "process_vm_readv",
    "process_vm_writev",
    "kcmp",
    "pidfd_getfd",
    "process_madvise",
    "bpf",
    "userfaultfd",
    "io_uring_setup",
    "io_uring_enter",
    "io_uring_register",
    "add_key",
    "request_key",
    "keyctl",
    "mount",
    "umount2",
    "pivot_root",
    "chroot",
    "open_tree",
    "open_tree_attr",
    "move_mount",
    "fsopen",
    "fsconfig",
    "fsmount",
    "fspick",
    "mount_setattr",
    "unshare",
    "setns",
    "open_by_handle_at",
    "init_module",
    "finit_module",
    "delete_module",
    "kexec_load",
    "kexec_file_load",
    "reboot",
    "swapon",
    "swapoff",
    "acct",
    "quotactl",
    "quotactl_fd",
    "iopl",
    "ioperm",
    "modify_ldt",
    "settimeofday",
    "clock_settime",
    "sethostname",
    "setdomainname",
    "vhangup",
    "uselib",
    "fanotify_init",
)
#: Asked for by libraries that look around; none needs an answer.
_BASE_REFUSED = (
    "perf_event_open",
    "personality",
    "syslog",
    "lookup_dcookie",
    "ustat",
    "sysfs",
    "migrate_pages",
    "move_pages",
    "vmsplice",
    "process_mrelease",
)
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


def base_program() -> bytes:
    """The filter of every jail, as an array of ``struct sock_filter`` (what ``bwrap --seccomp`` reads)."""
    return _assemble(
        [
            *_deny(_BASE_KILLED, _KILL_PROCESS),
            *_deny(_BASE_REFUSED, _ERRNO | errno.EPERM),
            *_deny(
                ("clone3",), _ERRNO | errno.ENOSYS
            ),  # its flags lie in memory, out of a filter's sight; libc falls back
            *_when("clone", 0, _JUMP_ANY_BIT, _CLONE_NAMESPACES, _KILL_PROCESS),
            *_when("ioctl", 1, _JUMP_EQUAL, _TIOCSTI, _KILL_PROCESS),
            *_unless("socket", 0, _JUMP_EQUAL, _AF_UNIX, _ERRNO | errno.EAFNOSUPPORT),
        ]
    )


def before_load_program(pid: int, *, allow_executable: bool) -> bytes:
    """The filter that constructors of the submission meet. ``pid`` is the runner's own: abort() signals itself."""
    return _assemble(
        [
            *([] if allow_executable else _no_new_code()),
            *_deny(_BEFORE_KILLED, _KILL_PROCESS),
            *_deny(_BEFORE_REFUSED, _ERRNO | errno.EPERM),
            *_deny(("clone3",), _ERRNO | errno.ENOSYS),
            # A thread made by a constructor would outlast it, and run beside what is timed.
            *_when("clone", 0, _JUMP_ANY_BIT, _CLONE_THREAD, _ERRNO | errno.EPERM),
            *_deny(("clone",), _KILL_PROCESS),
            # Drivers talk to their daemons by Unix sockets and live without; nothing honest here speaks another family.
            *_when("socket", 0, _JUMP_EQUAL, _AF_UNIX, _ERRNO | errno.EPERM),
            *_deny(("socket",), _KILL_PROCESS),
            *_unless("kill", 0, _JUMP_EQUAL, pid, _KILL_PROCESS),
            *_unless("tgkill", 0, _JUMP_EQUAL, pid, _KILL_PROCESS),
            # The runner made itself undumpable, which keeps /proc/self/mem shut.
            *_when("prctl", 0, _JUMP_EQUAL, _PR_SET_DUMPABLE, _ERRNO | errno.EPERM),
            *_when("prctl", 0, _JUMP_EQUAL, _PR_SET_PTRACER, _ERRNO | errno.EPERM),
        ]
    )


def scheduling_program() -> bytes:
    """The filter that keeps a process where it is. Drivers may ask for any of this, so it is refused."""
    options = (_PR_SET_TSC, _PR_SET_TIMERSLACK, _PR_SET_SPECULATION_CTRL, _PR_SCHED_CORE)
    return _assemble(
        [
            *_deny(_SCHEDULING, _ERRNO | errno.EPERM),
            *(rule for option in options for rule in _when("prctl", 0, _JUMP_EQUAL, option, _ERRNO | errno.EPERM)),
            *_when("arch_prctl", 0, _JUMP_EQUAL, _ARCH_SET_CPUID, _ERRNO | errno.EPERM),
        ]
    )


def after_load_program() -> bytes:
    """The filter for the time of the calls."""
    rules: list[Instruction] = []
    for name in ("mmap", "mprotect", "pkey_mprotect"):
        rules += _when(name, 2, _JUMP_ANY_BIT, _PROT_EXEC, _ERRNO | errno.EPERM)
    return _assemble(rules)


def lock_before_load(*, allow_executable: bool = False) -> None:
    """For the runner: after its own imports and the device's start, before ``dlopen`` of the submission.

    Makes the process undumpable too, so that ``/proc/self/mem`` cannot be opened. ``allow_executable``: the device
    itself makes code, as the emulator does. Raises OSError where filters are not to be had.
    """
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_DUMPABLE, 0, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_DUMPABLE)")
    install(before_load_program(os.getpid(), allow_executable=allow_executable))


def lock_scheduling() -> None:
    """For the runner: once it is where it is to stay, before ``dlopen`` of the submission. Raises OSError where filters
    are not to be had.
    """
    install(scheduling_program())


def lock_after_load() -> None:
    """For the runner: after ``dlopen``, before the first call, where the device itself makes no code. Raises OSError
    where filters are not to be had.
    """
    install(after_load_program())


def install(program: bytes) -> None:
    """Put a filter on every thread of this process. Raises OSError."""

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    filter_ = Filter(len(program) // 8, program)
    result = libc.syscall(NUMBERS["seccomp"], _SECCOMP_SET_MODE_FILTER, _FLAG_TSYNC, ctypes.byref(filter_))
    if result != 0:
        # A positive result is the thread that could not be brought under the filter.
        code = ctypes.get_errno() if result < 0 else errno.EBUSY
        raise OSError(code, f"seccomp: {os.strerror(code)}")


def _no_new_code() -> list[Instruction]:
    """Memory that was writable does not become code, nor does a file that could be written first."""
    return [
        *_deny(("memfd_create", "memfd_secret"), _ERRNO | errno.EPERM),
        *_when("mprotect", 2, _JUMP_ANY_BIT, _PROT_EXEC, _ERRNO | errno.EPERM),
        *_when("pkey_mprotect", 2, _JUMP_ANY_BIT, _PROT_EXEC, _ERRNO | errno.EPERM),
        (_JUMP_EQUAL, 0, 6, NUMBERS["mmap"]),
        (_LOAD, 0, 0, _ARGS_OFFSET + 8 * 2),
        (_JUMP_ANY_BIT, 0, 3, _PROT_EXEC),
        (_LOAD, 0, 0, _ARGS_OFFSET + 8 * 3),
        (_JUMP_ANY_BIT, 0, 1, _MAP_ANONYMOUS),
        (_RETURN, 0, 0, _ERRNO | errno.EPERM),
        (_LOAD, 0, 0, _NR_OFFSET),
    ]


def _assemble(rules: Iterable[Instruction]) -> bytes:
    if platform.machine() != "x86_64":
        raise OSError(errno.ENOSYS, f"no system call filter for {platform.machine()}")
    program = [
        (_LOAD, 0, 0, _ARCH_OFFSET),
        (_JUMP_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (_RETURN, 0, 0, _KILL_PROCESS),  # another architecture's table would have other numbers
        (_LOAD, 0, 0, _NR_OFFSET),
        (_JUMP_GREATER_EQUAL, 0, 1, _X32_BIT),
        (_RETURN, 0, 0, _KILL_PROCESS),
        *rules,
        (_RETURN, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def _deny(names: Iterable[str], action: int) -> list[Instruction]:
    """Each of the calls, whatever its arguments. The number is in the accumulator before and after."""
    rules: list[Instruction] = []
    for name in names:
        rules += [(_JUMP_EQUAL, 0, 1, NUMBERS[name]), (_RETURN, 0, 0, action)]
    return rules


def _when(name: str, argument: int, test: int, value: int, action: int) -> list[Instruction]:
    """The call when the test on the low half of an argument holds; otherwise on to the next rule."""
    return _conditional(name, argument, test, value, action, when=True)


def _unless(name: str, argument: int, test: int, value: int, action: int) -> list[Instruction]:
    """The call when the test does not hold."""
    return _conditional(name, argument, test, value, action, when=False)


def _conditional(name: str, argument: int, test: int, value: int, action: int, *, when: bool) -> list[Instruction]:
    jump = (test, 0, 1, value) if when else (test, 1, 0, value)
    return [
        (_JUMP_EQUAL, 0, 4, NUMBERS[name]),
        (_LOAD, 0, 0, _ARGS_OFFSET + 8 * argument),
        jump,
        (_RETURN, 0, 0, action),
        (_LOAD, 0, 0, _NR_OFFSET),
    ]
