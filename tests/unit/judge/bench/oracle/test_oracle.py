"""The judge copes with an oracle that answers, is late, cannot, or is gone."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge.bench.oracle import oracle as module
from judge.bench.oracle.oracle import Oracle, why_not
from judge.bench.oracle.questions import Begin, Question
from judge.packs.collection.loader import load_pack
from tests.builds import ROOT

PACK = load_pack(ROOT / "challenges" / "vector-add")
QUESTION = Question(PACK.cases[0], {}, {}, {})
#: A process that sends what it is told to: a number of seconds to wait, and answers.
SERVER = """
import socket, sys, time
from judge.packs.isolation.messages import receive_trusted, send_answer
channel = socket.socket(fileno=int(sys.argv[1]))
receive_trusted(channel, lambda _: None)
for step in STEPS:
    if step == "receive":
        receive_trusted(channel, lambda _: None)
    elif isinstance(step, float):
        time.sleep(step)
    else:
        send_answer(channel, step)
"""
Make = Callable[..., Oracle]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Make]:
    made: list[Oracle] = []

    def make(*steps: object, answer_s: float = 60.0) -> Oracle:
        (tmp_path / "told_server.py").write_text(SERVER.replace("STEPS", repr(steps)))
        monkeypatch.syspath_prepend(str(tmp_path))
        monkeypatch.setattr(module, "_SERVER", "told_server")
        made.append(Oracle(Begin(PACK, tmp_path, 0, None, tmp_path / "folder"), answer_s=answer_s))
        return made[-1]

    yield make
    for each in made:
        each.close()


def wait_until_up(oracle: Oracle) -> None:
    until = time.monotonic() + 60
    while not oracle.is_up and time.monotonic() < until:
        time.sleep(0.01)


READY, RIGHT, WRONG, UNABLE = ("ready", ""), ("right", ""), ("not right", "c"), ("unable", "no such function")


def test_its_yes_counts_and_its_no_says_nothing(make: Make) -> None:
    oracle = make(READY, "receive", RIGHT, "receive", WRONG, "receive", RIGHT, "receive")
    wait_until_up(oracle)
    assert [oracle.agrees(QUESTION) for _ in range(3)] == [True, False, True]
    assert oracle.answers == 2
    assert not oracle.problem


def test_nobody_waits_for_it_to_come_up(make: Make) -> None:
    oracle = make(60.0)
    assert not oracle.agrees(QUESTION)
    assert not oracle.is_up
    assert not oracle.problem


def is_gone(process: subprocess.Popen[bytes]) -> bool:
    return process.poll() is not None


def test_before_calls_are_timed_it_is_up_or_ended(make: Make) -> None:
    oracle = make(0.2, READY, "receive", RIGHT, "receive")
    oracle.settle(30.0)
    assert oracle.is_up
    assert oracle.agrees(QUESTION)
    late = make(60.0)
    process = late._process
    assert process is not None
    late.settle(0.1)
    assert late.problem == "it does not come up in time"
    assert is_gone(process), "it would use the GPU beside timed calls"
    assert not late.agrees(QUESTION)


def test_one_that_is_late_is_ended_and_after_three_times_not_started(make: Make) -> None:
    for _ in range(3):
        oracle = make(READY, "receive", 60.0, answer_s=0.5)
        wait_until_up(oracle)
        process = oracle._process
        assert process is not None
        assert not oracle.agrees(QUESTION)
        assert is_gone(process)
    assert make(READY, "receive", RIGHT, "receive", answer_s=0.5).problem == "an answer takes longer than 0.5 s"


def test_an_answer_in_time_makes_up_for_late_ones(make: Make) -> None:
    for late in (True, True, False, True, True):
        oracle = make(READY, "receive", 60.0, answer_s=0.5) if late else make(READY, "receive", RIGHT, "receive")
        wait_until_up(oracle)
        assert oracle.agrees(QUESTION) != late
    oracle = make(READY, "receive", RIGHT, "receive")
    wait_until_up(oracle)
    assert oracle.agrees(QUESTION)


def test_what_it_cannot_do_is_remembered(make: Make) -> None:
    oracle = make(READY, "receive", UNABLE, "receive")
    wait_until_up(oracle)
    assert not oracle.agrees(QUESTION)
    assert oracle.problem == "no such function"
    again = make(READY, "receive", RIGHT, "receive")
    assert again.problem == "no such function"
    assert not again.agrees(QUESTION)


@pytest.mark.parametrize("answer", [(), ("right",), 5, {"right": 1}], ids=repr)
def test_what_is_no_answer_is_no_yes(make: Make, answer: object) -> None:
    oracle = make(READY, "receive", answer, "receive")
    wait_until_up(oracle)
    assert not oracle.agrees(QUESTION)
    assert oracle.problem


def test_one_that_ends_is_not_asked_again(make: Make) -> None:
    oracle = make(READY)
    wait_until_up(oracle)
    assert not oracle.agrees(QUESTION)
    assert "does not answer" in oracle.problem
    assert not oracle.agrees(QUESTION)


def test_packs_that_numpy_alone_can_check_start_no_process() -> None:
    assert why_not(PACK) == ""
    for slug in ("conjugate-gradient", "nucleus-sample"):
        if load_pack(ROOT / "challenges" / slug).reference.defines("check"):
            assert "its check decides" in why_not(load_pack(ROOT / "challenges" / slug))
