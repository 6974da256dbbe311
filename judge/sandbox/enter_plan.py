"""The plan by which ``enter.py`` brings a command into its jail: cgroups, rlimits, staged files, user, bubblewrap."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from judge.errors import InternalError, JailUnavailable
from judge.sandbox import seccomp
from judge.sandbox.bwrap import bwrap_arguments
from judge.sandbox.cgroup import Group
from judge.sandbox.policy import Policy

#: The user that a judge running as root becomes before bubblewrap: nobody.
JAIL_UID = 65534
#: Mount points for staged files: any existing folder will do, since a mount namespace covers it.
_STAGE_FOLDERS = ("/mnt", "/media", "/srv", "/opt")


def enter_plan(
    policy: Policy, argv: Sequence[str], group: Group, status_fd: int, fds: list[int], *, walled: bool, as_root: bool
) -> dict[str, object]:
    """Returns the plan for ``enter.py``. The caller closes the descriptors that this adds to ``fds``."""
    for bind in policy.binds if walled else ():
        if not bind.source.exists():
            raise JailUnavailable(f"{bind.source} is to be shown in the jail and does not exist")
    staged = [bind.source for bind in policy.binds if walled and as_root and not _reachable(bind.source)]
    stage_folder = next((folder for folder in _STAGE_FOLDERS if Path(folder).is_dir()), None)
    if staged and stage_folder is None:
        raise InternalError(f"none of {', '.join(_STAGE_FOLDERS)} exists to mount on", "mkdir /mnt")
    if walled:
        argv = _bounded(policy, argv, group.controllers)
        seccomp_fd = None
        if policy.seccomp != "none":
            seccomp_fd = os.memfd_create("jail-seccomp")
            fds.append(seccomp_fd)
            os.write(seccomp_fd, seccomp.base_program(talks=policy.seccomp == "talking"))
            os.lseek(seccomp_fd, 0, os.SEEK_SET)
        sources = {source: f"{stage_folder}/{index}" for index, source in enumerate(staged)}
        command = bwrap_arguments(policy, argv, sources=sources, status_fd=status_fd, seccomp_fd=seccomp_fd)
    else:
        command = list(argv)
    drop = JAIL_UID if walled and as_root else None
    return {
        "cgroups": group.procs_files(),
        "rlimits": _rlimits(policy, group.controllers),
        "stage": [str(source) for source in staged],
        "stage_folder": stage_folder,
        "uid": drop,
        "gid": drop,
        "die_with_parent": not walled,
        "cwd": None if walled else policy.cwd,
        "status_fd": status_fd,
        "argv": command,
        "env": {} if walled else dict(policy.env),
    }


def _bounded(policy: Policy, argv: Sequence[str], controllers: frozenset[str]) -> Sequence[str]:
    """Returns the command, under RLIMIT_NPROC where no cgroup limits its processes.

    The limit is set inside the jail, since the kernel (5.14 and newer) counts processes by user *and* user namespace:
    set outside it would count those of every jail and of everything else that runs under that uid.
    """
    if "pids" in controllers or policy.limits.processes is None:
        return argv
    prlimit = "/usr/bin/prlimit"
    if not Path(prlimit).exists():
        raise JailUnavailable("there is neither a pids cgroup nor prlimit to bound processes", "install util-linux")
    return [prlimit, f"--nproc={policy.limits.processes}", "--", *argv]


def _rlimits(policy: Policy, controllers: frozenset[str]) -> dict[str, int]:
    limits = policy.limits
    rlimits = {"RLIMIT_CORE": 0, "RLIMIT_NOFILE": limits.open_files, "RLIMIT_MSGQUEUE": 0}
    if limits.file_bytes is not None:
        rlimits["RLIMIT_FSIZE"] = limits.file_bytes
    if not limits.real_time:
        rlimits["RLIMIT_RTPRIO"] = 0
    if limits.cpu_s is not None:
        rlimits["RLIMIT_CPU"] = max(1, round(limits.cpu_s))
    if "memory" not in controllers and limits.memory_bytes is not None:
        name = "RLIMIT_AS" if limits.memory_fallback == "address_space" else "RLIMIT_DATA"
        rlimits[name] = limits.memory_bytes
    return rlimits


def _reachable(path: Path) -> bool:
    """Returns whether every user may traverse the folders above ``path``."""
    return all(os.stat(folder).st_mode & 0o001 for folder in path.absolute().parents)  # noqa: PTH116
