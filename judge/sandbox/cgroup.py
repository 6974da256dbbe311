"""A cgroup for one jail: limits and readings over its whole process tree, on v1 and v2 alike.

Where no cgroup can be made (an ordinary user without delegation, a read-only mount) ``Group.create`` returns a group
without controllers: all its readings are None, and only rlimits bound the jail. ``Hierarchy.missing`` lists what is
missing.
"""

from __future__ import annotations

import contextlib
import secrets
import time
from collections.abc import Mapping
from pathlib import Path

from judge.sandbox.cgroup_hierarchy import (
    PREFIX,
    Hierarchy,
    find_hierarchy,
    kill_processes,
    own_identity,
    process_ids,
    read_text,
    write_value,
)
from records import dataclass

#: v1 charges in batches: the peak of a group that ran into its limit may stay this much below it.
_V1_CHARGE_BYTES = 1 << 20


@dataclass(frozen=True, slots=True)
class Usage:
    """The resources that the group has used so far; None where the controller is missing.

    ``oom_killed``: the group's own memory limit killed a process of it. The OOM killer of the machine or of a container
    above it does not count.
    """

    cpu_s: float | None
    memory_peak_bytes: int | None
    oom_killed: bool


class Group:
    """One cgroup in each controller, made before the jail's processes and removed after them."""

    def __init__(self, hierarchy: Hierarchy, folders: Mapping[str, Path]) -> None:
        self._hierarchy = hierarchy
        self._folders = dict(folders)

    @staticmethod
    def create(*, memory_bytes: int | None, processes: int | None, hierarchy: Hierarchy | None = None) -> Group:
        """Makes a new group with these limits in every usable controller."""
        hierarchy = find_hierarchy() if hierarchy is None else hierarchy
        name = f"{PREFIX}{secrets.token_hex(8)}.{own_identity()}"
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
        """The controllers of this group."""
        return frozenset(self._folders)

    def procs_files(self) -> list[str]:
        """Returns the files to which a process writes ``0`` to join."""
        return [str(folder / "cgroup.procs") for folder in self._unique()]

    def usage(self) -> Usage:
        """Reads the usage so far. It stays readable after the processes have ended."""
        memory, cpu = self._folders.get("memory"), self._folders.get("cpu")
        if self._hierarchy.version == 2:
            return Usage(
                cpu_s=_scaled(_field(cpu, "cpu.stat", "usage_usec"), 1e-6),
                memory_peak_bytes=_number(memory, "memory.peak"),
                # oom_kill counts every OOM killer's victims; oom counts this group's own limit alone.
                oom_killed=bool(_field(memory, "memory.events", "oom_kill") and _field(memory, "memory.events", "oom")),
            )
        return Usage(
            cpu_s=_scaled(_number(cpu, "cpuacct.usage"), 1e-9),
            memory_peak_bytes=_number(memory, "memory.max_usage_in_bytes"),
            oom_killed=bool(_field(memory, "memory.oom_control", "oom_kill")) and _limit_was_hit_v1(memory),
        )

    def kill(self) -> None:
        """Sends SIGKILL to every process in it."""
        for folder in self._unique():
            if (folder / "cgroup.kill").exists():
                with contextlib.suppress(OSError):
                    (folder / "cgroup.kill").write_text("1")
                continue
            kill_processes(folder)

    def populated(self) -> bool:
        """Returns whether a process is left in it."""
        return any(process_ids(folder) for folder in self._unique())

    def remove(self, *, within_s: float = 2.0) -> bool:
        """Kills remaining processes and removes the group.

        Returns False if a process does not die in time (in an uninterruptible call into a driver). The folder then
        stays for ``remove_stale``.
        """
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
                write_value(memory / "memory.max", memory_bytes)
                write_value(memory / "memory.swap.max", 0)
                # The whole jail dies, so that its own code cannot hide the loss of one process.
                write_value(memory / "memory.oom.group", 1)
            else:
                write_value(memory / "memory.limit_in_bytes", memory_bytes)
                write_value(memory / "memory.memsw.limit_in_bytes", memory_bytes)
        if pids is not None and processes is not None:
            write_value(pids / "pids.max", processes)


def _limit_was_hit_v1(memory: Path | None) -> bool:
    """Returns whether the group ever reached its limit. Not every kernel counts failed charges, so the peak decides."""
    limit, peak = _number(memory, "memory.limit_in_bytes"), _number(memory, "memory.max_usage_in_bytes")
    return limit is None or peak is None or peak >= limit - _V1_CHARGE_BYTES


def _number(folder: Path | None, name: str) -> int | None:
    text = read_text(folder / name).strip() if folder is not None else ""
    return int(text) if text.isdigit() else None


def _field(folder: Path | None, name: str, key: str) -> int | None:
    for line in read_text(folder / name).splitlines() if folder is not None else ():
        left, _, right = line.partition(" ")
        if left == key and right.strip().isdigit():
            return int(right)
    return None


def _scaled(value: int | None, factor: float) -> float | None:
    return None if value is None else value * factor
