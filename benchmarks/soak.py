"""Runs a private gpujudge under mixed load for a while, and tells whether memory, descriptors or cgroups grow.

    python benchmarks/soak.py
    python benchmarks/soak.py --minutes 30 --pause 2 --json soak.json
    python benchmarks/soak.py --database-url postgresql://... --redis-url redis://...

Starts `gpujudge up` with the emulator on a data folder of its own (SQLite and files unless a database and a broker are
named: they are written to). Meanwhile one client submits kernels that are right, wrong, do not compile or end their
process, and follows each by its event stream; another reads pages, boards and submissions. ``--pause`` is the seconds
between two submissions: with less the machine is busier.

Every ten seconds it adds up, over the processes that stay (the supervisor, the website, workers, lease keepers and the
sweeper, but no jail), the proportional set size and the open descriptors, and counts the cgroups. Prints the means of
the two minutes after ``--settle`` minutes and of the last two, and ends with status 1 if memory grew by more than 2 %,
or descriptors or cgroups by more than a handful. Linux alone.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import random
import secrets
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path

import httpx

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from benchmarks.private_site import CHALLENGE, Site, plan, sign_up, wait_until_ready  # noqa: E402
from store.database import make_engine, make_session_factory  # noqa: E402

#: Those that come and go with each submission.
PASSING = {"bubblewrap", "runner", "compiler", "other"}
WINDOW_S = 120.0
MOST_GROWTH = 0.02
#: The number of new descriptors or cgroups that is not a leak: connections and jails of the moment.
HANDFUL = 12


@dataclass(frozen=True)
class Sample:
    """The site's resources at one time. ``processes`` are those that stay; ``memory_of`` is in MB, by kind."""

    at_s: float
    memory_mb: float
    descriptors: int
    cgroups: int
    processes: int
    memory_of: dict[str, float]


def take_sample(site: Site, started_s: float) -> Sample:
    """Adds up what the processes of the site hold."""
    memory_kb: Counter[str] = Counter()
    descriptors = count = 0
    for kind, pids in site.processes().items():
        for pid in pids if kind not in PASSING else ():
            with contextlib.suppress(OSError):
                text = Path(f"/proc/{pid}/smaps_rollup").read_text()
                memory_kb[kind] += next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:"))
                descriptors += len(list(Path(f"/proc/{pid}/fd").iterdir()))
                count += 1
    memory_of = {kind: kb / 1024 for kind, kb in memory_kb.items()}
    at_s, memory_mb = time.monotonic() - started_s, sum(memory_of.values())
    return Sample(at_s, memory_mb, descriptors, len(site.cgroups()), count, memory_of)


class Load:
    """Two clients that go on until ``close``."""

    def __init__(self, site: Site, token: str, pause_s: float, chance: random.Random) -> None:
        self.answers: Counter[str] = Counter()
        self.wrong: list[str] = []
        self._site, self._token, self._pause_s, self._chance = site, token, pause_s, chance
        self._over = threading.Event()
        self._threads = [threading.Thread(target=self._go_on, args=(work,)) for work in (self._submit, self._read)]
        for thread in self._threads:
            thread.start()

    def close(self) -> None:
        """Ends the clients."""
        self._over.set()
        for thread in self._threads:
            thread.join()

    def _go_on(self, work: Callable[[], None]) -> None:
        """Works until ``close``, over errors of connections, which are counted."""
        while not self._over.is_set():
            try:
                work()
            except httpx.HTTPError as error:
                self.answers[type(error).__name__] += 1
                time.sleep(1)

    def _submit(self) -> None:
        headers = {"Authorization": f"Bearer {self._token}"}
        with httpx.Client(base_url=self._site.address, headers=headers, timeout=120) as client:
            while not self._over.wait(self._pause_s):
                ((verdict, source),) = plan(1, self._chance)
                body = {"challenge": CHALLENGE, "device": "emulator", "source": source}
                body["mode"] = self._chance.choice(["run", "submit"])
                answer = client.post("/api/v1/submissions", json=body)
                self.answers[f"POST {answer.status_code}"] += 1
                if answer.status_code != 201:
                    continue
                name = answer.json()["id"]
                with client.stream("GET", f"/api/v1/submissions/{name}/events") as stream:
                    for _ in stream.iter_bytes():
                        pass
                got = client.get(f"/api/v1/submissions/{name}").json().get("verdict")
                self.answers[f"verdict {got}"] += 1
                if got != verdict:
                    self.wrong.append(f"{name}: {got} instead of {verdict}")

    def _read(self) -> None:
        paths = ["/", f"/challenges/{CHALLENGE}", f"/leaderboards/{CHALLENGE}", "/ranking", "/healthz", "/metrics",
                 "/api/v1/challenges", "/help/", "/tracks/", f"/leaderboards/{CHALLENGE}.atom"]  # fmt: skip
        with httpx.Client(base_url=self._site.address, timeout=60) as client:
            while not self._over.wait(self._pause_s / 4):
                self.answers[f"GET {client.get(self._chance.choice(paths)).status_code}"] += 1


def run(
    folder: Path, *, minutes: float, settle: float, pause_s: float, database_url: str | None, redis_url: str | None
) -> tuple[list[Sample], Load]:
    """Does all of it in an empty folder, and returns the samples."""
    site = Site(folder, database_url=database_url, redis_url=redis_url, environment={})
    engine = make_engine(site.settings)
    samples = []
    try:
        token = sign_up(make_session_factory(engine))
        wait_until_ready(site, 600.0)
        started_s = time.monotonic()
        load = Load(site, token, pause_s, random.Random(secrets.randbits(32)))
        try:
            while time.monotonic() < started_s + 60 * max(minutes, settle):
                time.sleep(10)
                samples.append(take_sample(site, started_s))
        finally:
            load.close()
    finally:
        site.stop()
        engine.dispose()
    return samples, load


def means(samples: list[Sample], from_s: float) -> dict[str, float]:
    """Returns the means of a window that begins there."""
    within = [sample for sample in samples if from_s <= sample.at_s < from_s + WINDOW_S]
    rows = [{**asdict(sample), **{f"{kind} MB": mb for kind, mb in sample.memory_of.items()}} for sample in within]
    names = [name for name in rows[0] if name != "memory_of"]
    return {name: round(statistics.fmean(row.get(name, 0.0) for row in rows), 1) for name in names}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--settle", type=float, default=5.0, metavar="MINUTES")
    parser.add_argument("--pause", type=float, default=2.0, metavar="S")
    parser.add_argument("--database-url")
    parser.add_argument("--redis-url")
    parser.add_argument("--json", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpujudge-soak-") as folder:
        samples, load = run(
            Path(folder),
            minutes=arguments.minutes,
            settle=arguments.settle,
            pause_s=arguments.pause,
            database_url=arguments.database_url,
            redis_url=arguments.redis_url,
        )
    early, late = means(samples, 60 * arguments.settle), means(samples, samples[-1].at_s - WINDOW_S)
    growth = late["memory_mb"] / early["memory_mb"] - 1
    print(f"answers: {dict(sorted(load.answers.items()))}; wrong verdicts: {load.wrong}")
    print(f"after {arguments.settle:g} minutes: {early}")
    print(f"at the end: {late}")
    print(f"memory grew by {growth:.1%}")
    if arguments.json is not None:
        told = {"samples": [asdict(sample) for sample in samples], "answers": load.answers, "wrong": load.wrong}
        arguments.json.write_text(json.dumps(told, indent=1))
    leaks = [name for name in ("descriptors", "cgroups") if late[name] > early[name] + HANDFUL]
    return 1 if load.wrong or growth > MOST_GROWTH or leaks else 0


if __name__ == "__main__":
    sys.exit(main())
