"""Turns a policy into the arguments of bubblewrap (0.8 or newer). Of the host it reads only which paths exist."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path

from judge.errors import JailUnavailable
from judge.sandbox.policy import Policy

_BIND_FLAG = {"ro": "--ro-bind", "rw": "--bind", "dev": "--dev-bind"}
#: On a merged system these are links into /usr, elsewhere folders of their own.
_ROOT_FOLDERS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")


def find_bwrap() -> str:
    """Returns the path of bubblewrap. Raises JailUnavailable with what to install."""
    path = shutil.which("bwrap", path="/usr/bin:/usr/local/bin:/bin") or shutil.which("bwrap")
    if path is None:
        raise JailUnavailable("bubblewrap is not installed", "apt-get install -y bubblewrap")
    return path


def bwrap_arguments(
    policy: Policy, command: Sequence[str], *, sources: Mapping[Path, str], status_fd: int, seccomp_fd: int | None
) -> list[str]:
    """Returns the command line that runs ``command`` under ``policy``.

    ``sources`` maps the source of a bind to the path where it is staged, if the jail's user cannot reach its own path.
    """
    arguments = [
        find_bwrap(),
        "--unshare-all",
        "--unshare-user",
        "--disable-userns",
        "--die-with-parent",
        "--new-session",
        "--clearenv",
        "--hostname",
        "jail",
        "--json-status-fd",
        str(status_fd),
        "--ro-bind",
        "/usr",
        "/usr",
    ]
    for name in _ROOT_FOLDERS:
        folder = Path("/") / name
        if folder.is_symlink():
            arguments += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            arguments += ["--ro-bind", str(folder), str(folder)]
    size = str(policy.limits.tmpfs_bytes)
    arguments += ["--proc", "/proc", "--dev", "/dev"]
    arguments += ["--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp"]  # noqa: S108 (the jail's own)
    for bind in policy.binds:
        arguments += [_BIND_FLAG[bind.kind], sources.get(bind.source, str(bind.source)), bind.target]
    for folder_inside in policy.hidden:
        arguments += ["--size", "4096", "--tmpfs", folder_inside, "--remount-ro", folder_inside]
    # The root and /dev are tmpfs without a size limit: read-only, so that nothing can fill them.
    arguments += ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", policy.cwd]
    for key, value in policy.env.items():
        arguments += ["--setenv", key, value]
    if seccomp_fd is not None:
        arguments += ["--seccomp", str(seccomp_fd)]
    return [*arguments, "--", *command]
