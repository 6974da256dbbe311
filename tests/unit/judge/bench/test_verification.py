"""Opened calls: what is found wrong with them, and on how many threads they are looked at."""

from __future__ import annotations

import threading
from typing import Any, cast

import pytest
from threadpoolctl import threadpool_info, threadpool_limits

from judge.bench import verification
from judge.bench.calls import CallMaker
from judge.bench.schedule import Contents, PlannedCall
from judge.bench.verification import Opened, Verifier
from judge.errors import Cancelled
from judge.native import library
from judge.native.digest import piece_digests
from judge.runner.digest import tree_digest
from judge.verdict import Verdict
from tests.host_device.judging import twice_pack


class Maker:
    """A CallMaker that notes the threads that it was given."""

    def __init__(self, input_bytes: int = 1) -> None:
        self._maker = CallMaker(twice_pack(), twice_pack().benchmarks[0], seed=5)
        self.pack = self._maker.pack
        self.input_bytes = input_bytes
        self.output_bytes = 1
        self.threads: list[int] = []

    def inputs(self, call: PlannedCall, threads: int) -> dict[str, Any]:
        self.threads.append(threads)
        return self._maker.inputs(call, threads)


def opened(number: int) -> Opened:
    pack = twice_pack()
    call = PlannedCall(pack.benchmarks[0], Contents(number, None), ())
    output = 2 * pack.inputs(call.case, 5, number)["input"]
    data = output.view("u1")
    return Opened(call, {"output": output}, (tree_digest(data.data),), {"output": piece_digests(data)})


def verifier(maker: Maker, calls: int) -> Verifier:
    made = Verifier(cast(CallMaker, maker))
    for number in range(calls):
        made.hold((0, number), opened(number))
    return made


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 processors and 64 GiB."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(32)))
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PHYS_PAGES": 16 << 20, "SC_PAGE_SIZE": 4096}[name])


def test_what_is_right_is_looked_at_once() -> None:
    looking = verifier(Maker(), 3)
    assert looking.check() is None
    assert looking.checked == 3
    assert looking.check() is None
    assert looking.checked == 3


def test_outputs_that_are_not_those_that_were_committed() -> None:
    looking = verifier(Maker(), 2)
    wrong = opened(2)
    wrong.outputs["output"][7] += 1
    looking.hold((0, 2), wrong)
    outcome = looking.check()
    assert outcome is not None
    assert outcome.verdict is Verdict.SECURITY_VIOLATION


def test_outputs_that_are_wrong() -> None:
    looking = verifier(Maker(), 2)
    wrong = opened(2)
    wrong.outputs["output"][7] += 1
    looking.hold((0, 2), Opened(wrong.call, wrong.outputs))
    outcome = looking.check()
    assert outcome is not None
    assert outcome.verdict is Verdict.WRONG_ANSWER


def test_what_was_begun_is_looked_at_once_and_told_of_in_the_end() -> None:
    maker = Maker()
    looking = verifier(maker, 2)
    wrong = opened(2)
    wrong.outputs["output"][7] += 1
    looking.hold((0, 1), wrong)
    looking.begin()
    looking.begin()
    looking.hold((0, 1), opened(3))
    outcome = looking.check()
    assert outcome is not None
    assert outcome.verdict is Verdict.SECURITY_VIOLATION
    assert looking.check() is None
    assert looking.checked == len(maker.threads) == 3


def test_products_have_one_thread_until_the_last_look_is_over() -> None:
    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(limits=2, user_api="blas"):
        looks = verification._OneThreadedProducts()
        looks.__enter__()
        with looks:
            assert threads() == {1}
        assert threads() == {1}
        looks.__exit__()
        assert threads() == {2}


def test_it_ends_when_nobody_wants_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.bench.verification._POLL_S", 0.0)
    asked = threading.Event()

    class Slow(Maker):
        def inputs(self, call: PlannedCall, threads: int) -> dict[str, Any]:
            asked.wait(60)
            return super().inputs(call, threads)

    def cancelled() -> bool:
        asked.set()
        return True

    unwanted = Verifier(cast(CallMaker, Slow()), cancelled)
    unwanted.hold((0, 0), opened(0))
    with pytest.raises(Cancelled):
        unwanted.check()


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("calls", "input_bytes", "threads"),
    [(40, 1, 1), (12, 1, 2), (1, 1, 32), (12, 600 << 20, 5), (12, 10 << 30, 32)],
)
def test_processors_are_shared_out_among_the_checks_that_there_is_room_for(
    monkeypatch: pytest.MonkeyPatch, calls: int, input_bytes: int, threads: int
) -> None:
    monkeypatch.setattr("judge.bench.verification.loaded", object)
    maker = Maker(input_bytes)
    assert verifier(maker, calls).check() is None
    assert maker.threads == [threads] * calls


@pytest.mark.usefixtures("machine")
def test_a_check_by_numpy_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_loaded", None)
    maker = Maker()
    assert verifier(maker, 3).check() is None
    assert maker.threads == [1, 1, 1]
