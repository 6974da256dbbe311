"""Measures the website's cost of open live streams, and how long pages take meanwhile.

    python benchmarks/watchers.py
    python benchmarks/watchers.py --watchers 2000 --database-url postgresql://gj@127.0.0.1/empty --redis-url redis://…

Starts the website alone, on a free port with a new data folder, without workers. Each user follows one queued
submission by ten streams. The database must be empty; without ``--database-url`` it is SQLite. Prints for no
watchers and for all of them: streams held, the website's resident memory, threads and share of a processor while
nothing happens, and the median and 95th percentile of the home page, a board and the health check; then how long an
event takes to reach all streams of its submission.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import platform
import resource
import selectors
import socket
import sys
import tempfile
import time
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from sqlalchemy import select  # noqa: E402

from benchmarks.load_test import EMULATOR, running_site  # noqa: E402
from judge.packs.collection.loader import load_pack  # noqa: E402
from store.clock import utc_now  # noqa: E402
from store.database import make_engine, make_session_factory  # noqa: E402
from store.devices import upsert_device  # noqa: E402
from store.migrate import upgrade  # noqa: E402
from store.models import Submission  # noqa: E402
from store.people.accounts import create_token, create_user  # noqa: E402
from store.queue.events import record_event  # noqa: E402
from store.settings import Settings  # noqa: E402
from store.submissions import create_submission  # noqa: E402

STREAMS_PER_USER = 10
PAGES = ("/", "/leaderboards/vector-add?device=emulator", "/healthz")
IDLE_S = 10.0


@dataclass(frozen=True)
class Costs:
    """The figures of one number of watchers; times in milliseconds."""

    streams: int
    rss_mb: float
    threads: int
    processor_share: float
    median_ms: dict[str, float]
    p95_ms: dict[str, float]


def open_streams(address: str, followed: list[tuple[str, str]], count: int) -> list[socket.socket]:
    """Opens ``count`` streams, ten for each (public id, token); returns those that were answered 200."""
    where, held = urlsplit(address), []
    for number in range(count):
        public_id, token = followed[number // STREAMS_PER_USER]
        stream = socket.create_connection((where.hostname or "", where.port or 0), timeout=60)
        request = (
            f"GET /api/v1/submissions/{public_id}/events HTTP/1.1\r\nHost: {where.netloc}\r\n"
            f"Authorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n"
        )
        stream.sendall(request.encode())
        if b" 200 " in stream.recv(4096)[:16]:
            held.append(stream)
    return held


def costs(address: str, pid: int, streams: int) -> Costs:
    """Measures the website, which holds this many streams."""
    begun_s, cpu_s = time.monotonic(), _cpu_s(pid)
    time.sleep(IDLE_S)
    share = (_cpu_s(pid) - cpu_s) / (time.monotonic() - begun_s)
    waits_ms = {page: sorted(_get_ms(address, page) for _ in range(60)) for page in PAGES}
    status = dict(line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return Costs(
        streams,
        int(status["VmRSS"].split()[0]) / 1024,
        int(status["Threads"]),
        share,
        {page: waits[30] for page, waits in waits_ms.items()},
        {page: waits[57] for page, waits in waits_ms.items()},
    )


def seconds_until_all_read(streams: list[socket.socket], kind: bytes, within_s: float = 60.0) -> list[float]:
    """Returns when, in seconds from now, each stream reported an event of this kind."""
    begun_s = time.monotonic()
    told: list[float] = []
    with selectors.DefaultSelector() as selector:
        for stream in streams:
            stream.setblocking(False)
            selector.register(stream, selectors.EVENT_READ)
        while len(told) < len(streams) and (left_s := begun_s + within_s - time.monotonic()) > 0:
            for key, _ in selector.select(left_s):
                if b"event: " + kind in key.fileobj.recv(65536):  # type: ignore[union-attr]
                    told.append(time.monotonic() - begun_s)
                    selector.unregister(key.fileobj)
    return told


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _get_ms(address: str, page: str) -> float:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=60)
    begun_s = time.monotonic()
    connection.request("GET", page)
    response = connection.getresponse()
    response.read()
    connection.close()
    if response.status != 200:
        raise SystemExit(f"{page}: {response.status}")
    return 1e3 * (time.monotonic() - begun_s)


def _worker_of(address: str) -> int:
    """Returns the process id of the website's worker: it listens on the address's port, and has no children."""
    port = f":{urlsplit(address).port:04X} "
    listening = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines() if port in line]
    sockets = {f"socket:[{fields[9]}]" for fields in listening if fields[3] == "0A"}
    for folder in sorted(Path("/proc").glob("[0-9]*"), key=lambda path: -int(path.name)):
        with contextlib.suppress(OSError):
            if any(str(link.readlink()) in sockets for link in (folder / "fd").iterdir()):
                return int(folder.name)
    raise SystemExit("the website's process was not found")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database-url", help="an empty PostgreSQL database")
    parser.add_argument("--redis-url")
    parser.add_argument("--watchers", type=int, default=2000, help="streams (default: %(default)s)")
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, arguments.watchers + 500)), hard))
    with tempfile.TemporaryDirectory(prefix="gpujudge-watchers-") as folder:
        settings = Settings(data_dir=Path(folder), database_url=arguments.database_url, redis_url=arguments.redis_url)
        upgrade(settings)
        engine = make_engine(settings)
        sessions = make_session_factory(engine)
        pack = load_pack(ROOT / "challenges" / "vector-add")
        followed = []
        with sessions.begin() as session:
            upsert_device(session, EMULATOR, now=utc_now())
            for number in range(-(-arguments.watchers // STREAMS_PER_USER)):
                user = create_user(session, username=f"watcher-{number}", password=None)
                sent = create_submission(
                    session, user=user, pack=pack, device_key=EMULATOR.key, mode="submit", source="int x;"
                )
                followed.append((sent.public_id, create_token(session, user=user, name="watch")[1]))
        print(f"{engine.dialect.name}, {len(os.sched_getaffinity(0))} cores, {platform.platform()}")
        with running_site(settings) as address:
            pid = _worker_of(address)
            print(costs(address, pid, 0), flush=True)
            streams = open_streams(address, followed, arguments.watchers)
            print(costs(address, pid, len(streams)), flush=True)
            for stream in streams:
                stream.setblocking(False)
                while True:
                    try:
                        stream.recv(65536)
                    except BlockingIOError:
                        break
            with sessions.begin() as session:
                first = session.scalars(select(Submission).where(Submission.public_id == followed[0][0])).one()
                record_event(session, first.id, "building", {"attempt": 1}, now=utc_now())
            told = seconds_until_all_read(streams[:STREAMS_PER_USER], b"building")
            print(
                f"an event reached {len(told)} of {STREAMS_PER_USER} streams within {1e3 * max(told, default=0):.0f} ms"
            )
        engine.dispose()
    return 0 if len(streams) == arguments.watchers and len(told) == STREAMS_PER_USER else 1


if __name__ == "__main__":
    sys.exit(main())
