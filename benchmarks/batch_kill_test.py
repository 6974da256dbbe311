"""Sends a batch to a running gpujudge of several workers while processes are killed, and counts lines and judgements.

    python benchmarks/batch_kill_test.py --kernels 200 --workers 4 --kill-every 5

Starts a private gpujudge with ``--workers`` device workers and lets `gpujudge batch submit` judge kernels of known
verdict. Meanwhile `kill -9` hits the client itself, workers, compilers and runners. A client that was killed is called
again. Then it reads the file of results and the database. Prints, and ends with 1 unless all are 0: kernels without a
line, with two, with a wrong verdict, submissions too many or too few, and judgements made twice. Kills only what it has
started.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from sqlalchemy import func, select

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from benchmarks.kill_test import QUICK  # noqa: E402
from benchmarks.private_site import CHALLENGE, Site, plan, sign_up, wait_until_ready  # noqa: E402
from store.database import make_engine, make_session_factory  # noqa: E402
from store.models import Event, Submission  # noqa: E402

#: What is killed of the server; its web server and `gpujudge up` are `benchmarks/kill_test.py`'s.
_VICTIMS = ("device worker", "build worker", "runner", "compiler", "bubblewrap", "lease keeper")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kernels", type=int, default=100)
    parser.add_argument("--workers", type=int, default=4)
    parser.add_argument("--kill-every", type=float, default=5.0, metavar="S")
    parser.add_argument("--deadline", type=float, default=1500.0, metavar="S", help="no kills from then on")
    parser.add_argument("--seed", type=int, default=7)
    given = parser.parse_args()
    chance, kills = random.Random(given.seed), Counter[str]()
    with tempfile.TemporaryDirectory(prefix="batch-kill-test-") as scratch:
        folder, out = Path(scratch) / "kernels" / CHALLENGE, Path(scratch) / "out.jsonl"
        folder.mkdir(parents=True)
        expected = {}
        for number, (verdict, source) in enumerate(plan(given.kernels, chance)):
            (folder / f"{number:05}.cu").write_text(source)
            expected[str(folder / f"{number:05}.cu")] = verdict
        site = Site(Path(scratch), database_url=None, redis_url=None, environment=QUICK)
        engine = make_engine(site.settings)
        sessions = make_session_factory(engine)
        workers: list[subprocess.Popen[bytes]] = []
        try:
            client_environment = {**os.environ, "GPUJUDGE_SERVER": site.address, "GPUJUDGE_TOKEN": sign_up(sessions)}
            wait_until_ready(site, 300)
            worker = [sys.executable, "-m", "cli.main", "worker", "device", "--device", "emulator"]
            client = [sys.executable, "-m", "cli.main", "batch", "submit", str(folder.parent), "--jsonl", str(out)]
            started, next_s, code = time.monotonic(), time.monotonic() + given.kill_every, -signal.SIGKILL
            while code == -signal.SIGKILL:
                process = subprocess.Popen(client, env=client_environment, cwd=ROOT)
                while process.poll() is None:
                    time.sleep(0.1)
                    workers = [each for each in workers if each.poll() is None]
                    while len(workers) < given.workers - 1:
                        quiet = subprocess.DEVNULL
                        workers.append(
                            subprocess.Popen(worker, env=site.environment, cwd=ROOT, stdout=quiet, stderr=quiet)
                        )
                    site.start_again_if_gone()
                    now_s = time.monotonic()
                    if now_s < next_s or now_s - started > given.deadline:
                        continue
                    next_s = now_s + given.kill_every * chance.uniform(0.5, 1.5)
                    running = {kind: pids for kind, pids in site.processes().items() if kind in _VICTIMS}
                    running["client"] = [process.pid]
                    running["further worker"] = [each.pid for each in workers]
                    kind = chance.choice(sorted(running))
                    with contextlib.suppress(ProcessLookupError, IndexError):
                        os.kill(chance.choice(running[kind]), signal.SIGKILL)
                        kills[kind] += 1
                code = process.returncode
            wall_s = time.monotonic() - started
            lines = [json.loads(line) for line in out.read_text().splitlines()]
            with sessions() as session:
                submissions = session.scalar(select(func.count()).select_from(Submission)) or 0
                ends = select(func.count()).where(Event.kind == "done").group_by(Event.submission_id)
                twice = sum(count != 1 for count in session.scalars(ends))
        finally:
            for each in workers:
                each.terminate()
            site.stop()
            for each in workers:
                each.wait()
            engine.dispose()
    found = Counter(line["file"] for line in lines)
    damage = {
        "kernels without a line": len(expected.keys() - found.keys()),
        "kernels with two lines": sum(count > 1 for count in found.values()),
        "wrong verdicts": sum(line["verdict"] != expected[line["file"]] for line in lines),
        "submissions too many or too few": abs(submissions - len(expected)),
        "judged twice": twice,
    }
    print(f"{len(lines)} lines of {len(expected)} kernels in {wall_s:.0f} s, {given.workers} workers; exit code {code}")
    print(f"{kills.total()} kills: {dict(kills)}")
    for name, count in damage.items():
        print(f"{name:>32}: {count}")
    return 1 if any(damage.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
