"""scripts/bootstrap: what it says to a machine that lacks something. Nothing is installed here."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.builds import ROOT

#: What the script itself calls.
NEEDED = ("sh", "cat", "dirname", "sed", "tail", "sha256sum", "cut", "id", "env", "rm", "touch", "printf")


@pytest.fixture
def machine(tmp_path: Path) -> Path:
    """A checkout, and a ``bin`` with hardly anything in it."""
    for name in ("scripts/bootstrap", "pyproject.toml", "constraints.txt"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / "bin").mkdir()
    for name in NEEDED:
        found = shutil.which(name)
        assert found is not None
        (tmp_path / "bin" / name).symlink_to(found)
    return tmp_path


def _command(machine: Path, name: str, script: str) -> None:
    path = machine / "bin" / name
    # It may be a link to the machine's own command, which must not be written through.
    path.unlink(missing_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _bootstrap(machine: Path, extra: str = "server", **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(machine / "scripts/bootstrap"), extra],
        env={"PATH": str(machine / "bin"), **env},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_an_old_python_is_refused_with_what_to_do(machine: Path) -> None:
    _command(machine, "python3", '[ "$1" = --version ] && echo "Python 3.9.2"; exit 1')
    done = _bootstrap(machine)
    assert done.returncode != 0
    assert "Python 3.11 or newer is needed; Python 3.9.2 was found" in done.stderr
    assert not (machine / ".venv").exists()


def test_a_newer_python_beside_an_old_one_is_taken(machine: Path) -> None:
    _command(machine, "python3", "exit 1")
    _command(machine, "python3.12", 'echo "$@" >> "$0.calls"; [ "$1" = -c ]')
    _bootstrap(machine)
    assert "-m venv .venv" in (machine / "bin/python3.12.calls").read_text()


def _venv(machine: Path) -> None:
    """An environment that is there already; what pip is asked for is written down."""
    folder = machine / ".venv/bin"
    folder.mkdir(parents=True)
    (folder / "python").write_text('#!/bin/sh\n[ "$1" = -m ] && echo "$@" >> .venv/pip.calls\nexit 0\n')
    (folder / "python").chmod(0o755)


def test_without_the_right_to_install_the_line_to_type_is_given(machine: Path) -> None:
    _venv(machine)
    _command(machine, "apt-get", "exit 1")
    done = _bootstrap(machine, GPUJUDGE_NO_APT="1")
    assert done.returncode != 0
    assert "sudo apt-get install -y g++ bubblewrap" in done.stderr


def test_where_it_may_it_installs(machine: Path) -> None:
    _venv(machine)
    _command(machine, "id", "echo 0")
    _command(machine, "apt-get", 'echo "$@" >> "$0.calls"')
    assert _bootstrap(machine).returncode == 0
    calls = (machine / "bin/apt-get.calls").read_text()
    assert "g++" in calls
    assert "bubblewrap" in calls


def test_a_second_call_installs_nothing(machine: Path) -> None:
    _venv(machine)
    for name in ("g++", "bwrap", "nvcc"):
        _command(machine, name, "exit 0")
    assert _bootstrap(machine).returncode == 0
    assert (machine / ".venv/pip.calls").read_text().count("pip install") == 1
    assert _bootstrap(machine).returncode == 0
    assert (machine / ".venv/pip.calls").read_text().count("pip install") == 1
    (machine / "constraints.txt").write_text("typer==0.1\n")
    assert _bootstrap(machine).returncode == 0
    assert (machine / ".venv/pip.calls").read_text().count("pip install") == 2


def test_nvcc_comes_from_the_index_only_where_there_is_none(machine: Path) -> None:
    _venv(machine)
    for name in ("g++", "bwrap"):
        _command(machine, name, "exit 0")
    _command(machine, "nvcc", "exit 127")
    assert _bootstrap(machine, CUDA_HOME="/nowhere").returncode == 0
    assert ".[server,nvcc]" in (machine / ".venv/pip.calls").read_text()
