"""A private gpujudge for benchmarks: `gpujudge up` with the emulator, its processes, and kernels of known verdict."""

from __future__ import annotations

import contextlib
import os
import random
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import httpx
from sqlalchemy.orm import Session, sessionmaker

from cli.supervise import descendants
from judge.sandbox.cgroup_hierarchy import find_hierarchy
from store.migrate import upgrade
from store.people.accounts import create_token, create_user
from store.settings import Settings

ROOT = Path(__file__).resolve().parent.parent
CHALLENGE = "vector-add"
#: How often each verdict is expected, of a hundred submissions.
SHARES = {"AC": 60, "WA": 15, "CE": 18, "RE": 7}
#: What tells a process by its command line; the first that fits counts.
KINDS = (
    ("bubblewrap", ("bwrap",)),
    ("runner", ("judge.runner.parent",)),
    ("compiler", ("cudafe++", "/cicc", "ptxas", "fatbinary", "cc1plus", "g++", "collect2", "nvcc")),
    ("lease keeper", ("workers.lease_keeper",)),
    ("build worker", ("workers build",)),
    ("device worker", ("workers device",)),
    ("sweeper", ("workers sweeper",)),
    ("web", ("gunicorn",)),
)


class Site:
    """Runs `gpujudge up`, with the emulator, on a data folder of its own. ``environment`` are settings of its own."""

    def __init__(
        self, folder: Path, *, database_url: str | None, redis_url: str | None, environment: Mapping[str, str]
    ) -> None:
        self.data_dir = folder / "data"
        self.temporary = folder / "tmp"
        self.temporary.mkdir()
        services = {"GPUJUDGE_DATABASE_URL": database_url, "GPUJUDGE_REDIS_URL": redis_url}
        rates = {"GPUJUDGE_SUBMISSION_RATE": "100000 per minute", "GPUJUDGE_MAX_WAITING": "0"}
        named = {name: value for name, value in services.items() if value is not None}
        data = {"GPUJUDGE_DATA_DIR": str(self.data_dir), "TMPDIR": str(self.temporary)}
        self.environment = {**os.environ, **environment, **rates, **named, **data}
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self._port = int(probe.getsockname()[1])
        self.address = f"http://127.0.0.1:{self._port}"
        self._log = (folder / "up.log").open("ab")
        self.settings = Settings(data_dir=self.data_dir, database_url=database_url, redis_url=redis_url)
        #: Every process that was ever seen below one of `gpujudge up`: pid, when it started, and its kind.
        self.seen: dict[tuple[int, int], str] = {}
        upgrade(self.settings)
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-m", "cli.main", "up", "--port", str(self._port), "--device", "emulator"]
        return subprocess.Popen(
            command, env=self.environment, cwd=ROOT, stdin=subprocess.DEVNULL, stdout=self._log, stderr=self._log
        )

    def start_again_if_gone(self) -> None:
        """Starts it again; several times, until the old one's web server has let go of the port."""
        if self.process.poll() is not None:
            time.sleep(1.0)
            self.process = self._start()

    def processes(self) -> dict[str, list[int]]:
        """Returns the running processes, by kind, and remembers them."""
        found: dict[str, list[int]] = {"up": [self.process.pid]} if self.process.poll() is None else {}
        for pid in descendants(self.process.pid):
            kind = _kind(pid)
            if kind is not None:
                found.setdefault(kind, []).append(pid)
            started = _started(pid)
            if started:
                self.seen[pid, started] = kind or "other"
        if self.process.poll() is None:
            self.seen[self.process.pid, _started(self.process.pid)] = "up"
        return found

    def stop(self) -> None:
        """Ends it in order. By SIGTERM: a shell lets what it starts in the background ignore SIGINT."""
        if self.process.poll() is None:
            self.process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.process.wait(timeout=60)
        self.process.kill()
        self.process.wait()
        self._log.close()

    def left_processes(self) -> list[str]:
        """Returns those that were seen and still run."""
        return [f"{kind} {pid}" for (pid, started), kind in self.seen.items() if _started(pid) == started]

    def cgroups(self) -> list[str]:
        """Returns those that a process of this site has made."""
        pids = {str(pid) for pid, _ in self.seen}
        folders = {folder for parent in find_hierarchy().folders.values() for folder in parent.glob("gpujudge-*")}
        return sorted(
            str(folder) for folder in folders if folder.name.split(".")[2:3] and folder.name.split(".")[2] in pids
        )

    def left_files(self) -> list[str]:
        """Returns everything in the temporary folder, and what was half written in the caches."""
        caches = [path for path in (self.data_dir / "cache").rglob(".*") if path.is_file()]
        return sorted(str(path) for path in (*self.temporary.iterdir(), *caches))


def plan(count: int, chance: random.Random) -> list[tuple[str, str]]:
    """Returns verdicts and sources, some of them again and again, as people send them: their builds are cached."""
    right = (ROOT / "reference_solutions" / CHALLENGE / "plain.cu").read_text()
    suicide = "#include <signal.h>\n" + right.replace("int threads", "raise(SIGKILL);\n    int threads", 1)
    sources = {"AC": right, "WA": right.replace("A[i] + B[i]", "A[i] - B[i]"), "CE": "not C++\n", "RE": suicide}
    plan = []
    for verdict in chance.choices(list(SHARES), list(SHARES.values()), k=count):
        plan.append((verdict, f"{sources[verdict]}\n// {chance.choice(['once', secrets.token_hex(8)])}\n"))
    return plan


def sign_up(sessions: sessionmaker[Session]) -> str:
    """Returns the token of a new user."""
    with sessions.begin() as session:
        name = "kills" + secrets.token_hex(4)
        user = create_user(session, username=name, password=secrets.token_hex(12))
        return create_token(session, user=user, name="kill test")[1]


def wait_until_ready(site: Site, within_s: float) -> None:
    """Returns once a device is online. Raises RuntimeError if none is in time."""
    until_s = time.monotonic() + within_s
    while time.monotonic() < until_s:
        site.processes()
        with contextlib.suppress(httpx.HTTPError, ValueError, KeyError):
            devices = httpx.get(f"{site.address}/api/v1/devices", timeout=2.0).json()["devices"]
            if any(device["online"] for device in devices):
                return
        time.sleep(0.5)
    raise RuntimeError("gpujudge up did not come up")


def _kind(pid: int) -> str | None:
    try:
        command = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return None
    return next((kind for kind, words in KINDS if any(word in command for word in words)), None)


def _started(pid: int) -> int:
    """When the process started, in clock ticks; 0 for one that is gone."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return 0
    return int(fields[19]) if fields[0] not in "ZX" else 0
