from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from judge.sandbox import cgroup, cgroup_hierarchy
from judge.sandbox.cgroup import Group
from judge.sandbox.cgroup_hierarchy import Hierarchy


def child(folder: Path) -> Path:
    (only,) = folder.iterdir()
    return only


def test_v2_bounds_and_readings(tmp_path: Path) -> None:
    hierarchy = Hierarchy(2, {"memory": tmp_path, "pids": tmp_path, "cpu": tmp_path})
    group = Group.create(memory_bytes=1000, processes=7, hierarchy=hierarchy)
    folder = child(tmp_path)
    assert (folder / "memory.max").read_text() == "1000"
    assert (folder / "memory.swap.max").read_text() == "0"
    assert (folder / "pids.max").read_text() == "7"
    assert group.procs_files() == [str(folder / "cgroup.procs")]
    (folder / "cpu.stat").write_text("usage_usec 2500000\nuser_usec 1\n")
    (folder / "memory.peak").write_text("777\n")
    (folder / "memory.events").write_text("low 0\noom 1\noom_kill 1\n")
    assert group.usage() == cgroup.Usage(cpu_s=2.5, memory_peak_bytes=777, oom_killed=True)


def test_v1_bounds_and_readings(tmp_path: Path) -> None:
    parents = {name: tmp_path / name for name in ("memory", "pids", "cpu")}
    for parent in parents.values():
        parent.mkdir()
    group = Group.create(memory_bytes=1000, processes=7, hierarchy=Hierarchy(1, parents))
    assert (child(parents["memory"]) / "memory.limit_in_bytes").read_text() == "1000"
    assert (child(parents["pids"]) / "pids.max").read_text() == "7"
    assert len(group.procs_files()) == 3
    (child(parents["cpu"]) / "cpuacct.usage").write_text("1500000000\n")
    (child(parents["memory"]) / "memory.max_usage_in_bytes").write_text("88\n")
    (child(parents["memory"]) / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 0\n")
    assert group.usage() == cgroup.Usage(cpu_s=1.5, memory_peak_bytes=88, oom_killed=False)
    (child(parents["memory"]) / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    (child(parents["memory"]) / "memory.max_usage_in_bytes").write_text("1000\n")
    assert group.usage().oom_killed


@pytest.mark.parametrize("version", [1, 2])
def test_the_machines_oom_killer_is_not_the_groups_limit(tmp_path: Path, version: int) -> None:
    group = Group.create(memory_bytes=64 << 20, processes=7, hierarchy=Hierarchy(version, {"memory": tmp_path}))
    folder = child(tmp_path)
    (folder / "memory.events").write_text("low 0\noom 0\noom_kill 1\n")
    (folder / "memory.oom_control").write_text("oom_kill_disable 0\nunder_oom 0\noom_kill 1\n")
    (folder / "memory.max_usage_in_bytes").write_text(f"{32 << 20}\n")
    assert not group.usage().oom_killed


def test_a_group_is_removed_when_its_owner_is_gone(tmp_path: Path) -> None:
    hierarchy = Hierarchy(2, {"memory": tmp_path})
    code = (
        "import sys; from pathlib import Path; from judge.sandbox.cgroup import Group, Hierarchy;"
        "Group.create(memory_bytes=None, processes=None, hierarchy=Hierarchy(2, {'memory': Path(sys.argv[1])}))"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    left_behind = child(tmp_path)
    own = Group.create(memory_bytes=None, processes=None, hierarchy=hierarchy)
    assert cgroup_hierarchy.remove_stale(hierarchy) == 1
    assert not left_behind.exists()
    assert own.remove()


def test_another_containers_group_is_left_alone(tmp_path: Path) -> None:
    hierarchy = Hierarchy(2, {"memory": tmp_path})
    elsewhere = tmp_path / f"gpujudge-0123456789abcdef.{cgroup_hierarchy._pid_namespace() + 1}.999999.5"
    elsewhere.mkdir()
    assert cgroup_hierarchy.remove_stale(hierarchy) == 0
    assert elsewhere.exists()


def test_without_controllers_everything_reads_none(tmp_path: Path) -> None:
    group = Group.create(memory_bytes=1000, processes=7, hierarchy=Hierarchy(2, {}))
    assert group.usage() == cgroup.Usage(None, None, False)
    assert group.procs_files() == []
    assert not group.populated()
    assert group.remove()
    assert Hierarchy(2, {"memory": tmp_path}).missing() == ("pids", "cpu")


def test_a_parent_that_is_gone_costs_that_controller_only(tmp_path: Path) -> None:
    group = Group.create(
        memory_bytes=1, processes=1, hierarchy=Hierarchy(1, {"memory": tmp_path, "pids": tmp_path / "gone"})
    )
    assert group.controllers == {"memory"}


def test_removal_leaves_no_folder(tmp_path: Path) -> None:
    group = Group.create(memory_bytes=None, processes=None, hierarchy=Hierarchy(2, {"memory": tmp_path}))
    assert group.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("root", "own", "inside"),
    [("/", "/a/b", "a/b"), ("/a", "/a/b", "b"), ("/", "/", "."), ("/", "/not/there", "."), ("/x", "/a", "a")],
)
def test_the_own_folder_below_a_partial_mount(tmp_path: Path, root: str, own: str, inside: str) -> None:
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "b").mkdir()
    assert cgroup_hierarchy._own_folder(tmp_path, root, own) == tmp_path / inside


def v2(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, own: str, enabled: dict[str, str]) -> dict[str, Path]:
    """A pretended mount: ``enabled`` maps folders to the controllers that they hand down to their children."""
    monkeypatch.setattr(cgroup_hierarchy, "_mounts", lambda kind: [(tmp_path, "/", [])] if kind == "cgroup2" else [])
    monkeypatch.setattr(cgroup_hierarchy, "_can_make", lambda *_: True)
    monkeypatch.setattr(cgroup_hierarchy, "_enable_v2", lambda *_, **__: None)
    for name, controllers in enabled.items():
        folder = tmp_path / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "cgroup.controllers").write_text("cpu memory pids io")
        (folder / "cgroup.subtree_control").write_text(controllers)
    return {name: folder.relative_to(tmp_path) for name, folder in cgroup_hierarchy._usable_v2(own).items()}


def test_v2_at_a_root_that_hands_everything_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = v2(tmp_path, monkeypatch, own="/", enabled={".": "cpu memory pids"})
    assert found == {"memory": Path(), "pids": Path(), "cpu": Path()}


def test_v2_in_a_leaf_whose_parent_hands_memory_down(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = v2(tmp_path, monkeypatch, own="/unit/leaf", enabled={"unit": "memory", "unit/leaf": ""})
    assert found == {"memory": Path("unit"), "cpu": Path("unit")}


def test_v2_in_a_delegated_cgroup(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = v2(tmp_path, monkeypatch, own="/unit", enabled={".": "memory", "unit": "cpu memory pids"})
    assert found == {"memory": Path("unit"), "pids": Path("unit"), "cpu": Path("unit")}


def test_what_a_killed_worker_left_is_removed_but_nothing_young(tmp_path: Path) -> None:
    for name, age_s in (("gpujudge-old", 7200), ("gpujudge-young", 5), ("another-old", 7200)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    assert cgroup_hierarchy.remove_stale(Hierarchy(2, {"memory": tmp_path, "cpu": tmp_path})) == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["another-old", "gpujudge-young"]
