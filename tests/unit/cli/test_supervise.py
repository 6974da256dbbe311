"""The supervisor: what dies is started again, and nothing is left behind."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from cli.supervise import descendants

HARNESS = """
import sys
from pathlib import Path
from cli.supervise import Service, Supervisor

folder = Path(sys.argv[1])
services = [Service(path.stem, [sys.executable, str(path)], folder) for path in sorted(folder.glob("*.py"))]
say = lambda line: print(line, flush=True)
number = Supervisor(services, log_dir=folder / "logs", say=say, grace_s=float(sys.argv[2])).run()
print(f"stopped by {number}", flush=True)
"""


def _write(folder: Path, name: str, code: str) -> None:
    (folder / f"{name}.py").write_text(textwrap.dedent(code))


def _start(folder: Path, grace_s: float = 5.0) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", HARNESS, str(folder), str(grace_s)], stdout=subprocess.PIPE, text=True, cwd=Path.cwd()
    )


def _wait_for(path: Path, lines: int) -> list[int]:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        if path.exists() and len(found := path.read_text().split()) >= lines:
            return [int(word) for word in found]
        time.sleep(0.02)
    pytest.fail(f"{path} never had {lines} lines")


def _gone(pid: int) -> bool:
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.02)
    return False


WRITES_PID = """
    import os, time
    with open("pids", "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(600)
"""

#: A service that ignores being asked, and has put a child of its own into another session, as a daemon does.
STUBBORN = """
    import os, signal, time
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            with open("pids", "a") as file:
                file.write(f"{os.getpid()}\\n")
            time.sleep(600)
        os._exit(0)
    with open("pids", "a") as file:
        file.write(f"{os.getpid()}\\n")
    time.sleep(600)
"""


def test_a_killed_service_is_started_again(tmp_path: Path) -> None:
    _write(tmp_path, "worker", WRITES_PID)
    supervisor = _start(tmp_path)
    [first] = _wait_for(tmp_path / "pids", 1)
    os.kill(first, signal.SIGKILL)
    _, second = _wait_for(tmp_path / "pids", 2)
    supervisor.send_signal(signal.SIGINT)
    out, _ = supervisor.communicate(timeout=60)
    assert "worker was killed by signal 9; starting it again" in out
    assert f"stopped by {int(signal.SIGINT)}" in out
    assert _gone(second)


@pytest.mark.slow(12)
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_nothing_is_left_behind(tmp_path: Path, number: signal.Signals) -> None:
    _write(tmp_path, "stubborn", STUBBORN)
    _write(tmp_path, "worker", WRITES_PID)
    supervisor = _start(tmp_path, grace_s=0.3)
    pids = _wait_for(tmp_path / "pids", 3)
    supervisor.send_signal(number)
    out, _ = supervisor.communicate(timeout=60)
    assert f"stopped by {int(number)}" in out
    assert supervisor.returncode == 0
    assert [pid for pid in pids if not _gone(pid)] == []


def test_services_get_a_signal_of_their_own_when_the_supervisor_is_killed(tmp_path: Path) -> None:
    _write(tmp_path, "worker", WRITES_PID)
    supervisor = _start(tmp_path)
    [pid] = _wait_for(tmp_path / "pids", 1)
    supervisor.kill()
    supervisor.communicate(timeout=60)
    assert _gone(pid)


def test_a_second_signal_ends_the_waiting(tmp_path: Path) -> None:
    _write(tmp_path, "stubborn", STUBBORN)
    supervisor = _start(tmp_path, grace_s=120)
    pids = _wait_for(tmp_path / "pids", 2)
    until = time.monotonic() + 60
    while supervisor.poll() is None and time.monotonic() < until:
        supervisor.send_signal(signal.SIGINT)
        time.sleep(0.1)
    out, _ = supervisor.communicate(timeout=60)
    assert "stopping at once" in out
    assert all(_gone(pid) for pid in pids)


def test_descendants_are_found_through_generations() -> None:
    child = subprocess.Popen(["sh", "-c", "sleep 600 & wait"])
    try:
        until = time.monotonic() + 60
        while not (below := descendants(child.pid)) and time.monotonic() < until:
            time.sleep(0.02)
        assert len(below) == 1
        assert set(below) < set(descendants(os.getpid()))
        os.kill(below[0], signal.SIGKILL)
    finally:
        child.wait(timeout=60)
