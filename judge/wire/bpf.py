"""Assembles system call filters (classic BPF), for the jail and for the runner inside it.

A filter is a list of rules. Each denies one call, always or depending on one of its arguments; calls that no rule
denies are allowed. ``assemble`` turns the rules into an array of ``struct sock_filter``.
"""

from __future__ import annotations

import ctypes
import errno
import os
import struct
from collections.abc import Iterable, Sequence

# From linux/seccomp.h, linux/filter.h, linux/audit.h and linux/prctl.h.
_SECCOMP_SET_MODE_FILTER, _FLAG_TSYNC, _PR_SET_NO_NEW_PRIVS = 1, 1, 38
KILL_PROCESS, ERRNO, ALLOW = 0x80000000, 0x00050000, 0x7FFF0000
_AUDIT_ARCH_X86_64, _X32_BIT = 0xC000003E, 0x40000000
LOAD, JUMP_EQUAL, JUMP_GREATER_EQUAL, JUMP_ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
NR_OFFSET, ARGS_OFFSET = 0, 16
_ARCH_OFFSET = 4

#: The numbers of asm/unistd_64.h.
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
    "open": 2, "truncate": 76, "rename": 82, "mkdir": 83, "rmdir": 84, "creat": 85, "link": 86, "unlink": 87,
    "symlink": 88, "chmod": 90, "openat": 257, "mkdirat": 258, "unlinkat": 263, "renameat": 264, "linkat": 265,
    "symlinkat": 266, "fchmodat": 268, "renameat2": 316, "openat2": 437, "prlimit64": 302,
    "msgget": 68, "semget": 64, "fcntl": 72, "fchmod": 91, "chown": 92, "fchown": 93, "lchown": 94, "utime": 132,
    "mknod": 133, "setxattr": 188, "lsetxattr": 189, "fsetxattr": 190, "removexattr": 197, "lremovexattr": 198,
    "fremovexattr": 199, "utimes": 235, "mq_open": 240, "mq_unlink": 241, "inotify_init": 253, "mknodat": 259,
    "fchownat": 260, "futimesat": 261, "utimensat": 280, "inotify_init1": 294, "name_to_handle_at": 303,
    "fchmodat2": 452, "setxattrat": 463, "removexattrat": 466, "file_setattr": 469,
}
# fmt: on

Instruction = tuple[int, int, int, int]


def assemble(rules: Iterable[Instruction]) -> bytes:
    """Returns the filter's bytes. Raises OSError on a processor other than x86-64."""
    if (machine := os.uname().machine) != "x86_64":
        raise OSError(errno.ENOSYS, f"no system call filter for {machine}")
    program = [
        (LOAD, 0, 0, _ARCH_OFFSET),
        (JUMP_EQUAL, 1, 0, _AUDIT_ARCH_X86_64),
        (RETURN, 0, 0, KILL_PROCESS),  # another architecture's table would have other numbers
        (LOAD, 0, 0, NR_OFFSET),
        (JUMP_GREATER_EQUAL, 0, 1, _X32_BIT),
        (RETURN, 0, 0, KILL_PROCESS),
        *rules,
        (RETURN, 0, 0, ALLOW),
    ]
    return b"".join(struct.pack("<HBBI", *instruction) for instruction in program)


def deny(names: Iterable[str], action: int) -> list[Instruction]:
    """Returns rules that deny each of the calls, whatever its arguments.

    The accumulator holds the call's number before and after.
    """
    rules: list[Instruction] = []
    for name in names:
        rules += [(JUMP_EQUAL, 0, 1, NUMBERS[name]), (RETURN, 0, 0, action)]
    return rules


def when(name: str, argument: int, test: int, value: int, action: int) -> list[Instruction]:
    """Returns a rule that denies the call if the test on the low half of an argument holds."""
    return _on_argument(name, argument, [(test, 0, 1, value)], action)


def unless(name: str, argument: int, test: int, values: Sequence[int], action: int) -> list[Instruction]:
    """Returns a rule that denies the call unless the test on an argument's low half holds for one of the values."""
    tests = [(test, len(values) - index, 0, value) for index, value in enumerate(values)]
    return _on_argument(name, argument, tests, action)


def _on_argument(name: str, argument: int, tests: Sequence[Instruction], action: int) -> list[Instruction]:
    return [
        (JUMP_EQUAL, 0, len(tests) + 3, NUMBERS[name]),
        (LOAD, 0, 0, ARGS_OFFSET + 8 * argument),
        *tests,
        (RETURN, 0, 0, action),
        (LOAD, 0, 0, NR_OFFSET),
    ]


def install(program: bytes) -> None:
    """Installs a filter on every thread of this process. Raises OSError."""

    class Filter(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS)")
    filter_ = Filter(len(program) // 8, program)
    result = libc.syscall(NUMBERS["seccomp"], _SECCOMP_SET_MODE_FILTER, _FLAG_TSYNC, ctypes.byref(filter_))
    if result != 0:
        # A positive result is the id of a thread that did not take the filter.
        code = ctypes.get_errno() if result < 0 else errno.EBUSY
        raise OSError(code, f"seccomp: {os.strerror(code)}")
