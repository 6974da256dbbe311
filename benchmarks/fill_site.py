"""Fills an empty PostgreSQL database with many submissions, and measures how long the pages take to answer.

    python benchmarks/fill_site.py --database-url postgresql://gj@127.0.0.1/empty --submissions 1000000
    python benchmarks/fill_site.py --database-url postgresql://gj@127.0.0.1/filled --only-measure
    python benchmarks/fill_site.py --database-url postgresql://gj@127.0.0.1/filled --only-measure --cpu

Writes rows as a school with 10,000 users and the built-in challenges would have them: one user sent 2 % of all
submissions, one challenge got 30 %, the emulator judged 70 %, and 80 % were accepted. Then asks for each page
``--count`` times, one request after the other, from a website started for it, as the busiest user. Prints the median
and the 95th percentile of each page in milliseconds.

``--copy-to FOLDER`` first copies all but the events into an SQLite database in a new data folder, and measures there.

With ``--cpu`` the pages are asked for within this process, and what is printed is processor time: that of this process
and of the database server's processes, if it runs on this machine. It says the same on a machine that does other work.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import http.client
import json
import os
import platform
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
import psycopg  # noqa: E402
from flask import Flask  # noqa: E402
from sqlalchemy import Text, cast, column, delete, insert, select  # noqa: E402
from sqlalchemy import table as table_named  # noqa: E402

from benchmarks.load_test import running_site  # noqa: E402
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement  # noqa: E402
from judge.judgement_json import to_json  # noqa: E402
from judge.measurements import Measurement  # noqa: E402
from judge.verdict import Verdict  # noqa: E402
from store.clock import utc_now  # noqa: E402
from store.columns import JudgementPart, PlainJson  # noqa: E402
from store.database import make_engine, make_session_factory  # noqa: E402
from store.devices import list_devices  # noqa: E402
from store.migrate import upgrade  # noqa: E402
from store.models import Base, Submission  # noqa: E402
from store.models import Measurement as MeasurementRow  # noqa: E402
from store.people.accounts import create_token, find_user  # noqa: E402
from store.people.sessions import start_session  # noqa: E402
from store.settings import Settings  # noqa: E402
from web.app import create_app  # noqa: E402
from web.settings import WebSettings  # noqa: E402

USERS = 10_000
POPULAR = "vector-add"
PAGES = (
    "/",
    "/?status=solved",
    f"/challenges/{POPULAR}",
    "/leaderboards/",
    f"/leaderboards/{POPULAR}?device=nvidia-h200",
    f"/leaderboards/{POPULAR}?device=emulator",
    "/ranking",
    "/ranking?device=nvidia-h200&page=7",
    "/users/user1",
    "/contests/fortnight",
    "/contests/fortnight/screen",
    "/contests/fortnight/standings.json",
    "/submissions",
    f"/submissions?challenge={POPULAR}",
    "/account/",
    "/metrics",
)
API = ("/api/v1/challenges", f"/api/v1/leaderboards/{POPULAR}?device=nvidia-h200", "/api/v1/submissions")

#: Of every 50 submissions one is the first user's; of every 10 three are for the first challenge.
ROWS = """
CREATE TEMP TABLE filled AS SELECT
    n AS id,
    CASE WHEN n %% 50 = 0 THEN 1 ELSE 2 + (n::bigint * 7919 %% (%(users)s - 1))::int END AS user_id,
    (%(challenges)s::text[])[
        CASE WHEN n %% 10 < 3 THEN 1 ELSE 2 + (n::bigint * 104729 %% (%(others)s))::int END
    ] AS challenge,
    CASE WHEN n * 31 %% 100 < 70 THEN 'emulator' ELSE 'nvidia-h200' END AS device_key,
    CASE WHEN n * 17 %% 100 < 80 THEN 'AC' WHEN n * 17 %% 100 < 90 THEN 'WA' ELSE 'CE' END AS verdict,
    now() - interval '200 days' * (1 - n::float8 / %(count)s) AS at,
    1e-4 * (1 + 10 * random()) AS value
FROM generate_series(1, %(count)s) AS n
"""

STEPS = (
    """INSERT INTO users (id, username, username_key, created_at)
    SELECT n, 'user' || n, 'user' || n, now() - interval '300 days'
    FROM generate_series(1, %(users)s) AS n""",
    """INSERT INTO devices (key, kind, name, compute_capability, details, first_seen_at, last_seen_at) VALUES
    ('emulator', 'emulator', 'Emulator', '8.0', '{}', now(), now()),
    ('nvidia-h200', 'cuda', 'NVIDIA H200', '9.0', '{}', now(), now())""",
    ROWS,
    """INSERT INTO submissions (id, public_id, user_id, challenge, pack_version, pack_major, pack_digest, device_key,
        mode, source_bytes, seed, state, verdict, judgement, last_event_seq, created_at, finished_at)
    SELECT id, substr(md5(id::text), 1, 12), user_id, challenge, '1.0.0', 1, repeat('a', 64), device_key,
        'submit', convert_to('// ' || md5(id::text) || repeat(' kernel', 200), 'UTF8'), id, 'done', verdict,
        %(judgement)s::json, 5, at, at + interval '5 s'
    FROM filled""",
    """INSERT INTO jobs (id, submission_id, user_id, device_key, state, failures, available_at, rung_at)
    SELECT id, id, user_id, device_key, 'done', 0, at, at FROM filled""",
    """INSERT INTO events (submission_id, seq, kind, payload, created_at)
    SELECT id, seq, (ARRAY['queued', 'building', 'built', 'running', 'done'])[seq], '{}', at
    FROM filled, generate_series(1, 5) AS seq""",
    """INSERT INTO measurements (submission_id, user_id, challenge, device_key, pack_major, metric, value, runs, spread,
        low, high, created_at)
    SELECT id, user_id, challenge, device_key, 1,
        CASE WHEN device_key = 'emulator' THEN 'modelled_time_s/h200/1' ELSE 'time_s' END, value, 30, 0.01,
        CASE WHEN device_key <> 'emulator' THEN 0.99 * value END,
        CASE WHEN device_key <> 'emulator' THEN 1.01 * value END, at
    FROM filled WHERE verdict = 'AC'""",
    "SELECT setval(pg_get_serial_sequence('users', 'id'), %(users)s + 1)",
    "SELECT setval(pg_get_serial_sequence('submissions', 'id'), %(count)s + 1)",
    "SELECT setval(pg_get_serial_sequence('jobs', 'id'), %(count)s + 1)",
)

#: What the store keeps in step with each judgement.
TOTALS = (
    """INSERT INTO best_results (challenge, device_key, pack_major, metric, user_id, submission_id, value, low, high,
        roofline_share, created_at)
    SELECT challenge, device_key, pack_major, metric, user_id, submission_id, value, coalesce(low, value),
        coalesce(high, value), roofline_share, created_at
    FROM (
        SELECT measurements.*, row_number() OVER (
            PARTITION BY challenge, device_key, pack_major, metric, user_id ORDER BY value, submission_id
        ) AS place FROM measurements
    ) AS placed WHERE place = 1""",
    """INSERT INTO board_totals (challenge, device_key, pack_major, metric, users, best_value, latest_submission_id)
    SELECT challenge, device_key, pack_major, metric, count(DISTINCT user_id), min(value), max(submission_id)
    FROM measurements GROUP BY challenge, device_key, pack_major, metric""",
    """INSERT INTO user_progress (user_id, challenge, judged, accepted, solved_at)
    SELECT user_id, challenge, count(*), sum(CASE WHEN verdict = 'AC' THEN 1 ELSE 0 END),
        min(CASE WHEN verdict = 'AC' THEN finished_at END)
    FROM submissions WHERE verdict IS NOT NULL AND mode = 'submit' GROUP BY user_id, challenge""",
    """INSERT INTO challenge_totals (challenge, judged, accepted, solvers)
    SELECT challenge, sum(judged), sum(accepted), sum(CASE WHEN accepted > 0 THEN 1 ELSE 0 END)
    FROM user_progress GROUP BY challenge""",
    """INSERT INTO verdict_totals (verdict, judged)
    SELECT verdict, count(*) FROM submissions WHERE verdict IS NOT NULL GROUP BY verdict""",
)

#: A contest over the last fortnight with every tenth user.
CONTEST_STEPS = (
    """INSERT INTO contests (id, slug, title, description, starts_at, ends_at, revealed, scoring, devices,
        opens_sources, created_at)
    SELECT 1, 'fortnight', 'Fortnight', '', now() - interval '14 days', now() + interval '14 days', false, 'points',
        'nvidia-h200', false, now()""",
    """INSERT INTO contest_challenges (contest_id, challenge, position)
    SELECT 1, challenge, position - 1
    FROM unnest((%(challenges)s::text[])[:3]) WITH ORDINALITY AS named (challenge, position)""",
    """INSERT INTO contest_members (contest_id, user_id, joined_at)
    SELECT 1, n, now() FROM generate_series(1, %(users)s, 10) AS n""",
    "SELECT setval(pg_get_serial_sequence('contests', 'id'), 2)",
)


def fill(settings: Settings, count: int) -> None:
    """Creates the tables in an empty database and fills them."""
    upgrade(settings)
    challenges = sorted(path.name for path in (ROOT / "challenges").iterdir() if path.is_dir())
    challenges.insert(0, challenges.pop(challenges.index(POPULAR)))
    given = {
        "users": USERS,
        "count": count,
        "challenges": challenges,
        "others": len(challenges) - 1,
        "judgement": json.dumps(to_json(_judgement())),
    }
    url = settings.sqlalchemy_url.set(drivername="postgresql").render_as_string(hide_password=False)
    with psycopg.connect(url, autocommit=True, cursor_factory=psycopg.ClientCursor) as connection:
        connection.execute("SET synchronous_commit = off")
        for step in (*STEPS, *TOTALS, *CONTEST_STEPS):
            _timed(" ".join(step.split()[:3]), functools.partial(connection.execute, step, given))
        _timed("VACUUM ANALYZE", lambda: connection.execute("VACUUM ANALYZE"))


def copy(settings: Settings, into: Settings) -> None:
    """Copies every table but the events, which are purged after a while on a running site, into an empty database."""
    upgrade(into)
    source, target = make_engine(settings), make_engine(into)
    with source.connect().execution_options(yield_per=2_000) as reading, target.connect() as writing:
        writing.exec_driver_sql("PRAGMA foreign_keys = OFF")
        for table in Base.metadata.sorted_tables:
            if table.name == "events":
                continue
            begun = time.monotonic()
            writing.execute(delete(table))
            # JSON goes as it stands: to read and write a million judgements takes minutes.
            is_json = {each.name: isinstance(each.type, (JudgementPart, PlainJson)) for each in table.columns}
            read = select(
                *(cast(each, Text).label(each.name) if is_json[each.name] else each for each in table.columns)
            )
            into_table = table_named(
                table.name, *(column(each.name, Text() if is_json[each.name] else each.type) for each in table.columns)
            )
            for rows in reading.execute(read).mappings().partitions():
                writing.execute(insert(into_table), [dict(row) for row in rows])
            writing.commit()
            print(f"{time.monotonic() - begun:7.1f} s  {table.name}", flush=True)
    source.dispose()
    target.dispose()


def _timed(name: str, step: Callable[[], object]) -> None:
    begun = time.monotonic()
    step()
    print(f"{time.monotonic() - begun:7.1f} s  {name}", flush=True)


def _judgement() -> Judgement:
    cases = tuple(CaseJudgement(f"n-{n}", "hidden", Verdict.ACCEPTED, wall_s=0.01) for n in range(10))
    return Judgement(
        Verdict.ACCEPTED,
        POPULAR,
        "1.0.0",
        DeviceInfo(key="nvidia-h200", kind="cuda", name="NVIDIA H200", compute_capability="9.0"),
        BuildReport(ok=True, wall_s=0.4),
        cases=cases,
        measurement=Measurement("time_s", 1.25e-4, 30, 0.01, median_s=1.25e-4, low=1.24e-4, high=1.26e-4),
    )


@dataclass(frozen=True)
class Asked:
    """Holds the paths to ask for, and the cookie and token of the user who asks."""

    paths: tuple[str, ...]
    cookie: str
    token: str

    def headers(self, path: str) -> dict[str, str]:
        """Returns the headers that make a request the user's."""
        return {"Authorization": f"Bearer {self.token}"} if path.startswith("/api/") else {"Cookie": self.cookie}


def prepare(settings: WebSettings, app: Flask, *, busy: str = "user1") -> Asked:
    """Signs the busiest user in, and says that the devices were seen just now."""
    engine = make_engine(settings)
    with make_session_factory(engine).begin() as session:
        for device in list_devices(session, now=utc_now(), recent_s=1e9):
            device.last_seen_at = utc_now()
        user = find_user(session, busy)
        assert user is not None
        _, token = create_token(session, user=user, name="fill")
        key = start_session(session, user=user, address="127.0.0.1", user_agent="fill", now=utc_now())
        on_boards = select(Submission.public_id).join(MeasurementRow, MeasurementRow.submission_id == Submission.id)
        shown = session.scalars(
            on_boards.where(Submission.user_id == user.id, Submission.challenge == POPULAR)
            .order_by(Submission.id.desc())
            .limit(1)
        ).one()
    engine.dispose()
    signer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    value = signer.dumps({"_user_id": key, "_fresh": True, "_permanent": True})
    paths = (*PAGES, f"/submissions/{shown}", *API)
    return Asked(paths, f"{app.config['SESSION_COOKIE_NAME']}={value}", token)


def measure(settings: WebSettings, count: int) -> None:
    """Asks for each page ``count`` times and prints how long it took."""
    asked = prepare(settings, create_app(settings))
    with running_site(settings) as address:
        where = urlsplit(address)
        connection = http.client.HTTPConnection(where.hostname or "", where.port, timeout=60)
        for path in asked.paths:
            waits_s = []
            for _ in range(count + 3):
                begun = time.monotonic()
                connection.request("GET", path, headers=asked.headers(path))
                answer = connection.getresponse()
                body = answer.read()
                waits_s.append(time.monotonic() - begun)
                if answer.status != 200:
                    raise SystemExit(f"{path}: {answer.status} {body[:300]!r}")
            _print(path, waits_s[3:])


def measure_cpu(settings: WebSettings, count: int) -> None:
    """Asks for each page ``count`` times within this process and prints the processor time that it took."""
    app = create_app(settings)
    asked = prepare(settings, app)
    client, server = app.test_client(use_cookies=False), _server_pid(settings)
    for path in asked.paths:
        spent_s = []
        for _ in range(count + 3):
            begun = time.process_time() + _server_cpu_s(server)
            answer = client.get(path, headers=asked.headers(path))
            spent_s.append(time.process_time() + _server_cpu_s(server) - begun)
            if answer.status_code != 200:
                raise SystemExit(f"{path}: {answer.status_code} {answer.data[:300]!r}")
        _print(path, spent_s[3:])


def _print(path: str, times_s: list[float]) -> None:
    ordered = sorted(times_s)
    middle, late = ordered[len(ordered) // 2], ordered[int(0.95 * len(ordered))]
    print(f"{1e3 * middle:7.1f} {1e3 * late:7.1f}  {path}", flush=True)


def _server_pid(settings: WebSettings) -> int | None:
    """Returns the process of the PostgreSQL server, or None for SQLite and for a server elsewhere."""
    if settings.sqlalchemy_url.get_backend_name() != "postgresql":
        return None
    engine = make_engine(settings)
    with engine.connect() as connection:
        backend = connection.exec_driver_sql("SELECT pg_backend_pid()").scalar_one()
        try:
            return int(Path(f"/proc/{backend}/stat").read_text().rpartition(")")[2].split()[1])
        except FileNotFoundError:
            return None
        finally:
            connection.close()
            engine.dispose()


def _server_cpu_s(server: int | None) -> float:
    """Returns the processor time of the server's processes, and of those that it had and that ended."""
    if server is None:
        return 0.0
    children = Path(f"/proc/{server}/task/{server}/children").read_text().split()
    total_ns = 0
    for pid in children:
        with contextlib.suppress(OSError):
            total_ns += int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])
    ended = Path(f"/proc/{server}/stat").read_text().rpartition(")")[2].split()[13:15]
    return total_ns * 1e-9 + sum(map(int, ended)) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--database-url", required=True, help="an empty PostgreSQL database")
    parser.add_argument("--submissions", type=int, default=1_000_000, help="how many (default: %(default)s)")
    parser.add_argument("--only-measure", action="store_true", help="the database is filled already")
    parser.add_argument("--copy-to", type=Path, metavar="FOLDER", help="copy into SQLite there, and measure that")
    parser.add_argument("--cpu", action="store_true", help="print processor time instead of waits")
    parser.add_argument("--count", type=int, default=40, help="requests for each page (default: %(default)s)")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gpujudge-fill-") as folder:
        settings = WebSettings(data_dir=Path(folder), database_url=arguments.database_url)
        if not arguments.only_measure:
            fill(settings, arguments.submissions)
        if arguments.copy_to is not None:
            copied = WebSettings(data_dir=arguments.copy_to)
            copy(settings, copied)
            settings = copied
        print(f"{len(os.sched_getaffinity(0))} cores, {platform.platform()}; median and 95th percentile in ms")
        (measure_cpu if arguments.cpu else measure)(settings, arguments.count)


if __name__ == "__main__":
    main()
