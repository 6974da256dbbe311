"""Writes docker/seccomp-worker.json: the system calls that a worker's container may make.

    python docker/make_seccomp.py            # x86-64, from this machine's kernel headers

Docker's default profile denies the calls with which bubblewrap builds a jail (clone and unshare with new namespaces,
mount, umount2, pivot_root, sethostname) to processes without CAP_SYS_ADMIN. The worker has no capability; the kernel
lets it make these calls only inside its own user namespace. This profile allows them and denies what no worker needs.
Unknown calls, such as those of newer kernels, fail with ENOSYS, so that the C library falls back to older ones.
"""

from __future__ import annotations

import json
import re
from pathlib import Path

HEADER = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
TARGET = Path(__file__).with_name("seccomp-worker.json")
ENOSYS = 38

#: The calls that build a jail. A test removes each one and checks that no jail can be built.
NEEDED_BY_THE_JAIL = ("clone", "unshare", "mount", "umount2", "pivot_root", "sethostname")

DENIED = {
    "loads code into the kernel": "init_module finit_module delete_module create_module query_module "
    "get_kernel_syms bpf",
    "replaces or stops the kernel": "kexec_load kexec_file_load reboot",
    "changes the machine's clock": "settimeofday clock_settime adjtimex clock_adjtime",
    "changes swap, quotas, accounting": "swapon swapoff quotactl quotactl_fd acct",
    "talks to hardware": "iopl ioperm modify_ldt",
    "looks into other processes": "ptrace process_vm_readv process_vm_writev process_madvise kcmp pidfd_getfd "
    "perf_event_open lookup_dcookie",
    "has a history of holes and no use here": "userfaultfd io_uring_setup io_uring_enter io_uring_register "
    "add_key request_key keyctl memfd_secret fanotify_init",
    "reaches files past their path": "open_by_handle_at",
    "joins namespaces, or mounts in ways bubblewrap does not": "setns chroot umount fsopen fsconfig fsmount fspick "
    "move_mount open_tree mount_setattr",
    # Its flags are in memory, where a filter cannot see them; the C library falls back to clone.
    "is clone out of sight": "clone3",
    "moves memory between nodes": "mbind set_mempolicy set_mempolicy_home_node get_mempolicy migrate_pages move_pages",
    "changes what the host is called, or reads its log": "setdomainname syslog vhangup",
    "is obsolete": "_sysctl uselib ustat sysfs nfsservctl getpmsg putpmsg afs_syscall tuxcall security vserver "
    "epoll_ctl_old epoll_wait_old personality",
}


def denied() -> frozenset[str]:
    """Returns every name in DENIED."""
    return frozenset(name for names in DENIED.values() for name in names.split())


def known() -> dict[str, int]:
    """Returns the numbers of the system calls in the kernel headers, by name."""
    found = re.findall(r"^#define __NR_(\w+)\s+(\d+)$", HEADER.read_text(), flags=re.MULTILINE)
    return {name: int(number) for name, number in found}


def profile() -> dict[str, object]:
    """Returns the profile in the format of Docker and Podman."""
    allowed = sorted(set(known()) - denied())
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": ENOSYS,
        "architectures": ["SCMP_ARCH_X86_64"],
        "syscalls": [{"names": allowed, "action": "SCMP_ACT_ALLOW"}],
    }


if __name__ == "__main__":
    TARGET.write_text(json.dumps(profile(), indent=1) + "\n")
