"""Finds where this process may make cgroups, on v1 and v2 alike, and removes those that a killed worker left."""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import signal
import time
from collections.abc import Mapping
from pathlib import Path

from records import dataclass

CONTROLLERS = ("memory", "pids", "cpu")
#: Every cgroup of a jail has a name that begins so.
PREFIX = "gpujudge-"
#: v1 splits what v2's cpu controller reads; only the accounting half is wanted.
_V1_NAMES = {"memory": "memory", "pids": "pids", "cpuacct": "cpu"}


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where cgroups can be made. ``folders`` maps each usable controller to the parent folder."""

    version: int
    folders: Mapping[str, Path]

    def missing(self) -> tuple[str, ...]:
        """Returns the controllers that no jail on this machine has."""
        return tuple(name for name in CONTROLLERS if name not in self.folders)


@functools.cache
def find_hierarchy() -> Hierarchy:
    """Finds where this process may make cgroups, by making one. Prefers v1 controllers where both are mounted."""
    own = _own_paths()
    v1 = _usable_v1(own)
    hierarchy = Hierarchy(1, v1) if v1 else Hierarchy(2, _usable_v2(own.get("", "/")))
    remove_stale(hierarchy)
    return hierarchy


def remove_stale(hierarchy: Hierarchy, older_than_s: float = 3600.0) -> int:
    """Removes the groups that killed processes of the judge left, with what still runs in them; returns how many.

    A group's name identifies its owner. Where this process cannot see the owner (in another container) the group's age
    decides: no jail lives for an hour.
    """
    removed = 0
    for parent in dict.fromkeys(hierarchy.folders.values()):
        for folder in parent.glob(PREFIX + "*"):
            with contextlib.suppress(OSError):
                alive = is_owner_alive(folder.name)
                if alive is None:
                    alive = time.time() - folder.stat().st_mtime <= older_than_s
                if not alive and _remove_folder(folder):
                    removed += 1
    return removed


def _remove_folder(folder: Path, within_s: float = 0.2) -> bool:
    """Removes a group and returns whether it is gone; killed processes take a moment to leave it."""
    deadline = time.monotonic() + within_s
    while True:
        kill_processes(folder)
        try:
            folder.rmdir()
        except FileNotFoundError:
            return False  # another process that cleans up was first
        except OSError:
            if time.monotonic() > deadline:
                return False
            time.sleep(0.002)
        else:
            return True


def own_identity() -> str:
    """Returns this process's lasting identifier: process namespace, pid and start time, separated by dots."""
    pid = os.getpid()
    return f"{_pid_namespace()}.{pid}.{_started_ticks(pid)}"


def is_owner_alive(name: str) -> bool | None:
    """Returns whether the process whose ``own_identity`` ends this name lives; None if this process cannot see that."""
    _, _, identity = name.partition(".")
    fields = identity.split(".")
    if len(fields) != 3 or not all(field.isdigit() for field in fields) or int(fields[0]) != _pid_namespace():
        return None
    return _started_ticks(int(fields[1])) == int(fields[2])


def _pid_namespace() -> int:
    """Returns the inode of this process's own process namespace; 0 without /proc."""
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def _started_ticks(pid: int) -> int:
    """Returns when a process started, in clock ticks since the machine did; 0 for one that has ended."""
    # The name in parentheses may hold anything; what counts comes after the last one.
    fields = read_text(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()
    return int(fields[19]) if len(fields) > 19 and fields[0] not in "ZX" else 0


def _own_paths() -> dict[str, str]:
    """Returns this process's path in each controller (``""`` for v2), from /proc/self/cgroup."""
    paths: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                paths[controller] = path
    return paths


def _mounts(kind: str) -> list[tuple[Path, str, list[str]]]:
    """Returns (mount point, root of the mount within its file system, options) of each cgroup mount of this kind."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            left, _, right = line.partition(" - ")
            if right.split(" ")[0] == kind:
                fields = left.split(" ")
                found.append((Path(fields[4]), fields[3], right.split(" ")[2].split(",")))
    return found


def _own_folder(mount: Path, root: str, own: str) -> Path:
    """Returns the folder of this process's cgroup below a mount that may show only a part of the hierarchy."""
    inside = own[len(root) :] if root != "/" and own.startswith(root) else own
    folder = mount / inside.lstrip("/")
    return folder if folder.is_dir() else mount


def _usable_v1(own: Mapping[str, str]) -> dict[str, Path]:
    usable: dict[str, Path] = {}
    for mount, root, options in _mounts("cgroup"):
        for name, controller in _V1_NAMES.items():
            if name in options and name in own:
                folder = _own_folder(mount, root, own[name])
                if _can_make(folder, None):
                    usable[controller] = folder
    return usable


def _usable_v2(own: str) -> dict[str, Path]:
    for mount, root, _ in _mounts("cgroup2"):
        folder = _own_folder(mount, root, own)
        available = set(read_text(folder / "cgroup.controllers").split())
        wanted = [name for name in CONTROLLERS if name in available]
        enabled = set(read_text(folder / "cgroup.subtree_control").split())
        if not set(wanted) <= enabled:
            _enable_v2(folder, [name for name in wanted if name not in enabled], in_namespace_root=own == "/")
        # A systemd service or session keeps its processes in a leaf: its parent may already hand controllers down.
        places = [folder, folder.parent] if folder != mount else [folder]
        found = [_enabled_v2(place) for place in places if _can_make(place, None if place == folder else folder)]
        if found:
            return max(found, key=len)
    return {}


def _enabled_v2(folder: Path) -> dict[str, Path]:
    """Returns the controllers that children of ``folder`` would have. Every cgroup reports CPU time, enabled or not."""
    enabled = {*read_text(folder / "cgroup.subtree_control").split(), "cpu"}
    return {name: folder for name in CONTROLLERS if name in enabled}


def _enable_v2(folder: Path, controllers: list[str], *, in_namespace_root: bool) -> None:
    """Enables ``controllers`` for children of ``folder``.

    The kernel refuses that for a cgroup with processes of its own (except the real root). At the root of a cgroup
    namespace, as in a container, all processes are the container's; they are moved into a leaf first.
    """
    if _write_all(folder, controllers) or not in_namespace_root:
        return
    leaf = folder / "gpujudge-host"
    with contextlib.suppress(OSError):
        leaf.mkdir(exist_ok=True)
        for _ in range(3):
            for pid in process_ids(folder):
                with contextlib.suppress(OSError):
                    (leaf / "cgroup.procs").write_text(str(pid))
            if _write_all(folder, controllers):
                return


def _write_all(folder: Path, controllers: list[str]) -> bool:
    done = True
    for controller in controllers:
        done = write_value(folder / "cgroup.subtree_control", f"+{controller}") and done
    return done


def _can_make(folder: Path, sibling_of: Path | None) -> bool:
    """Returns whether a child can be made and joined. Joining needs write access to the common ancestor too."""
    probe = folder / (PREFIX + "probe-" + secrets.token_hex(4))
    try:
        probe.mkdir()
    except OSError:
        return False
    try:
        return os.access(probe / "cgroup.procs", os.W_OK) and (
            sibling_of is None or os.access(folder / "cgroup.procs", os.W_OK)
        )
    finally:
        with contextlib.suppress(OSError):
            probe.rmdir()


def kill_processes(folder: Path) -> None:
    """Sends SIGKILL to every process in a cgroup."""
    for pid in process_ids(folder):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def process_ids(folder: Path) -> list[int]:
    """Returns the processes in a cgroup."""
    return [int(line) for line in read_text(folder / "cgroup.procs").split()]


def read_text(path: Path) -> str:
    """Returns a file's text; empty if it cannot be read."""
    try:
        return path.read_text()
    except OSError:
        return ""


def write_value(path: Path, value: object) -> bool:
    """Writes a value; returns False if the kernel refuses it."""
    try:
        path.write_text(str(value))
    except OSError:
        return False
    return True
