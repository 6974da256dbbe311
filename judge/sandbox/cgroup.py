"""A cgroup for one jail: bounds and readings over its whole tree, on v1 and v2 alike.

Where no cgroup can be made (an ordinary user without delegation, a read-only mount) ``Group.create`` gives a group with
no controllers; everything then reads None, and the jail lives by its rlimits alone. ``Hierarchy.missing`` says so.
"""

from __future__ import annotations

import contextlib
import functools
import os
import secrets
import signal
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

CONTROLLERS = ("memory", "pids", "cpu")
#: v1 splits what v2's cpu controller reads; only the accounting half is wanted.
_V1_NAMES = {"memory": "memory", "pids": "pids", "cpuacct": "cpu"}
_PREFIX = "gpujudge-"


@dataclass(frozen=True, slots=True)
class Hierarchy:
    """Where children can be made. ``folders`` maps each controller that works to the folder to make them in."""

    version: int
    folders: Mapping[str, Path]

    def missing(self) -> tuple[str, ...]:
        """The controllers that no jail here will have."""
        return tuple(name for name in CONTROLLERS if name not in self.folders)


@dataclass(frozen=True, slots=True)
class Usage:
    """What the group used so far; None where no controller could say."""

    cpu_s: float | None
    memory_peak_bytes: int | None
    oom_killed: bool


class Group:
    """One cgroup in each controller. Made before its processes, removed after them."""

    def __init__(self, hierarchy: Hierarchy, folders: Mapping[str, Path]) -> None:
        self._hierarchy = hierarchy
        self._folders = dict(folders)

    @staticmethod
    def create(*, memory_bytes: int | None, processes: int | None, hierarchy: Hierarchy | None = None) -> Group:
        """A fresh group with these bounds in every controller that can be had."""
        hierarchy = find_hierarchy() if hierarchy is None else hierarchy
        name = _PREFIX + secrets.token_hex(8)
        folders: dict[str, Path] = {}
        for controller, parent in hierarchy.folders.items():
            folder = parent / name
            with contextlib.suppress(OSError):
                folder.mkdir(exist_ok=True)
                folders[controller] = folder
        group = Group(hierarchy, folders)
        group._limit(memory_bytes, processes)
        return group

    @property
    def controllers(self) -> frozenset[str]:
        """Those this group has."""
        return frozenset(self._folders)

    def procs_files(self) -> list[str]:
        """The files into which a process writes ``0`` to join."""
        return [str(folder / "cgroup.procs") for folder in self._unique()]

    def usage(self) -> Usage:
        """Readings of now. The peak and the CPU time stay readable after the processes ended."""
        memory, cpu = self._folders.get("memory"), self._folders.get("cpu")
        if self._hierarchy.version == 2:
            return Usage(
                cpu_s=_scaled(_field(cpu, "cpu.stat", "usage_usec"), 1e-6),
                memory_peak_bytes=_number(memory, "memory.peak"),
                oom_killed=bool(_field(memory, "memory.events", "oom_kill")),
            )
        return Usage(
            cpu_s=_scaled(_number(cpu, "cpuacct.usage"), 1e-9),
            memory_peak_bytes=_number(memory, "memory.max_usage_in_bytes"),
            oom_killed=bool(_field(memory, "memory.oom_control", "oom_kill")),
        )

    def kill(self) -> None:
        """SIGKILL everything in it."""
        for folder in self._unique():
            if (folder / "cgroup.kill").exists():
                with contextlib.suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")
                continue
            _kill_all(folder)

    def populated(self) -> bool:
        """Whether a process is left in it."""
        return any(_pids(folder) for folder in self._unique())

    def remove(self, *, within_s: float = 2.0) -> bool:
        """Kill what is left and remove the group; False when something in it would not die in time (an uninterruptible
        call into a driver): the folder then stays, for ``remove_stale``."""
        deadline = time.monotonic() + within_s
        while self._folders:
            for controller, folder in list(self._folders.items()):
                with contextlib.suppress(FileNotFoundError, OSError):
                    folder.rmdir()
                if not folder.exists():
                    del self._folders[controller]
            if not self._folders:
                break
            if time.monotonic() > deadline:
                return False
            self.kill()
            time.sleep(0.002)
        return True

    def _unique(self) -> list[Path]:
        return list(dict.fromkeys(self._folders.values()))

    def _limit(self, memory_bytes: int | None, processes: int | None) -> None:
        memory, pids = self._folders.get("memory"), self._folders.get("pids")
        if memory is not None and memory_bytes is not None:
            if self._hierarchy.version == 2:
                _write(memory / "memory.max", memory_bytes)
                _write(memory / "memory.swap.max", 0)
                # The whole jail dies at once rather than losing a process that its own code could miss.
                _write(memory / "memory.oom.group", 1)
            else:
                _write(memory / "memory.limit_in_bytes", memory_bytes)
                _write(memory / "memory.memsw.limit_in_bytes", memory_bytes)
        if pids is not None and processes is not None:
            _write(pids / "pids.max", processes)


@functools.cache
def find_hierarchy() -> Hierarchy:
    """Where this process may make cgroups, tried by making one. v1 controllers win where both are mounted."""
    own = _own_paths()
    v1 = _usable_v1(own)
    hierarchy = Hierarchy(1, v1) if v1 else Hierarchy(2, _usable_v2(own.get("", "/")))
    remove_stale(hierarchy)
    return hierarchy


def remove_stale(hierarchy: Hierarchy, older_than_s: float = 3600.0) -> int:
    """Remove groups that a killed worker left behind; the number removed. Young ones may be joined yet, and no jail
    lives for an hour: a process in an older one is a bubblewrap whose parent was killed before it could tell it to go.
    """
    removed = 0
    for parent in dict.fromkeys(hierarchy.folders.values()):
        for folder in parent.glob(_PREFIX + "*"):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > older_than_s:
                    _kill_all(folder)
                    folder.rmdir()
                    removed += 1
    return removed


def _kill_all(folder: Path) -> None:
    for pid in _pids(folder):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def _own_paths() -> dict[str, str]:
    """Controller (``""`` for v2) to this process's path in it, from /proc/self/cgroup."""
    paths: dict[str, str] = {}
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            for controller in controllers.split(","):
                paths[controller] = path
    return paths


def _mounts(kind: str) -> list[tuple[Path, str, list[str]]]:
    """(mount point, root of the mount within its file system, options) of the cgroup mounts of this kind."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mountinfo").read_text().splitlines():
            left, _, right = line.partition(" - ")
            if right.split(" ")[0] == kind:
                fields = left.split(" ")
                found.append((Path(fields[4]), fields[3], right.split(" ")[2].split(",")))
    return found


def _own_folder(mount: Path, root: str, own: str) -> Path:
    """The folder of this process's own cgroup below a mount that may show only a part of the hierarchy."""
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
        available = set(_read(folder / "cgroup.controllers").split())
        wanted = [name for name in CONTROLLERS if name in available]
        enabled = set(_read(folder / "cgroup.subtree_control").split())
        if not set(wanted) <= enabled:
            _enable_v2(folder, [name for name in wanted if name not in enabled], in_namespace_root=own == "/")
        # A systemd service or session keeps its processes in a leaf: its parent may already hand controllers down.
        places = [folder, folder.parent] if folder != mount else [folder]
        found = [_enabled_v2(place) for place in places if _can_make(place, None if place == folder else folder)]
        if found:
            return max(found, key=len)
    return {}


def _enabled_v2(folder: Path) -> dict[str, Path]:
    """What children of ``folder`` would have. CPU time is told of every cgroup, whether or not the controller is on."""
    enabled = {*_read(folder / "cgroup.subtree_control").split(), "cpu"}
    return {name: folder for name in CONTROLLERS if name in enabled}


def _enable_v2(folder: Path, controllers: list[str], *, in_namespace_root: bool) -> None:
    """Hand ``controllers`` down to children of ``folder``.

    A cgroup with processes of its own cannot (except the real root). At the root of a cgroup namespace, that is in a
    container, everything in it is the container's, and is moved into a leaf first.
    """
    if _write_all(folder, controllers) or not in_namespace_root:
        return
    leaf = folder / "gpujudge-host"
    with contextlib.suppress(OSError):
        leaf.mkdir(exist_ok=True)
        for _ in range(3):
            for pid in _pids(folder):
                with contextlib.suppress(OSError):
                    (leaf / "cgroup.procs").write_text(str(pid))
            if _write_all(folder, controllers):
                return


def _write_all(folder: Path, controllers: list[str]) -> bool:
    done = True
    for controller in controllers:
        done = _write(folder / "cgroup.subtree_control", f"+{controller}") and done
    return done


def _can_make(folder: Path, sibling_of: Path | None) -> bool:
    """Whether a child can be made and joined. Joining needs write access to the common ancestor too."""
    probe = folder / (_PREFIX + "probe-" + secrets.token_hex(4))
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


def _pids(folder: Path) -> list[int]:
    return [int(line) for line in _read(folder / "cgroup.procs").split()]


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""


def _write(path: Path, value: object) -> bool:
    try:
        path.write_text(str(value))
    except OSError:
        return False
    return True


def _number(folder: Path | None, name: str) -> int | None:
    text = _read(folder / name).strip() if folder is not None else ""
    return int(text) if text.isdigit() else None


def _field(folder: Path | None, name: str, key: str) -> int | None:
    for line in _read(folder / name).splitlines() if folder is not None else ():
        left, _, right = line.partition(" ")
        if left == key and right.strip().isdigit():
            return int(right)
    return None


def _scaled(value: int | None, factor: float) -> float | None:
    return None if value is None else value * factor
