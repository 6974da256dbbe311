"""Measures the pages of a class: 200 members, 12 assignments of one challenge each, 4 tries of each member for each.

    python -m benchmarks.class_pages [--members 200] [--assignments 12] [--tries 4] [--database-url URL]

Asks for each page ``--count`` times within this process, which leaves its modules out of garbage collections as the
server does. Prints median and 95th percentile in milliseconds, of processor time (which says the same on a machine that
does other work; PostgreSQL's is left out) and of wall time. Without a URL, it writes into SQLite in a new folder; with
one, into that database, which must be empty.
"""

from __future__ import annotations

import argparse
import gc
import os
import platform
import tempfile
import time
from datetime import timedelta
from pathlib import Path

from flask.testing import FlaskClient
from sqlalchemy import insert, select
from sqlalchemy.orm import Session

from store.clock import utc_now
from store.database import make_engine, make_session_factory
from store.migrate import upgrade
from store.models import Assignment, Class, ClassMember, Measurement, Role, Submission, User
from store.people.accounts import create_user
from store.people.sessions import start_session
from store.teaching import classes
from web.app import create_app
from web.settings import WebSettings

_DEVICE, _CHALLENGES = "nvidia-h200", ("vector-add", "softmax", "transpose")
_WORK = "/classes/1/assignments/1"
PAGES = (
    *("/classes/1", "/classes/1/matrix", "/classes/1/matrix?show=stuck", "/classes/1/roster", "/classes/1/grades.csv"),
    *("/classes/1/grades/canvas.csv", _WORK, f"{_WORK}/grades.csv", f"{_WORK}/attempts/member0?challenge=vector-add"),
)


def fill(session: Session, *, members: int, assignments: int, tries: int) -> str:
    """Writes the class, a third of whose members are stuck. Returns the key of a session of its teacher."""
    now = utc_now()
    teacher = create_user(session, username="euler", password=None, now=now)
    teacher.role = Role.TEACHER
    group = Class(title="CUDA", description="", code="code", owner_id=teacher.id, created_at=now)
    session.add(group)
    session.flush()
    begun = now - timedelta(days=1)
    for number in range(assignments):
        row = Assignment(
            class_id=group.id,
            title=f"Week {number + 1}",
            opens_at=begun,
            due_at=now + timedelta(days=1),
            counts="accepted",
            least_percent=0,
            shows_hints=True,
            created_at=begun,
        )
        classes.set_challenges(row, [_CHALLENGES[number % len(_CHALLENGES)]])
        session.add(row)
    names = [f"member{number}" for number in range(members)]
    session.execute(
        insert(User), [{"username": n, "username_key": n, "created_at": now, "name_skeleton": n} for n in names]
    )
    ids = session.scalars(select(User.id).where(User.username_key.in_(names)).order_by(User.id)).all()
    rows = [
        {"class_id": group.id, "user_id": i, "known_as": n, "joined_at": now} for i, n in zip(ids, names, strict=True)
    ]
    session.execute(insert(ClassMember), rows)
    sent = []
    for place, user in enumerate(ids):
        for slug in _CHALLENGES:
            for number in range(tries):
                verdict = "WA" if place % 3 == 0 else "AC" if number % 2 else "CE"
                sent.append(
                    {
                        "public_id": f"{user}-{slug[:3]}-{number}",
                        "user_id": user,
                        "challenge": slug,
                        "pack_version": "1.0",
                        "pack_major": 1,
                        "pack_digest": "0",
                        "device_key": _DEVICE,
                        "mode": "submit",
                        "source_bytes": b"x",
                        "seed": 1,
                        "state": "done",
                        "verdict": verdict,
                        "created_at": begun + timedelta(minutes=number),
                        "judgement": {"verdict": verdict, "message": f"row {number} is wrong"},
                    }
                )
    session.execute(insert(Submission.__table__), sent)  # type: ignore[arg-type]
    accepted = session.execute(
        select(Submission.id, Submission.user_id, Submission.challenge).where(Submission.verdict == "AC")
    )
    scores = [
        {
            "submission_id": row.id, "user_id": row.user_id, "challenge": row.challenge, "device_key": _DEVICE,
            "pack_major": 1, "metric": "time_s", "value": 1e-4, "runs": 1, "spread": 0.0, "created_at": now,
        }
        for row in accepted
    ]  # fmt: skip
    session.execute(insert(Measurement), scores)
    return start_session(session, user=teacher, address="", user_agent="", now=now)


def measure(client: FlaskClient, path: str, count: int) -> None:
    """Prints how long a page takes, once it was asked for a few times."""
    cpu_ms, wall_ms = [], []
    for _ in range(3 + count):
        cpu, wall = time.process_time(), time.perf_counter()
        answer = client.get(path)
        cpu_ms.append(1e3 * (time.process_time() - cpu))
        wall_ms.append(1e3 * (time.perf_counter() - wall))
        if answer.status_code != 200:
            raise SystemExit(f"{path}: {answer.status_code} {answer.data[:300]!r}")
    figures = []
    for times in (cpu_ms[3:], wall_ms[3:]):
        ordered = sorted(times)
        figures += [ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]]
    print("".join(f"{figure:8.1f}" for figure in figures), f" {path}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--members", type=int, default=200, help="of the class (default: %(default)s)")
    parser.add_argument("--assignments", type=int, default=12, help="of the class (default: %(default)s)")
    parser.add_argument("--tries", type=int, default=4, help="of each member for each (default: %(default)s)")
    parser.add_argument("--database-url", help="an empty database in place of SQLite in a new folder")
    parser.add_argument("--count", type=int, default=40, help="requests for each page (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpujudge-class-") as folder:
        settings = WebSettings(data_dir=Path(folder), database_url=arguments.database_url)
        upgrade(settings)
        with make_session_factory(make_engine(settings)).begin() as session:
            key = fill(session, members=arguments.members, assignments=arguments.assignments, tries=arguments.tries)
        app = create_app(settings)
        client = app.test_client()
        with client.session_transaction() as cookie:
            cookie["_user_id"], cookie["_fresh"] = key, True
        gc.collect()
        gc.freeze()
        print(f"{len(os.sched_getaffinity(0))} cores, {platform.platform()}; processor time, then wall time, in ms:")
        print("  median     p95  median     p95")
        for path in PAGES:
            measure(client, path, arguments.count)


if __name__ == "__main__":
    main()
