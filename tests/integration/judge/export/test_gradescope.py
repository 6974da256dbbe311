"""The autograder for Gradescope, run as Gradescope runs it, in folders laid out as there."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from cli.app import app
from cli.errors import UsageError
from judge.export import gradescope_run

ROOT = Path(__file__).resolve().parents[4]
PLAIN = ROOT / "reference_solutions/vector-add/plain.cu"


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that is zipped and uploaded."""
    folder = tmp_path_factory.mktemp("upload")
    wheel = folder / "gpujudge-1.0-py3-none-any.whl"
    wheel.write_bytes(b"a wheel")
    made = CliRunner().invoke(
        app,
        ["gradescope", "vector-add", "--wheel", str(wheel), "--points", "20", "--out", str(folder / "out"), "--json"],
    )
    assert made.exit_code == 0, made.output
    assert {"setup.sh", "run_autograder", wheel.name, "kernel.cu"} <= set(json.loads(made.stdout)["files"])
    return folder / "out"


def lay_out(folder: Path, source: Path, files: dict[str, str | Path]) -> Path:
    """Lays a folder out as Gradescope does, with what ``setup.sh`` installs taken from this machine."""
    root = folder / "autograder"
    shutil.copytree(source, root / "source")
    shutil.copy(source / "run_autograder", root / "run_autograder")
    (root / "submission").mkdir()
    for name, text in files.items():
        if isinstance(text, Path):
            (root / "submission" / name).symlink_to(text)
        else:
            (root / "submission" / name).write_text(text)
    programs = root / "venv/bin"
    programs.mkdir(parents=True)
    for name, arguments in (("python", []), ("gpujudge", [str(ROOT / "gpujudge.py")])):
        command = shlex.join([sys.executable, *arguments])
        (programs / name).write_text(f'#!/bin/sh\nexec {command} "$@"\n')
        (programs / name).chmod(0o755)
    return root


def results(root: Path) -> dict[str, Any]:
    done = subprocess.run([root / "run_autograder"], cwd="/", capture_output=True, text=True, timeout=250, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads((root / "results/results.json").read_text())
    return found


@pytest.mark.nvcc
@pytest.mark.jail
def test_a_right_kernel_gets_the_points(source: Path, tmp_path: Path) -> None:
    found = results(lay_out(tmp_path, source, {"mine.cu": PLAIN.read_text(), "notes.txt": "hello"}))
    assert found["score"] == 20.0
    assert {each["status"] for each in found["tests"]} == {"passed"}
    assert found["tests"][0]["name"] == "Case 1: four"
    assert any(each["name"].endswith("(hidden)") for each in found["tests"])
    (row,) = found["leaderboard"]
    assert (row["name"], row["order"]) == ("Modelled time, µs", "asc")
    assert row["value"] > 0


@pytest.mark.nvcc
@pytest.mark.jail
def test_a_wrong_kernel_gets_none_and_hidden_cases_say_nothing(source: Path, tmp_path: Path) -> None:
    wrong = PLAIN.read_text().replace("A[i] + B[i]", "A[i] - B[i]")
    assert wrong != PLAIN.read_text()
    found = results(lay_out(tmp_path, source, {"kernel.cu": wrong, "old.cu": "none"}))
    assert found["score"] == 0.0
    assert "leaderboard" not in found
    shown = [each for each in found["tests"] if ":" in each["name"]]
    hidden = [each for each in found["tests"] if ":" not in each["name"]]
    assert any(len(each["output"]) > len("WA. ") for each in shown)
    assert {each["output"] for each in hidden} <= {"WA.", "AC."}


@pytest.mark.nvcc
@pytest.mark.jail
def test_a_kernel_that_does_not_compile_shows_the_log(source: Path, tmp_path: Path) -> None:
    found = results(lay_out(tmp_path, source, {"kernel.cu": "int main( {"}))
    assert (found["score"], found["tests"]) == (0.0, [])
    assert "Verdict: CE" in found["output"]
    assert "It must define" in found["output"]


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "Submit the file kernel.cu"),
        ({"readme.txt": ""}, "Submit the file kernel.cu"),
        ({"a.cu": "", "b.cu": ""}, "a.cu, b.cu. Name the kernel's kernel.cu"),
        ({"kernel.cu": Path("/etc/passwd")}, "Submit the file kernel.cu"),
    ],
)
def test_what_cannot_be_judged_says_what_to_submit(
    source: Path, tmp_path: Path, files: dict[str, str | Path], said: str
) -> None:
    found = results(lay_out(tmp_path, source, files))
    assert found["score"] == 0.0
    assert said in found["output"]


def test_a_judge_that_fails_is_no_fault_of_the_student(source: Path, tmp_path: Path) -> None:
    root = lay_out(tmp_path, source, {"kernel.cu": "x"})
    (root / "venv/bin/gpujudge").write_text("#!/bin/sh\necho 'error: no jail' >&2\nexit 1\n")
    found = results(root)
    assert found["score"] == 0.0
    assert "Tell your instructor" in found["output"]
    assert "no jail" in found["output"]
    said = gradescope_run.results_of({"message": "m"}, "IE", {"points": 1.0})
    assert "no fault of yours" in said["output"]


def test_scripts_are_sound_and_executable(source: Path) -> None:
    for name in ("setup.sh", "run_autograder"):
        assert (source / name).stat().st_mode & 0o111 == 0o111
        subprocess.run(["sh", "-n", source / name], check=True)
    assert not list(source.rglob("__pycache__"))


def test_what_is_wrong_with_the_call_is_said(tmp_path: Path) -> None:
    wheel = tmp_path / "x.whl"
    wheel.write_bytes(b"")
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "x").touch()
    for arguments, said in (
        (["vector-add", "--wheel", str(tmp_path / "none.whl")], "is not a wheel"),
        (["vector-add", "--wheel", str(wheel), "--out", str(tmp_path / "out")], "is there already"),
        (["vector-ad", "--wheel", str(wheel)], "vector-ad"),
    ):
        failed = CliRunner().invoke(app, ["gradescope", *arguments])
        assert isinstance(failed.exception, UsageError)
        assert said in str(failed.exception)
