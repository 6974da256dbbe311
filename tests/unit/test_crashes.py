"""A crash of a process of xdist costs the test that it was running, and no other; that one is run again."""

from __future__ import annotations

import re
import shutil
import sys
from collections import Counter
from pathlib import Path

import pytest

from tests.builds import ROOT
from tests.unit.scripts.test_run_tests import run

#: Keeps the record of what passed here.
CONFTEST = """
import os
from pathlib import Path
from tests import recorded

recorded.ROOT = Path.cwd()
recorded._PASSED = Path(".cache/passed").absolute()
recorded._engine = lambda: "an engine"

def pytest_collection_finish():
    Path("began_" + os.environ.get("PYTEST_XDIST_WORKER", "")).touch()
"""

#: The first process crashes when six cases are on record; the second waits for the one that takes its place.
TESTS = """
import os, signal, threading, time
from pathlib import Path
import pytest

def waits_in_a_thread():
    time.sleep(60)

@pytest.mark.exhaustive
@pytest.mark.recorded("pytest.ini")
@pytest.mark.parametrize("number", range(60))
def test_it(number):
    with Path("begun").open("a") as file:
        file.write(f"{number}\\n")
    process = os.environ["PYTEST_XDIST_WORKER"]
    passed = Path(".cache/passed")
    if process == "gw0" and not Path("crashed").exists() and passed.exists() and passed.read_text().count("\\n") == 6:
        threading.Thread(target=waits_in_a_thread, daemon=True).start()
        Path("crashed").write_text(str(number))
        os.kill(os.getpid(), signal.SIGSEGV)
    end = time.monotonic() + 60
    while process == "gw1" and not Path("began_gw2").exists():
        assert time.monotonic() < end
        time.sleep(0.01)
"""


@pytest.mark.slow(15)
def test_a_crash_costs_the_test_that_was_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "scripts").mkdir()
    shutil.copy(ROOT / "scripts/run-tests", tmp_path / "scripts")
    (tmp_path / ".venv").symlink_to(sys.prefix)
    for name, text in {"pytest.ini": "[pytest]\n", "conftest.py": CONFTEST, "test_it.py": TESTS}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("GPUJUDGE_TEST_SEED", "1")
    options = ["-p", "tests.conftest", "-m", "not gpu", "-n", "2", "--dist", "worksteal", "--exhaustive-rest"]
    done = run(tmp_path, *options)
    assert done.returncode == 0, done.stdout + done.stderr
    crashed = (tmp_path / "crashed").read_text()
    name = f"test_it.py::test_it[{crashed}]"
    assert f"worker 'gw0' crashed while running '{name}'" in done.stdout
    assert (tmp_path / "retried").read_text() == f"{name}\n"
    # From the first line to the last, with nothing of other processes between them.
    said = re.search(r"^== gw0 crashed\nFatal Python error: Segmentation fault\n(.*?)\n+F", done.stdout, re.M | re.S)
    assert said is not None, done.stdout
    for line in said[1].splitlines():
        assert line == "" or line.startswith(('  File "', "Thread 0x", "Current thread 0x", "Extension modules")), line
    assert f'File "{tmp_path}/test_it.py", line 20 in test_it' in said[1]
    assert "line 7 in waits_in_a_thread" in said[1]
    begun = Counter((tmp_path / "begun").read_text().split())
    assert begun == dict.fromkeys(begun, 1) | {crashed: 2}
    assert len(begun) == 54
    assert "1 failed, 53 passed" in done.stdout
