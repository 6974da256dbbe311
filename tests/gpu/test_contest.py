"""The end of a contest on a real GPU: what decides it is timed again together, in alternation, and it is settled."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import pytest

from benchmarks.stack import Stack, running_stack
from judge.backends.registry import BUILTIN_BACKENDS
from judge.settings import JudgeSettings
from store.database import make_engine, make_session_factory
from store.models import Contest
from store.people.accounts import create_token, create_user
from store.settings import Settings
from store.teaching.contest_audits import audited_results
from store.teaching.contests import find_contest, join, set_challenges, standings
from tests.gpu import kernels

pytestmark = [pytest.mark.gpu, pytest.mark.timed, pytest.mark.jail, pytest.mark.nvcc]

#: One, two and three launches of the same work: no two of them are close.
_SOURCES = {
    "ada": kernels.HONEST,
    "bob": kernels.vector_add(kernels.LAUNCH + kernels.LAUNCH),
    "cy": kernels.vector_add(kernels.LAUNCH * 3),
}
_JUDGED_S, _SETTLED_S = 120, 180


def test_the_podium_is_timed_again_and_the_contest_settled(tmp_path: Path) -> None:
    device = BUILTIN_BACKENDS.find_device("cuda:0", JudgeSettings(data_dir=tmp_path))
    env = {"GPUJUDGE_AUDIT_PAUSE_S": "0", "GPUJUDGE_SWEEP_S": "1"}
    with running_stack(tmp_path, "--device", "cuda:0", env=env) as stack:
        engine = make_engine(Settings(data_dir=tmp_path))
        sessions = make_session_factory(engine)
        try:
            begun = datetime.now(UTC)
            tokens = {}
            with sessions.begin() as session:
                contest = Contest(
                    slug="friday",
                    title="Friday",
                    description="",
                    starts_at=begun - timedelta(minutes=1),
                    ends_at=begun + timedelta(hours=1),
                    scoring="time",
                    devices=device.key,
                    created_at=begun,
                )
                set_challenges(contest, ["vector-add"])
                session.add(contest)
                session.flush()
                for name in _SOURCES:
                    user = create_user(session, username=name, password="correct horse " + name)
                    join(session, contest, user_id=user.id, now=begun)
                    tokens[name] = create_token(session, user=user, name="test")[1]
            before = {name: _judged(stack, tokens[name], device.key, source) for name, source in _SOURCES.items()}
            with sessions.begin() as session:
                ending = find_contest(session, "friday")
                assert ending is not None
                ending.ends_at = datetime.now(UTC)
            until = time.monotonic() + _SETTLED_S
            while True:
                with sessions() as session:
                    ended = find_contest(session, "friday")
                    assert ended is not None
                    if ended.settled_at is not None:
                        audited = audited_results(session, ended)
                        rows = standings(session, ended, now=datetime.now(UTC), viewer_id=None, whole=True)
                        break
                assert time.monotonic() < until
                time.sleep(0.5)
            for one in audited:
                print(f"{one.username}: {one.value_before * 1e6:.2f} us, then {one.value or 0:.9f} s, {one.verdict}")
            assert [row.username for row in rows] == ["ada", "bob", "cy"]
            assert {one.username for one in audited} == set(_SOURCES)
            for one in audited:
                assert one.verdict == "AC"
                # The board's own audit may have timed it again in between.
                assert one.value_before == pytest.approx(before[one.username], rel=0.05)
                assert one.value == pytest.approx(one.value_before, rel=0.05)
                assert one.not_audited is None
        finally:
            engine.dispose()


def _judged(stack: Stack, token: str, device_key: str, source: str) -> float:
    """Submits over HTTP and returns the measured time of a call in seconds."""
    headers = {"Authorization": f"Bearer {token}"}
    with httpx.Client(base_url=f"{stack.address}/api/v1/", headers=headers, timeout=30.0) as client:
        body = {"challenge": "vector-add", "device": device_key, "mode": "submit", "source": source}
        answer = client.post("submissions", json=body)
        assert answer.status_code == 201, answer.text
        until = time.monotonic() + _JUDGED_S
        while (status := client.get(f"submissions/{answer.json()['id']}").json())["state"] != "done":
            assert time.monotonic() < until, status
            time.sleep(0.1)
    assert status["verdict"] == "AC", status["judgement"]
    return float(status["judgement"]["measurement"]["value"])
