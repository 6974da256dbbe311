"""Kills processes of a running gpujudge at random while it judges submissions of known verdict, and counts the damage.

    python benchmarks/kill_test.py
    python benchmarks/kill_test.py --submissions 200 --kill-every 3 --seed 11 --json kills.json
    python benchmarks/kill_test.py --database-url postgresql://... --redis-url redis://...

Starts a private gpujudge (`gpujudge up`, on SQLite and files unless a database and a broker are named: they are written
to) and sends ``--submissions`` kernels that are right, wrong, do not compile or kill themselves. Meanwhile `kill -9`
hits, every ``--kill-every`` seconds on average, a process of a random kind: workers, lease keepers, compilers,
bubblewrap, runners, web servers, the sweeper and `gpujudge up` itself, which is started again. The killing ends when
all but one in twenty are judged, after ``--most-kills``, or at ``--deadline``. It kills only what it
has started.

Then it reads the database, and stops everything. Prints, and ends with status 1 unless all are 0: submissions lost,
stuck, judged twice or wrongly, and processes, cgroups and temporary files that were left.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from benchmarks.private_site import CHALLENGE, Site, plan, sign_up, wait_until_ready  # noqa: E402
from store.database import make_engine, make_session_factory  # noqa: E402
from store.models import Event, Job, Measurement, Submission  # noqa: E402

#: Short leases, so that what a dead worker held is soon another's; the limits on attempts are those of production.
QUICK = {
    "GPUJUDGE_LEASE_S": "8",
    "GPUJUDGE_HEARTBEAT_S": "2",
    "GPUJUDGE_SWEEP_S": "2",
    "GPUJUDGE_MAX_LOSSES": "50",
}
#: How long what is left may take to go, when the killing is over and after the stop.
SETTLE_S = 90.0


@dataclass
class Report:
    """The outcome. Everything from ``lost`` on should be 0 or empty."""

    submissions: int
    seconds: float = 0.0
    kills: dict[str, int] = field(default_factory=dict)
    verdicts: dict[str, int] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list)
    stuck: list[str] = field(default_factory=list)
    judged_twice: list[str] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    left_processes: list[str] = field(default_factory=list)
    left_cgroups: list[str] = field(default_factory=list)
    left_files: list[str] = field(default_factory=list)

    @property
    def damage(self) -> dict[str, list[str]]:
        """Everything that is not as it should be."""
        return {name: value for name, value in asdict(self).items() if isinstance(value, list) and value}


class Killer:
    """Kills one process after the other until told to stop, in a thread of its own."""

    def __init__(self, site: Site, every_s: float, most_kills: int | None, chance: random.Random) -> None:
        self._site = site
        self._most_kills = most_kills
        self._every_s = every_s
        self._chance = chance
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.kills: Counter[str] = Counter()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Idempotent. Starts again what it killed last."""
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        next_s = time.monotonic() + self._every_s
        while not self._over.wait(0.05):
            self._site.start_again_if_gone()
            running = self._site.processes()
            if time.monotonic() < next_s or not running or self.kills.total() == self._most_kills:
                continue
            if set(running) == {"up"}:
                continue  # killed again and again while it starts, it would never start anything
            kind = self._chance.choice(sorted(running))
            if kind == "up" and self._chance.random() < 0.7:
                continue  # it takes everything with it, and its start takes long
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._chance.choice(running[kind]), signal.SIGKILL)
                self.kills[kind] += 1
            next_s = time.monotonic() + self._every_s * self._chance.uniform(0.5, 1.5)


def run(
    folder: Path,
    *,
    submissions: int,
    every_s: float,
    deadline_s: float,
    seed: int,
    most_kills: int | None = None,
    database_url: str | None = None,
    redis_url: str | None = None,
) -> Report:
    """Does all of it in an empty folder."""
    chance = random.Random(seed)
    report = Report(submissions)
    started_s = time.monotonic()
    site = Site(folder, database_url=database_url, redis_url=redis_url, environment=QUICK)
    engine = make_engine(site.settings)
    sessions = make_session_factory(engine)
    try:
        token = sign_up(sessions)
        wait_until_ready(site, deadline_s)
        killer = Killer(site, every_s, most_kills, chance)
        killer.start()
        try:
            until_s = time.monotonic() + deadline_s
            expected = _send(site, token, plan(submissions, chance), until_s)
            while _unfinished(sessions, list(expected)) > submissions // 20 and time.monotonic() < until_s:
                time.sleep(0.5)
        finally:
            killer.stop()
        until_s = time.monotonic() + SETTLE_S + 10 * (submissions // 20)
        while _unfinished(sessions, list(expected)) and time.monotonic() < until_s:
            site.start_again_if_gone()
            site.processes()
            time.sleep(0.5)
        site.processes()
        report.kills = dict(killer.kills)
        _read_verdicts(sessions, expected, report)
        report.lost += [f"submission {number}" for number in range(len(expected), submissions)]
        _wait_until_clean(site)
    finally:
        site.stop()
        engine.dispose()
    until_s = time.monotonic() + 60  # a worker that was told to end finishes the judgement that it is at
    while site.left_processes() and time.monotonic() < until_s:
        time.sleep(0.2)
    report.left_processes, report.left_cgroups = site.left_processes(), site.cgroups()
    report.left_files, report.seconds = site.left_files(), round(time.monotonic() - started_s, 1)
    return report


def _send(site: Site, token: str, plan: Sequence[tuple[str, str]], until_s: float) -> dict[str, str]:
    """The expected verdict by public id. Each is sent until it was accepted; the key makes it one submission."""
    expected: dict[str, str] = {}
    with httpx.Client(headers={"Authorization": f"Bearer {token}"}, timeout=10.0) as client:
        for number, (verdict, source) in enumerate(plan):
            body = {"challenge": CHALLENGE, "device": "emulator", "mode": "submit", "source": source}
            key = {"Idempotency-Key": f"kill-test-{number}"}
            while time.monotonic() < until_s:
                with contextlib.suppress(httpx.HTTPError):
                    answer = client.post(f"{site.address}/api/v1/submissions", json=body, headers=key)
                    if answer.status_code == 201:
                        expected[answer.json()["id"]] = verdict
                        break
                time.sleep(0.3)
            time.sleep(0.3)
    return expected


def _unfinished(sessions: sessionmaker[Session], ids: Sequence[str]) -> int:
    with sessions() as session:
        query = select(func.count()).select_from(Submission)
        return int(session.scalar(query.where(Submission.public_id.in_(ids), Submission.state != "done")) or 0)


def _read_verdicts(sessions: sessionmaker[Session], expected: dict[str, str], report: Report) -> None:
    verdicts: Counter[str] = Counter()
    with sessions() as session:
        for public_id, verdict in expected.items():
            submission = session.scalars(select(Submission).where(Submission.public_id == public_id)).one_or_none()
            if submission is None:
                report.lost.append(public_id)
                continue
            if submission.state != "done":
                job = session.scalars(select(Job).where(Job.submission_id == submission.id)).one()
                report.stuck.append(f"{public_id}: {submission.state}, {job.failures} failures, {job.losses} losses")
                continue
            verdicts[str(submission.verdict)] += 1
            if submission.verdict != verdict:
                message = submission.judgement.message if submission.judgement is not None else ""
                report.wrong.append(f"{public_id}: {submission.verdict} instead of {verdict}: {message[:300]}")
            done = select(func.count()).select_from(Event)
            ends = session.scalar(done.where(Event.submission_id == submission.id, Event.kind == "done"))
            places = session.scalar(
                select(func.count()).select_from(Measurement).where(Measurement.submission_id == submission.id)
            )
            if ends != 1 or places != (submission.verdict == "AC"):
                report.judged_twice.append(f"{public_id}: {ends} ends, {places} places")
    report.verdicts = dict(verdicts)


def _wait_until_clean(site: Site) -> None:
    """The sweeper removes what killed processes left: give it its time, before it is stopped."""
    until_s = time.monotonic() + SETTLE_S
    while time.monotonic() < until_s:
        site.start_again_if_gone()
        running = {pid for pids in site.processes().values() for pid in pids}
        of_the_dead = [group for group in site.cgroups() if int(group.split(".")[-2]) not in running]
        if not of_the_dead and not site.left_files():
            return
        time.sleep(0.5)


def main(argv: Sequence[str] | None = None) -> int:
    """The exit code: 1 when anything is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--submissions", type=int, default=60)
    parser.add_argument("--kill-every", type=float, default=4.0, metavar="S")
    parser.add_argument("--most-kills", type=int, metavar="N")
    parser.add_argument("--deadline", type=float, default=1500.0, metavar="S")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--database-url")
    parser.add_argument("--redis-url")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(argv)
    with tempfile.TemporaryDirectory(prefix="kill-test-") as folder:
        report = run(
            Path(folder),
            submissions=options.submissions,
            every_s=options.kill_every,
            deadline_s=options.deadline,
            seed=options.seed,
            most_kills=options.most_kills,
            database_url=options.database_url,
            redis_url=options.redis_url,
        )
    if options.json is not None:
        options.json.write_text(json.dumps(asdict(report), indent=1))
    print(f"{report.submissions} submissions in {report.seconds:.0f} s: {report.verdicts}")
    print(f"{sum(report.kills.values())} kills: {report.kills}")
    for name, value in asdict(report).items():
        if isinstance(value, list):
            print(f"{name.replace('_', ' '):>16}: {len(value)}", *value[:20], sep="\n    " if value else "")
    return 1 if report.damage else 0


if __name__ == "__main__":
    sys.exit(main())
