from __future__ import annotations

from unittest.mock import Mock

import pytest

from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.supervisor.runner_start import StartedRunner
from judge.supervisor.session import Bounds, Session
from judge.wire.bursts import ReserveRequest
from judge.wire.frames import Op
from judge.wire.messages import LoadRequest, Watch


@pytest.mark.parametrize(("watch", "times"), [(Watch.NOTHING, 1), (Watch.PROFILE, 10), (Watch.CHECKS, 1)])
def test_a_profiled_call_gets_more_time_but_no_more_grace(watch: Watch, times: float) -> None:
    bounds = Bounds(start_s=20, call_s=4, total_s=300, print_bytes=1, grace_s=12)
    assert bounds.kernel_s(watch) == 4 * times
    assert bounds.solve_s(watch) == 4 * times + 12


@pytest.mark.parametrize("has", [False, True])
def test_the_runner_is_told_of_streams_of_the_submissions_own(monkeypatch: pytest.MonkeyPatch, has: bool) -> None:
    sent: list[LoadRequest] = []

    def request(_self: Session, _op: Op, payload: bytes, _wall_s: float) -> tuple[bytes, float]:
        sent.append(LoadRequest.unpack(payload))
        return b"", 0.0

    monkeypatch.setattr(Session, "_request", request)
    started = Mock(spec=StartedRunner)
    started.wait.return_value = started
    session = Session(started, LoadRequest(()), Bounds(start_s=20, call_s=4, total_s=300, print_bytes=1))
    session.load(Artifact(b"\x7fELF", Target("cuda", "sm_90"), own_streams=has))
    assert [one.own_streams for one in sent] == [has]


def test_reserving_has_its_own_time_however_long_the_session_waited_for_its_turn(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now_s = 100.0
    monkeypatch.setattr("judge.supervisor.session.time", Mock(monotonic=lambda: now_s))
    started = Mock(spec=StartedRunner)
    started.wait.return_value = started
    started.process = Mock(starved_s=0.0)
    started.process.request.return_value = b"", 0.0
    session = Session(started, LoadRequest(()), Bounds(start_s=20, call_s=4, total_s=300, print_bytes=1))
    now_s += 60.0
    session.reserve(ReserveRequest())
    assert started.process.request.call_args.args[2] > 1.0
