"""The system call filter of every jail, compilers included, which bubblewrap installs.

It denies leaving the namespaces, reading other processes, and kernel interfaces with a history of vulnerabilities. It
lists what is denied: an allow-list would break with every CUDA driver, whose calls change from release to release.
Calls that only an attacker makes kill the process (SIGSYS, which the supervisor turns into SV); calls that libraries
try and can do without return an error. The runner adds filters of its own (``judge.runner.seccomp``).
"""

from __future__ import annotations

import errno

from judge.wire.bpf import ERRNO, JUMP_ANY_BIT, JUMP_EQUAL, KILL_PROCESS, assemble, deny, unless, when

#: NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET, NEWTIME, from linux/sched.h.
_CLONE_NAMESPACES = 0x00020000 | 0x02000000 | 0x04000000 | 0x08000000 | 0x10000000 | 0x20000000 | 0x40000000 | 0x80
_AF_UNIX, _AF_INET, _TIOCSTI = 1, 2, 0x5412

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
#: Calls that libraries try on start; none of them needs to succeed.
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


def base_program(*, talks: bool = False) -> bytes:
    """Returns the filter of every jail, as an array of ``struct sock_filter`` (what ``bwrap --seccomp`` reads).

    ``talks``: its processes may talk to each other over the loopback of the jail's own network, as profilers do.
    """
    families = (_AF_UNIX, _AF_INET) if talks else (_AF_UNIX,)
    return assemble(
        [
            *deny(_BASE_KILLED, KILL_PROCESS),
            *deny(_BASE_REFUSED, ERRNO | errno.EPERM),
            # A filter cannot read the flags of clone3, which lie in memory; libc falls back to clone.
            *deny(("clone3",), ERRNO | errno.ENOSYS),
            *when("clone", 0, JUMP_ANY_BIT, _CLONE_NAMESPACES, KILL_PROCESS),
            *when("ioctl", 1, JUMP_EQUAL, _TIOCSTI, KILL_PROCESS),
            *unless("socket", 0, JUMP_EQUAL, families, ERRNO | errno.EAFNOSUPPORT),
        ]
    )
