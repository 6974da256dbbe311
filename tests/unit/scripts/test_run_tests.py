"""scripts/run-tests and .ci/run: a test that passes only the second time is counted and named, and fails nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.builds import ROOT

Done = subprocess.CompletedProcess[str]

TESTS = """
import pytest
from pathlib import Path

def test_right():
    pass

@pytest.mark.parametrize("number", range(12))
def test_fails(number):
    if number < FAILING:
        with Path(f"tries_{number}").open("a") as tries:
            tries.write("x")
        assert len(Path(f"tries_{number}").read_text()) > FAILURES
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout that has the scripts and this environment, and no tests."""
    for name in ("scripts/run-tests", ".ci/run"):
        (tmp_path / name).parent.mkdir()
        shutil.copy(ROOT / name, tmp_path / name)
    (tmp_path / ".venv").symlink_to(sys.prefix)
    (tmp_path / "pytest.ini").touch()
    return tmp_path


def run(checkout: Path, *arguments: str) -> Done:
    # Without the plugins that this environment has: they take most of the time.
    given = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "GPUJUDGE_TEST_RETRIED": str(checkout / "retried")}
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    command = [str(checkout / "scripts/run-tests"), "-p", "xdist.plugin", "-n", "0", *arguments]
    return subprocess.run(command, env=kept | given, capture_output=True, text=True, check=False, timeout=120)


def fail(checkout: Path, tests: int, times: int) -> Done:
    """Runs tests of which ``tests`` fail ``times`` times each."""
    source = TESTS.replace("FAILING", str(tests)).replace("FAILURES", str(times))
    (checkout / "test_it.py").write_text(source)
    return run(checkout)


def test_what_passes_the_second_time_is_counted_and_named(checkout: Path) -> None:
    names = ["test_it.py::test_fails[0]", "test_it.py::test_fails[1]"]
    done = fail(checkout, tests=2, times=1)
    assert done.returncode == 0, done.stdout
    last = "QUALITY: tests that failed once and passed by themselves: 2"
    assert done.stdout.splitlines()[-3:] == [last, *names]
    assert (checkout / "retried").read_text().splitlines() == names


def test_a_failure_of_an_earlier_run_is_not_counted(checkout: Path) -> None:
    assert fail(checkout, tests=1, times=9).returncode == 1
    (checkout / "test_it.py").rename(checkout / "test_earlier.py")
    source = TESTS.replace("FAILING", "2").replace("FAILURES", "1").replace("tries", "others")
    (checkout / "test_it.py").write_text(source)
    done = run(checkout, "test_it.py")
    assert done.returncode == 0, done.stdout
    names = ["test_it.py::test_fails[0]", "test_it.py::test_fails[1]"]
    assert (checkout / "retried").read_text().splitlines() == names


@pytest.mark.parametrize(("tests", "times", "tries"), [(2, 2, 2), (11, 1, 1)])
def test_what_fails_twice_or_too_often_fails_the_run(checkout: Path, tests: int, times: int, tries: int) -> None:
    done = fail(checkout, tests=tests, times=times)
    assert done.returncode == 1, done.stdout
    assert "QUALITY" not in done.stdout
    assert not (checkout / "retried").exists()
    assert (checkout / "tries_0").read_text() == "x" * tries


def test_a_run_that_passes_at_once_says_nothing_of_it(checkout: Path) -> None:
    done = fail(checkout, tests=0, times=0)
    assert (done.returncode, "QUALITY" in done.stdout, (checkout / "retried").exists()) == (0, False, False)


@pytest.fixture
def ci(checkout: Path) -> Path:
    """A checkout all of whose stages pass, and whose tests are nothing."""
    (checkout / ".venv").unlink()
    commands = ["g++", "bwrap", "chromium", "redis-server", "apt-get", "sudo", "make", "git"]
    for name in [f"bin/{each}" for each in commands] + ["scripts/bootstrap", "scripts/lint"]:
        _command(checkout / name)
    for name in ("python", "lint-imports"):
        _command(checkout / ".venv/bin" / name)
    return checkout


def _command(path: Path, script: str = "") -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def run_ci(checkout: Path) -> Done:
    env = os.environ | {"PATH": f"{checkout / 'bin'}:{os.environ['PATH']}", "GPUJUDGE_TEST_SEED": "1"}
    return subprocess.run([str(checkout / ".ci/run")], env=env, capture_output=True, text=True, check=False, timeout=60)


def test_the_summary_of_ci_counts_and_names_them_all(ci: Path) -> None:
    (ci / ".pytest_cache").mkdir()
    (ci / ".pytest_cache/retried").write_text("test_of_an_earlier_run\n")
    _command(ci / "bin/make", 'echo "$1: test_it" >>"$GPUJUDGE_TEST_RETRIED"')
    done = run_ci(ci)
    assert done.returncode == 0, done.stderr
    last = "QUALITY: tests that failed once and passed by themselves: 2"
    assert done.stdout.splitlines()[-3:] == [last, "test: test_it", "test-all: test_it"]


def test_the_summary_of_ci_names_them_when_a_stage_fails(ci: Path) -> None:
    _command(ci / "bin/make", 'echo test_it >>"$GPUJUDGE_TEST_RETRIED"; [ "$1" = test ]')
    done = run_ci(ci)
    assert done.returncode == 1
    assert "FAILED in: tests, all cases" in done.stdout
    assert done.stdout.endswith("passed by themselves: 2\ntest_it\ntest_it\n")


def test_the_summary_of_ci_ends_with_the_time_where_there_are_none(ci: Path) -> None:
    done = run_ci(ci)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1].endswith(" s  in all")
