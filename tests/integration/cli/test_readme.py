"""The README's commands, in their order, against a stack that was started as it says."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks.stack import Stack
from emulator.cxx import SHARED_FOLDER
from judge.verdict import Verdict
from tests.builds import ROOT
from tests.unit.test_docs import blocks

pytestmark = [
    pytest.mark.jail,
    pytest.mark.nvcc,
    pytest.mark.exhaustive(by_file=True),
    pytest.mark.xdist_group("stack"),
]

README = ROOT / "README.md"
[KERNEL] = blocks(README, "cuda")
[SESSION] = [block.splitlines() for block in blocks(README, "sh") if block.startswith("gpujudge login")]
GPUJUDGE = [sys.executable, "-m", "cli.main"]


@pytest.fixture(scope="module")
def env(stack: Stack, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    home = tmp_path_factory.mktemp("home")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith("GPUJUDGE_") or name == SHARED_FOLDER
    }
    return {**kept, "XDG_CONFIG_HOME": str(home), "GPUJUDGE_SERVER": stack.address, "PYTHONPATH": str(ROOT)}


def _run(env: dict[str, str], cwd: Path, *argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*GPUJUDGE, *argv], env=env, cwd=cwd, capture_output=True, text=True, check=False, timeout=120
    )


def _log_in(env: dict[str, str], cwd: Path, argv: list[str], answers: dict[bytes, str]) -> int:
    """On a terminal of its own, typing each answer when it is asked for."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.chdir(cwd)
        os.execve(GPUJUDGE[0], [*GPUJUDGE, *argv], env)
    seen, waiting, until = b"", dict(answers), time.monotonic() + 180
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.5)[0]:
            continue
        try:
            seen += os.read(terminal, 4096)
        except OSError:
            break
        for question in [question for question in waiting if question in seen]:
            os.write(terminal, waiting.pop(question).encode() + b"\n")
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])


@pytest.mark.slow(15)
def test_the_session(stack: Stack, env: dict[str, str], tmp_path: Path) -> None:
    assert [line.split()[1] for line in SESSION] == ["login", "challenges", "init", "run", "submit", "leaderboard"]
    for line in SESSION:
        argv = line.split()[1:]
        if argv[0] == "login":
            answers = {b"Username: ": stack.username, b"Password: ": stack.password}
            assert _log_in(env, tmp_path, argv, answers) == 0
            continue
        done = _run(env, tmp_path, *argv)
        assert done.returncode == 0, f"{line}: {done.stdout}{done.stderr}"
        if argv[0] == "challenges":
            assert "vector-add\t" in done.stdout
        if argv[0] == "init":
            starter = tmp_path / "vector-add.cu"
            first = starter.read_text().splitlines()[0]
            assert first == "// gpujudge: challenge=vector-add device=emulator"
            assert first[3:] in README.read_text().replace("\n", " ")
            starter.write_text(f"{first}\n{KERNEL}")
        if argv[0] in ("run", "submit"):
            assert done.stdout.startswith("AC")
            assert "case" in done.stderr
        if argv[0] == "leaderboard":
            assert done.stdout.splitlines()[1].split("\t")[:2] == ["1", stack.username]


@pytest.mark.parametrize(
    ("verdict", "change"),
    [
        (Verdict.WRONG_ANSWER, ("A[i] + B[i]", "A[i] - B[i]")),
        (Verdict.COMPILE_ERROR, ("C[i] =", "C[i] ==== ")),
        (Verdict.RUNTIME_ERROR, ("C[i] =", "*(float*)nullptr =")),
    ],
)
def test_json_and_exit_codes(
    stack: Stack, env: dict[str, str], tmp_path: Path, verdict: Verdict, change: tuple[str, str]
) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL.replace(*change))
    arguments = ("kernel.cu", "--challenge", "vector-add", "--json")
    token = {"GPUJUDGE_TOKEN": stack.token}
    done = _run(env | token, tmp_path, "run", *arguments)
    assert done.returncode == verdict.exit_code, done.stderr
    judgement = json.loads(done.stdout)
    assert judgement["verdict"] == verdict.value
    local = _run(env | {"GPUJUDGE_DATA_DIR": str(stack.data_dir)}, tmp_path, "judge", *arguments, "--samples-only")
    assert local.returncode == verdict.exit_code, local.stderr
    of_the_server = ("file", "id", "url")
    assert list(json.loads(local.stdout)) == [*(key for key in judgement if key not in of_the_server), "file", "seed"]


def test_names_that_are_not_there(stack: Stack, env: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "kernel.cu").write_text(KERNEL)
    token = env | {"GPUJUDGE_TOKEN": stack.token}
    done = _run(token, tmp_path, "submit", "kernel.cu", "--challenge", "vector-ad")
    assert (done.returncode, "vector-add" in done.stderr) == (2, True)
    done = _run(token, tmp_path, "submit", "kernel.cu", "--challenge", "vector-add", "--device", "emulato")
    assert (done.returncode, "emulator" in done.stderr) == (2, True)
    done = _run(env | {"XDG_CONFIG_HOME": str(tmp_path)}, tmp_path, "submit", "kernel.cu", "-c", "vector-add")
    assert (done.returncode, "gpujudge login" in done.stderr) == (4, True)
    local = _run(env, tmp_path, "judge", "kernel.cu", "--challenge", "vector-ad")
    assert (local.returncode, "vector-add" in local.stderr) == (2, True)
    local = _run(env, tmp_path, "judge", "kernel.cu", "--challenge", "vector-add", "--device", "cuda:7")
    assert local.returncode == 2


def test_no_server(env: dict[str, str], tmp_path: Path) -> None:
    done = _run(env | {"GPUJUDGE_SERVER": "http://127.0.0.1:1"}, tmp_path, "challenges")
    assert done.returncode == 3
