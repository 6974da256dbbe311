"""A script that runs between the judge and bubblewrap: joins the cgroup, sets limits, stages files, drops root.

It stages the files that the jail's user cannot reach by binding them where that user can; in the end it becomes
bubblewrap. It is a separate process because all of this changes the process that does it, and must not affect the
judge's own threads. It imports next to nothing and reads its plan (JSON) from the descriptor named by its only
argument. On failure it writes the reason to the plan's status descriptor and exits with 125.
"""

from __future__ import annotations

import contextlib
import json
import os
import resource
import signal
import sys
from typing import Any

CLONE_NEWNS = 0x00020000
MS_NOSUID, MS_NODEV, MS_BIND, MS_REC, MS_SLAVE = 2, 4, 4096, 16384, 1 << 19
PR_SET_PDEATHSIG, PR_SET_NO_NEW_PRIVS = 1, 38
FAILED = 125
CPU_GRACE_S = 2


def enter(plan: dict[str, Any]) -> None:
    """Carries out the plan and becomes bubblewrap; returns only by raising."""
    for path in plan["cgroups"]:
        with open(path, "w") as procs:  # noqa: PTH123
            procs.write("0")
    libc = None
    if plan["stage"] or plan["uid"] is not None or plan["die_with_parent"]:
        import ctypes

        libc = ctypes.CDLL(None, use_errno=True)
    if plan["stage"]:
        stage(libc, plan["stage"], plan["stage_folder"])
    for name, value in plan["rlimits"].items():
        limit = getattr(resource, name)
        hard = resource.getrlimit(limit)[1]
        bound = value if hard == resource.RLIM_INFINITY else min(value, hard)
        # At a hard limit on CPU time the kernel sends SIGKILL, as anything may; at a soft one SIGXCPU, which tells why.
        grace = CPU_GRACE_S if name == "RLIMIT_CPU" else 0
        resource.setrlimit(
            limit, (bound, bound + grace if hard == resource.RLIM_INFINITY else min(bound + grace, hard))
        )
    os.umask(0o022)
    # Python ignores these two signals, and exec would keep them ignored: nothing inside would die of its limits.
    for number in (signal.SIGPIPE, signal.SIGXFSZ):
        signal.signal(number, signal.SIG_DFL)
    if plan["uid"] is not None:
        os.setgroups([])
        os.setresgid(plan["gid"], plan["gid"], plan["gid"])
        os.setresuid(plan["uid"], plan["uid"], plan["uid"])
    if libc is not None:
        libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        if plan["die_with_parent"]:
            libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if plan["cwd"]:
        os.chdir(plan["cwd"])
    os.execve(plan["argv"][0], plan["argv"], plan["env"])


def stage(libc: Any, sources: list[str], folder: str) -> None:
    """Binds ``sources[i]`` on ``folder/i`` in a new mount namespace of this process.

    The folder becomes a tmpfs that only this namespace sees. Sources are opened first, since it may cover them.
    """
    _check(libc.unshare(CLONE_NEWNS), "unshare(CLONE_NEWNS)")
    # Slave, not private: a running jail must not keep the host from unmounting a disk.
    _check(libc.mount(b"none", b"/", None, MS_REC | MS_SLAVE, None), "mount(/, MS_SLAVE)")
    handles = [os.open(source, os.O_PATH | os.O_CLOEXEC) for source in sources]
    _check(libc.mount(b"tmpfs", folder.encode(), b"tmpfs", MS_NOSUID | MS_NODEV, b"size=64k,mode=755"), "mount(tmpfs)")
    for index, (source, handle) in enumerate(zip(sources, handles, strict=True)):
        target = f"{folder}/{index}"
        if os.path.isdir(source_path := f"/proc/self/fd/{handle}"):  # noqa: PTH112
            os.mkdir(target, 0o755)  # noqa: PTH102
        else:
            os.close(os.open(target, os.O_CREAT | os.O_WRONLY, 0o644))
        _check(libc.mount(source_path.encode(), target.encode(), None, MS_BIND | MS_REC, None), f"bind of {source}")
        os.close(handle)


def _check(result: int, what: str) -> None:
    if result != 0:
        import ctypes

        code = ctypes.get_errno()
        raise OSError(code, f"{what}: {os.strerror(code)}")


def main() -> None:
    """Enters the jail of the plan at the descriptor ``argv[1]``; exits with FAILED if that is impossible."""
    with os.fdopen(int(sys.argv[1])) as handle:
        plan = json.load(handle)
    try:
        enter(plan)
    except Exception as error:
        with contextlib.suppress(OSError):
            os.write(plan["status_fd"], json.dumps({"enter-error": str(error)}).encode() + b"\n")
        os._exit(FAILED)


if __name__ == "__main__":
    main()
