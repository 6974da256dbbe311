"""Measures how many submissions a second the website accepts, and how long clients wait for the answer.

    python benchmarks/load_test.py
    python benchmarks/load_test.py --database-url postgresql://gj@127.0.0.1/empty --redis-url redis://127.0.0.1:6379/0
    python benchmarks/load_test.py --clients 8,64 --seconds 20 --json load.json

Starts the website alone, on a free port with a new data folder, without workers: what is accepted stays queued. The
database must be empty; without ``--database-url`` it is SQLite, and without ``--redis-url`` the broker is files. For
each number of clients, as many connections send the same kernel as fast as they are answered. The clients run in a
process of their own, on the same machine.

Prints for each number of clients: accepted submissions a second, the median, 95th percentile and longest wait, the
answers by status, how many rows the database has beyond those that were accepted (must be 0), and the processor time
that the website and the clients took for each that was accepted.
"""

from __future__ import annotations

import argparse
import contextlib
import http.client
import json
import multiprocessing
import os
import platform
import socket
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from sqlalchemy import Engine, func, select  # noqa: E402
from sqlalchemy.orm import Session  # noqa: E402

from cli.supervise import descendants  # noqa: E402
from judge.judgement import DeviceInfo  # noqa: E402
from store.clock import utc_now  # noqa: E402
from store.database import make_engine, make_session_factory  # noqa: E402
from store.devices import upsert_device  # noqa: E402
from store.migrate import upgrade  # noqa: E402
from store.models import Submission  # noqa: E402
from store.people.accounts import create_token, create_user  # noqa: E402
from store.settings import Settings  # noqa: E402

CHALLENGE = "vector-add"
EMULATOR = DeviceInfo(key="emulator", kind="emulator", name="Emulator", compute_capability="8.0")
START_S = 60.0


@dataclass(frozen=True)
class Load:
    """The figures of one number of clients. ``answers`` counts by status, or by the error of the connection.

    ``surplus`` is how many more rows there are than answers 201.
    """

    clients: int
    accepted_per_s: float
    median_ms: float
    p95_ms: float
    longest_ms: float
    answers: dict[str, int]
    surplus: int
    site_cpu_ms: float
    client_cpu_ms: float


def send(address: str, token: str, body: bytes, clients: int, seconds: float, out: multiprocessing.Queue) -> None:  # type: ignore[type-arg]
    """Sends ``body`` from ``clients`` connections for ``seconds``; puts its time, waits and answers into ``out``."""
    where = urlsplit(address)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    waits_s: list[float] = []
    answers: Counter[str] = Counter()
    lock = threading.Lock()
    until = time.monotonic() + seconds

    def client() -> None:
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        while time.monotonic() < until:
            begun = time.monotonic()
            try:
                connection.request("POST", "/api/v1/submissions", body, headers)
                response = connection.getresponse()
                response.read()
                answer = str(response.status)
            except (OSError, http.client.HTTPException) as error:
                answer = type(error).__name__
                connection.close()
            with lock:
                waits_s.append(time.monotonic() - begun)
                answers[answer] += 1

    begun = time.monotonic()
    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    out.put((time.monotonic() - begun, waits_s, dict(answers), time.process_time()))


def cpu_s(root: int) -> float:
    """Returns the processor time so far of a process and of those below it."""
    ticks = 0
    for pid in (root, *descendants(root)):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(address: str, site: int, token: str, engine: Engine, clients: int, seconds: float) -> Load:
    """Loads the site with this many clients."""
    kernel = (ROOT / "reference_solutions" / CHALLENGE / "plain.cu").read_text("utf-8")
    body = json.dumps({"challenge": CHALLENGE, "device": EMULATOR.key, "mode": "submit", "source": kernel}).encode()
    before = _rows(engine)
    out: multiprocessing.Queue[tuple[float, list[float], dict[str, int], float]] = multiprocessing.Queue()
    site_cpu_s = cpu_s(site)
    process = multiprocessing.Process(target=send, args=(address, token, body, clients, seconds, out))
    process.start()
    took_s, waits_s, answers, client_cpu_s = out.get()
    site_cpu_s = cpu_s(site) - site_cpu_s
    process.join()
    waits_s.sort()
    accepted = answers.get("201", 0)
    return Load(
        clients,
        accepted / took_s,
        1e3 * waits_s[len(waits_s) // 2],
        1e3 * waits_s[int(0.95 * len(waits_s))],
        1e3 * waits_s[-1],
        answers,
        _rows(engine) - before - accepted,
        1e3 * site_cpu_s / max(1, accepted),
        1e3 * client_cpu_s / max(1, accepted),
    )


@contextlib.contextmanager
def running_site(settings: Settings) -> Iterator[str]:
    """Starts the website alone and returns its address. The settings' database must be migrated."""
    with site_process(settings) as (address, _):
        yield address


@contextlib.contextmanager
def site_process(settings: Settings) -> Iterator[tuple[str, int]]:
    """Starts the website alone and returns its address and process. The settings' database must be migrated."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    given = {
        "DATA_DIR": str(settings.data_dir),
        "PORT": str(port),
        "SUBMISSION_RATE": "10000000 per minute",
        "MAX_WAITING": "0",
    }
    given |= {"DATABASE_URL": settings.database_url or "", "REDIS_URL": settings.redis_url or ""}
    env = {**os.environ, **{f"GPUJUDGE_{name}": value for name, value in given.items() if value}}
    argv = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "python:web.serving.gunicorn_conf",
        "web.serving.asgi:create_server_from_env()",
    ]
    process = subprocess.Popen(argv, cwd=ROOT, env=env)
    try:
        until = time.monotonic() + START_S
        while not _answers(port):
            if process.poll() is not None or time.monotonic() > until:
                raise SystemExit("the website does not answer")
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}", process.pid
    finally:
        process.terminate()
        process.wait()


def _answers(port: int) -> bool:
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
        connection.request("GET", "/healthz")
        return connection.getresponse().status == 200
    except OSError:
        return False


def _rows(engine: Engine) -> int:
    with Session(engine) as session:
        return session.scalar(select(func.count()).select_from(Submission)) or 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database-url", help="an empty PostgreSQL database")
    parser.add_argument("--redis-url")
    parser.add_argument("--clients", default="1,8,64", help="numbers of clients (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=10.0, help="for each number (default: %(default)s)")
    parser.add_argument("--json", type=Path, help="write the figures there")
    arguments = parser.parse_args()
    loads = []
    with tempfile.TemporaryDirectory(prefix="gpujudge-load-") as folder:
        settings = Settings(data_dir=Path(folder), database_url=arguments.database_url, redis_url=arguments.redis_url)
        upgrade(settings)
        engine = make_engine(settings)
        with make_session_factory(engine).begin() as session:
            upsert_device(session, EMULATOR, now=utc_now())
            user = create_user(session, username="load", password="of a benchmark")
            _, token = create_token(session, user=user, name="load")
        print(f"{engine.dialect.name}, {len(os.sched_getaffinity(0))} cores, {platform.platform()}")
        with site_process(settings) as (address, site):
            for clients in map(int, arguments.clients.split(",")):
                loads.append(measure(address, site, token, engine, clients, arguments.seconds))
                print("  ".join(f"{name} {value:.1f}" if isinstance(value, float) else f"{name} {value}"
                                for name, value in asdict(loads[-1]).items()), flush=True)  # fmt: skip
        engine.dispose()
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(load) for load in loads], indent=2) + "\n")
    return 0 if all(set(load.answers) == {"201"} and load.surplus == 0 for load in loads) else 1


if __name__ == "__main__":
    sys.exit(main())
