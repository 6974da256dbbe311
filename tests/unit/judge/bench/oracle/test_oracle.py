"""The judge copes with an oracle that answers, is late, cannot, or is gone."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from judge.bench.oracle import process as module
from judge.bench.oracle.oracle import Oracle, why_not
from judge.bench.oracle.process import OracleProcess, SpareProcess, take_spare
from judge.bench.oracle.questions import Begin, Question
from judge.packs.collection.loader import load_pack
from judge.packs.isolation.messages import receive_answer, send
from tests.builds import ROOT

PACK = load_pack(ROOT / "challenges" / "vector-add")
QUESTION = Question(PACK.cases[0], {}, {}, {})
#: A process that follows STEPS: it waits for a number of seconds, receives a question or sends an answer. GPU 9 never
#: opens, GPU 8 fails, every other GPU opens at once.
SERVER = """
import os, socket, sys, time
from judge.packs.isolation.messages import receive_trusted, send_answer
channel = socket.socket(fileno=int(sys.argv[1]))
if sys.argv[2] == "8":
    sys.exit(1)
if sys.argv[2] != "9":
    os.write(1, b"1")
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


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Lets processes come up slowly: the machine may be busy."""
    monkeypatch.setattr(module, "_START_S", 300.0)


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """``told(*steps)``: processes started from then on send these."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(module, "_SERVER", "told_server")

    def tell(*steps: object) -> None:
        (tmp_path / "told_server.py").write_text(SERVER.replace("STEPS", repr(steps)))

    return tell


@pytest.fixture
def make(told: Callable[..., None], tmp_path: Path) -> Iterator[Make]:
    made: list[Oracle] = []

    def make(*steps: object, answer_s: float = 60.0) -> Oracle:
        told(*steps)
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


def is_gone(process: OracleProcess) -> bool:
    return not process.alive


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


@pytest.fixture
def spare(
    told: Callable[..., None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[int], SpareProcess]]:
    monkeypatch.setattr(module, "_spares", {})
    made: list[SpareProcess] = []

    def make(ordinal: int) -> SpareProcess:
        told(READY, "receive", RIGHT, "receive")
        made.append(SpareProcess(ordinal, tmp_path / "opening"))
        return made[-1]

    yield make
    for each in made:
        each.close()


def test_an_oracle_takes_the_process_that_is_up(spare: Callable[[int], SpareProcess], make: Make) -> None:
    kept = spare(0)
    assert kept.missing
    kept.start()
    kept.wait()
    assert not kept.missing
    ready = kept._ready
    oracle = make(UNABLE)
    assert oracle._process is ready
    assert kept.missing, "it serves one oracle"
    wait_until_up(oracle)
    assert oracle.agrees(QUESTION)
    assert take_spare(0) is None
    assert take_spare(1) is None


def test_a_spare_that_ended_is_not_taken(spare: Callable[[int], SpareProcess], make: Make) -> None:
    kept = spare(0)
    kept.start()
    kept.wait()
    ready = kept._ready
    assert ready is not None
    ready.process.kill()
    ready.process.wait()
    assert kept.missing
    oracle = make(READY, "receive", RIGHT, "receive")
    assert oracle._process is not ready
    wait_until_up(oracle)
    assert oracle.agrees(QUESTION)


def test_a_spare_that_comes_up_can_be_taken(spare: Callable[[int], SpareProcess]) -> None:
    kept = spare(9)
    kept.start()
    waiting = threading.Thread(target=kept.wait)
    waiting.start()
    taken = take_spare(9)
    assert taken is not None
    assert taken.alive
    assert waiting.is_alive(), "the device is busy until it is up"
    taken.close()
    waiting.join(60)
    assert not waiting.is_alive()


def test_spares_that_fail_are_not_started_for_ever(spare: Callable[[int], SpareProcess]) -> None:
    kept = spare(8)
    for _ in range(3):
        assert kept.missing
        kept.start()
        kept.wait()
    assert not kept.missing
    assert take_spare(8) is None


#: CuPy's name on a machine without a GPU: the device opens, and prints a megabyte whenever it is used again.
CUPY = """
import types
from numpy import *
import numpy
asnumpy = numpy.asarray
fft = numpy.fft
uses = []
class Device:
    def __init__(self, ordinal):
        if ordinal == 7:
            raise RuntimeError("no such device")
    def use(self):
        uses.append(self)
        if len(uses) > 1:
            print("x" * (1 << 20), flush=True)
cuda = types.SimpleNamespace(Device=Device)
"""


@pytest.fixture
def start(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[int], OracleProcess]]:
    (tmp_path / "cupy.py").write_text(CUPY)
    monkeypatch.syspath_prepend(str(tmp_path))
    made: list[OracleProcess] = []

    def start(ordinal: int) -> OracleProcess:
        made.append(OracleProcess(ordinal, tmp_path / "opening"))
        return made[-1]

    yield start
    for each in made:
        each.close()


def answer_to_begin(process: OracleProcess, folder: Path) -> Any:
    folder.mkdir()
    send(process.channel, Begin(PACK, folder, 0, None, folder))
    assert process.has_answer(300.0)
    return receive_answer(process.channel)


def test_the_server_says_when_its_gpu_is_open_and_nobody_has_to_read_what_code_prints(
    start: Callable[[int], OracleProcess], tmp_path: Path
) -> None:
    process = start(0)
    assert process.wait_until_open()
    word, why = answer_to_begin(process, tmp_path / "pack")
    assert (word, "AttributeError" in why) == ("unable", True), "the stand-in has no more of CuPy"


def test_the_server_answers_that_its_gpu_does_not_open(start: Callable[[int], OracleProcess], tmp_path: Path) -> None:
    process = start(7)
    assert not process.wait_until_open()
    assert answer_to_begin(process, tmp_path / "pack") == ("unable", "RuntimeError: no such device")
