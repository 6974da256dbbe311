"""Finding Nsight Compute, and its command lines."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge.gpu.nsight import tool
from judge.gpu.nsight.tool import NoProfile, find_nsight, only_administrators, profile_command, report_command

FAKE = Path(__file__).resolve().parents[4] / "fake_ncu"


@pytest.fixture
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:/usr/bin:/bin")
    monkeypatch.setattr(tool, "_ELSEWHERE", (f"{tmp_path}/opt/*/ncu",))
    return tmp_path


def test_the_one_on_path_is_taken(nowhere: Path) -> None:
    shutil.copytree(FAKE, nowhere / "bin")
    found = find_nsight()
    assert (found.program, found.folder, found.version) == (nowhere / "bin/ncu", nowhere / "bin", "2025.3.1.0")
    assert found.name == "Nsight Compute 2025.3.1.0"


def test_the_newest_installation_is_taken_instead_of_what_a_toolkit_has_on_path(
    nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in ("cuda/bin", "opt/2025.3.1", "opt/2025.10.0", "opt/2024.1.0"):
        shutil.copytree(FAKE, nowhere / place)
    monkeypatch.setenv("PATH", f"{nowhere}/cuda/bin:/usr/bin:/bin")
    assert find_nsight().folder == nowhere / "opt/2025.10.0"


def test_none_is_said_with_what_to_install(nowhere: Path) -> None:
    with pytest.raises(NoProfile, match="not installed") as caught:
        find_nsight()
    assert nowhere.exists()
    assert "developer.nvidia.com/nsight-compute" in caught.value.remedy


def test_clocks_are_left_alone_and_only_what_solve_launches_is_profiled(nowhere: Path) -> None:
    shutil.copytree(FAKE, nowhere / "bin")
    command = " ".join(profile_command(find_nsight()))
    assert "--clock-control none" in command
    assert "--profile-from-start off" in command
    assert f"--launch-count {tool.MOST_LAUNCHES}" in command
    assert "--section SourceCounters" in command
    assert "--print-source cuda,sass" in " ".join(report_command(find_nsight(), "x.ncu-rep", "source"))


def test_the_driver_says_who_may_read_counters(tmp_path: Path) -> None:
    settings = tmp_path / "params"
    assert not only_administrators(settings)
    settings.write_text("RmProfilingAdminOnly: 1\n")
    assert only_administrators(settings)
    settings.write_text("RmProfilingAdminOnly: 0\n")
    assert not only_administrators(settings)
