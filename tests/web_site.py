"""A site to test against: the application on a fresh SQLite database, and what workers would write, at once."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from flask import Flask
from flask.testing import FlaskClient
from sqlalchemy import select
from sqlalchemy.orm import Session
from werkzeug.test import TestResponse

from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement, MemoryFault, Mismatch
from judge.measurements import BenchmarkCase, Fingerprint, Measurement, ObservedConditions
from judge.verdict import Verdict, combine_verdicts
from store.clock import Clock, utc_now
from store.devices import upsert_device
from store.models import Submission, User
from store.people.accounts import create_token, find_user
from store.queue.events import record_event
from store.queue.jobs import LeaseRules, Stage, claim_job, finish_build, finish_judged
from tests.cheap_passwords import HASHER, hash_cheaply
from tests.compiled_once import keep_packs, keep_routes, keep_templates
from tests.databases import give_schema
from web.app import create_app
from web.services import EXTENSION, Services
from web.settings import WebSettings

EMULATOR = DeviceInfo(key="emulator", kind="emulator", name="Emulator", compute_capability="8.0")
H200 = DeviceInfo(
    key="nvidia-h200",
    kind="cuda",
    name="NVIDIA H200",
    compute_capability="9.0",
    details={"driver": "580.95", "cuda": "13.0", "multiprocessors": 132},
)
PASSWORD = "correct horse battery"

keep_routes()
keep_packs()
hash_cheaply()
KERNEL = '#include <cuda_runtime.h>\n\nextern "C" void solve(const float* A, const float* B, float* C, int N) {\n}\n'


@dataclass(frozen=True)
class Site:
    """The application and its database."""

    app: Flask

    @property
    def services(self) -> Services:
        found: Services = self.app.extensions[EXTENSION]
        return found

    @contextmanager
    def database(self) -> Iterator[Session]:
        with self.services.writers.begin() as session:
            yield session

    def add_user(self, username: str = "ada") -> User:
        with self.database() as session:
            user = User(
                username=username,
                username_key=username.casefold(),
                password_hash=_cheap_hash(),
                created_at=self.services.clock(),
            )
            session.add(user)
            return user

    def add_device(self, device: DeviceInfo = EMULATOR, *, seen: datetime | None = None) -> None:
        with self.database() as session:
            upsert_device(session, device, now=seen or self.services.clock())

    def token_of(self, username: str) -> str:
        with self.database() as session:
            user = find_user(session, username)
            assert user is not None
            return create_token(session, user=user, name="test")[1]

    def visitor(self, username: str = "ada") -> FlaskClient:
        """A browser that is logged in, as a new user where there was none."""
        with self.database() as session:
            known = find_user(session, username) is not None
        if not known:
            self.add_user(username)
        client = self.app.test_client()
        answer = post(client, "/account/log-in", {"username": username, "password": PASSWORD})
        assert answer.status_code == 302, answer.text
        return client

    def submission(self, public_id: str) -> Submission:
        with self.database() as session:
            return session.scalars(select(Submission).where(Submission.public_id == public_id)).one()

    def work(
        self,
        *,
        device: DeviceInfo = EMULATOR,
        cases: tuple[CaseJudgement, ...] = (),
        build: BuildReport | None = None,
        measurement: Measurement | None = None,
        unranked: Measurement | None = None,
    ) -> None:
        """Judge the oldest waiting submission for ``device`` as its two workers would."""
        steps = self.work_in_steps(device=device, cases=cases, build=build, measurement=measurement, unranked=unranked)
        for _ in steps:
            pass

    def work_in_steps(
        self,
        *,
        device: DeviceInfo = EMULATOR,
        cases: tuple[CaseJudgement, ...] = (),
        build: BuildReport | None = None,
        measurement: Measurement | None = None,
        unranked: Measurement | None = None,
    ) -> Iterator[str]:
        """As ``work``, pausing after each committed step: its name is given."""
        rules, now = LeaseRules(), self.services.clock
        build = build or BuildReport(ok=True, wall_s=0.4)
        with self.database() as session:
            lease = claim_job(session, Stage.BUILD, owner="test", now=now(), rules=rules)
        assert lease is not None
        yield "building"
        if build.ok:
            with self.database() as session:
                assert finish_build(session, lease, digest="0" * 64, data=b"library", report=build, now=now())
                lease = claim_job(session, Stage.RUN, owner="test", now=now(), rules=rules, device_key=device.key)
            assert lease is not None
            yield "running"
            for number, case in enumerate(cases, start=1):
                payload = {"id": case.id, "group": case.group, "verdict": case.verdict.value}
                payload |= {"done": number, "total": len(cases)}
                with self.database() as session:
                    record_event(session, lease.submission_id, "case", payload, now=now())
                yield "case"
            if measurement is not None:
                payload = {"id": "bench", "done": 1, "total": 0}
                with self.database() as session:
                    record_event(session, lease.submission_id, "timing", payload, now=now())
                yield "timing"
        with self.database() as session:
            submission = session.get_one(Submission, lease.submission_id)
            verdict = combine_verdicts(case.verdict for case in cases) if build.ok else Verdict.COMPILE_ERROR
            judgement = Judgement(
                verdict=verdict,
                challenge=submission.challenge,
                pack_version=submission.pack_version,
                device=device,
                build=build,
                cases=cases,
                measurement=measurement,
                unranked=unranked,
            )
            assert finish_judged(session, lease, judgement, now=now())
        yield "done"


def make_site(data_dir: Path, *, clock: Clock = utc_now, **settings: Any) -> Site:
    """A site with the built-in challenges, an empty database and no rate limits unless ``settings`` say so."""
    chosen: Mapping[str, Any] = {
        "data_dir": data_dir,
        "log_in_rate": "1000 per second",
        "address_rate": "1000 per second",
        "mail_rate": "1000 per second",
        "submission_rate": "1000 per second",
        **settings,
    }
    made = WebSettings(**chosen)
    made.data_dir.mkdir(parents=True, exist_ok=True)
    give_schema(made)
    app = create_app(made, clock=clock)
    keep_templates(app)
    return Site(app)


@functools.cache
def _cheap_hash() -> str:
    """PASSWORD, hashed so that checking it takes no time: what it costs is written in the hash."""
    return HASHER.hash(PASSWORD)


def post(
    client: FlaskClient, path: str, data: Mapping[str, Any], *, page: str | None = None, **options: Any
) -> TestResponse:
    """Post a form as a browser does: with the token of the page (``page``, or ``path`` itself) that holds the form."""
    token = csrf_of(client.get(page or path).text)
    return client.post(path, data={"csrf_token": token, **data}, **options)


def csrf_of(html: str) -> str:
    """The token against forged requests that a page with a form holds."""
    token = re.search(r'name="csrf_token"[^>]* value="([^"]+)"', html)
    assert token is not None, html
    return token[1]


def accepted(*ids: str) -> tuple[CaseJudgement, ...]:
    """Cases that went well."""
    return tuple(CaseJudgement(id=name, group="sample", verdict=Verdict.ACCEPTED, wall_s=0.002) for name in ids)


def wrong(name: str = "n-1") -> CaseJudgement:
    """A case with a mismatch."""
    mismatch = Mismatch(
        output="C",
        indices=((0,), (17,)),
        expected=(1.5, "inf"),
        got=(0.0, "nan"),
        count=2,
        total=100,
        max_abs_error=1.5,
        max_rel_error=None,
    )
    return CaseJudgement(id=name, group="hidden", verdict=Verdict.WRONG_ANSWER, wall_s=0.002, mismatch=mismatch)


def faulty(name: str = "n-33", line: int = 3) -> CaseJudgement:
    """A case with a memory fault."""
    fault = MemoryFault(
        kind="out-of-bounds write",
        message="4 bytes at offset 132 of output (132 bytes)",
        kernel="add",
        file="kernel.cu",
        line=line,
        thread=(33, 0, 0),
        block=(0, 0, 0),
    )
    return CaseJudgement(
        id=name,
        group="hidden",
        verdict=Verdict.RUNTIME_ERROR,
        wall_s=0.002,
        message="cudaErrorIllegalAddress",
        memory_errors=(fault,),
    )


def timed(value: float = 1.25e-4) -> Measurement:
    """Twenty calls on a GPU."""
    samples = [value * (1 + 0.002 * ((7 * number) % 11 - 5) / 5) for number in range(20)]
    return Measurement(
        metric="time_s",
        value=value,
        runs=20,
        spread=0.0012,
        median_s=value,
        gb_per_s=3210.5,
        gflop_per_s=267.5,
        cases=(BenchmarkCase(id="bench-25m", value=value, samples=tuple(samples), bytes=3e8, flops=2.5e7),),
    )


def trusted(value: float = 1.25e-4, half: float = 4e-7) -> Measurement:
    """A hundred and fifty calls in three processes, with all that is known of them."""
    processes = [
        [value * (1 + 0.002 * ((7 * call + 3 * process) % 11 - 5) / 5 + process * 2e-4) for call in range(50)]
        for process in range(3)
    ]
    processes[1][20] = 1.4 * value  # another program had the GPU for a moment
    samples = [sample for process in processes for sample in process]
    case = BenchmarkCase(
        id="bench-25m",
        value=value,
        samples=tuple(samples),
        processes=tuple(tuple(process) for process in processes),
        bytes=3e8,
        flops=2.5e7,
    )
    return Measurement(
        metric="time_s",
        value=value,
        runs=150,
        spread=0.0012,
        median_s=value,
        gb_per_s=3e8 / value / 1e9,
        gflop_per_s=2.5e7 / value / 1e9,
        cases=(case,),
        low=value - half,
        high=value + half,
        roofline_share=0.9e-4 / value,
        fingerprint=Fingerprint(
            gpu="NVIDIA H200",
            uuid_hash="9f86d081884c",
            driver="580.95.05",
            memory_bytes=150_110_011_392,
            memory_clock_khz=3_201_000,
            nvcc="13.0.88",
            nvcc_flags=("-std=c++17", "-O3"),
            seen=ObservedConditions(
                sm_mhz=(1965, 1980), temperature_c=(41.0, 41.0), power_capped=False, bursts_dropped=2
            ),
        ),
    )


def on_emulator(value: float = 4.242e-3) -> Measurement:
    """A score of the emulator."""
    return Measurement(metric="modelled_time_s", value=value, runs=1, spread=0.0, gpu="h200", model=1)


def fixed_clock() -> datetime:
    """Noon, some day."""
    return datetime(2025, 5, 17, 12, tzinfo=UTC)
