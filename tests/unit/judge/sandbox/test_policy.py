from __future__ import annotations

import sys
from pathlib import Path

import pytest

from judge.sandbox import gpu, policy
from judge.sandbox.bind import Bind
from judge.sandbox.policy import build_policy, run_policy
from judge.settings import BuildLimits, RunLimits

ROOT = Path(policy.__file__).resolve().parents[2]


def targets(made: policy.Policy) -> list[str]:
    return [bind.target for bind in made.binds]


def test_a_build_sees_the_toolkit_and_no_python() -> None:
    made = build_policy(BuildLimits(memory_bytes=123, wall_s=10), binds=[Bind(Path("/opt/cuda"), "/cuda")])
    assert "/cuda" in targets(made)
    assert not any(bind.source == Path(sys.prefix) or bind.kind != "ro" for bind in made.binds)
    assert made.limits.memory_bytes == 123
    assert made.limits.cpu_s is not None
    assert made.limits.cpu_s >= 20


def test_a_runner_sees_its_own_packages_of_the_checkout_and_nothing_beside_them() -> None:
    made = run_policy(RunLimits())
    ours = [Path(target).relative_to(ROOT) for target in targets(made) if Path(target).is_relative_to(ROOT)]
    assert set(map(str, ours)) - {".venv"} == {"judge/__init__.py", "judge/wire", "judge/runner", "emulator", "records"}
    assert all(bind.kind == "ro" for bind in made.binds)


def test_the_trusted_side_of_an_installed_copy_is_covered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = tmp_path / "site"
    for name in ("judge/runner", "judge/wire", "judge/check", "challenges", "store", "numpy"):
        (site / name).mkdir(parents=True)
    (site / "judge" / "__init__.py").touch()
    monkeypatch.setattr("judge.__file__", str(site / "judge" / "__init__.py"))
    monkeypatch.setattr(sys, "prefix", str(site))
    assert run_policy(RunLimits()).hidden == tuple(str(site / name) for name in ("challenges", "judge/check", "store"))


def test_no_environment_of_the_judge_goes_in() -> None:
    made = run_policy(RunLimits(), env={"PYTHONPATH": "/x"})
    assert made.env["PYTHONPATH"] == "/x"
    assert set(made.env) <= {"PATH", "HOME", "TMPDIR", "LANG", "LC_ALL", "PYTHONDONTWRITEBYTECODE", "PYTHONPATH"}


def test_only_the_gpu_that_was_given() -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Path, "exists", lambda self: str(self).startswith("/dev/nvidia") or self.name == "libcuda.so.1")
        gpu.driver_folder.cache_clear()
        patch.setenv("LD_LIBRARY_PATH", "/opt/driver/lib")
        nodes = {bind.target: bind.kind for bind in gpu.gpu_binds([1])}
        assert gpu.gpu_library_path() == "/opt/driver/lib"
    gpu.driver_folder.cache_clear()
    assert nodes["/dev/nvidia1"] == "dev"
    assert nodes["/dev/nvidiactl"] == "dev"
    assert nodes["/opt/driver/lib"] == "ro"
    assert "/dev/nvidia0" not in nodes


def test_no_gpu_unless_asked_for() -> None:
    assert not any(bind.kind == "dev" or bind.target == "/sys" for bind in run_policy(RunLimits()).binds)
