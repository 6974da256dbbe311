from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, cast

import numpy as np
import numpy.typing as npt
import pytest

from judge.bench.timing.call_maker import CallMaker
from judge.bench.timing.schedule import InputKey, PlannedCall
from judge.bench.timing.verification import OpenedCall, Verifier
from judge.errors import Cancelled
from judge.native import library
from judge.native.cxx import LIBRARY
from judge.native.digest import piece_digests, tree_digest
from judge.native.library import NativeLibrary
from judge.packs.collection.pool import Pool
from judge.packs.data.committed_array import CommittedArray, NotCommittedError
from judge.packs.data.inputs import make_inputs
from judge.verdict import Verdict
from judge.wire.digest import PIECE_BYTES
from judge.wire.digest import tree_digest as wire_tree_digest
from judge.wire.elements import Element
from tests.builds import LIBRARIES
from tests.host_device.judging import twice_pack

ROWS, WIDTH = 3000, 70
#: In row 1234 and nowhere near rows 0 to 99.
CHANGED = 1234 * WIDTH + 5

Output = npt.NDArray[np.float32]


@pytest.fixture(autouse=True, params=["hashlib", pytest.param("native", marks=pytest.mark.cxx)])
def _digests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the native library, and without."""
    native = NativeLibrary(LIBRARY.ensure(LIBRARIES)) if request.param == "native" else None
    monkeypatch.setattr(library, "_loaded", native)


@pytest.fixture
def output() -> Output:
    return np.random.default_rng(1).standard_normal((ROWS, WIDTH)).astype(np.float32)


def committed(output: Output, *, change: bool = False) -> CommittedArray:
    """As it was committed; with ``change`` one element is another one by now."""
    data = output.reshape(-1).view(np.uint8)
    digest, pieces = tree_digest(data), piece_digests(data)
    if change:
        output = output.copy()
        output.reshape(-1)[CHANGED] += 1
    return CommittedArray(output, Element.FLOAT32, digest, pieces, threads=2)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "a row": lambda array: array[1234],
    "a row from the end": lambda array: array[1234 - ROWS],
    "a range": lambda array: array[1200:1300],
    "rows": lambda array: array[np.array([3, 1234, 1235])],
    "all": lambda array: np.asarray(array),
    "arithmetic": lambda array: array + 1,
    "a column": lambda array: array[:, 3],
    "a method": lambda array: array.max(),
}
ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "a row": lambda array: array[99],
    "a range": lambda array: array[:100],
    "no range": lambda array: array[1234:1234],
    "rows": lambda array: array[np.array([99, 3, 2999])],
}


@pytest.mark.parametrize(
    "look", [*LOOKS.values(), *ELSEWHERE.values()], ids=[*LOOKS, *(f"{name} elsewhere" for name in ELSEWHERE)]
)
def test_committed_outputs_can_be_read(output: Output, look: Callable[[Any], Any]) -> None:
    assert np.array_equal(look(committed(output)), look(output))


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_elements_that_are_read_must_be_the_committed_ones(output: Output, look: Callable[[Any], Any]) -> None:
    with pytest.raises(NotCommittedError):
        look(committed(output, change=True))


@pytest.mark.parametrize("look", ELSEWHERE.values(), ids=ELSEWHERE)
def test_elements_that_are_not_read_are_not_compared(output: Output, look: Callable[[Any], Any]) -> None:
    assert np.array_equal(look(committed(output, change=True)), look(output))


def test_piece_digests_must_match_the_committed_digest(output: Output) -> None:
    """A changed output changes the digest of its piece; an attacker cannot keep the digest of all."""
    data = output.reshape(-1).view(np.uint8)
    digest = tree_digest(data)
    output.reshape(-1)[CHANGED] += 1
    with pytest.raises(NotCommittedError):
        CommittedArray(output, Element.FLOAT32, digest, piece_digests(data), threads=1)


@pytest.mark.parametrize("count", [0, 1, PIECE_BYTES // 4])
def test_an_output_of_one_piece(count: int) -> None:
    output = np.arange(count, dtype=np.float32)
    data = output.view(np.uint8)
    pieces = piece_digests(data)
    assert np.array_equal(CommittedArray(output, Element.FLOAT32, pieces.tobytes(), pieces, threads=1).whole(), output)
    with pytest.raises(NotCommittedError):
        CommittedArray(output, Element.FLOAT32, bytes(32), pieces, threads=1)


def test_piece_digests_of_another_size_are_an_error(output: Output) -> None:
    data = output.reshape(-1).view(np.uint8)
    with pytest.raises(ValueError, match="bytes of digests"):
        CommittedArray(output, Element.FLOAT32, tree_digest(data), piece_digests(data)[:-32], threads=1)


class Maker:
    """A CallMaker that notes the threads it was given."""

    def __init__(self, input_bytes: int = 1) -> None:
        self._maker = CallMaker(twice_pack(), twice_pack().benchmarks[0], seed=5)
        self.pack = self._maker.pack
        self.input_bytes = input_bytes
        self.output_bytes = 1
        self.threads: list[int] = []

    def inputs(self, call: PlannedCall, threads: int, pool: Pool | None) -> dict[str, Any]:
        self.threads.append(threads)
        return self._maker.inputs(call, threads, pool)


def opened(number: int) -> OpenedCall:
    pack = twice_pack()
    call = PlannedCall(pack.benchmarks[0], InputKey(number, None), ())
    output = 2 * make_inputs(pack, call.case, 5, number)["input"]
    data = output.view("u1")
    return OpenedCall(call, {"output": output}, (wire_tree_digest(data.data),), {"output": piece_digests(data)})


def verifier(maker: Maker, calls: int) -> Verifier:
    made = Verifier(cast(CallMaker, maker))
    for number in range(calls):
        made.add((0, number), opened(number))
    return made


@pytest.fixture
def machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """32 processors and 64 GiB."""
    monkeypatch.setattr("os.sched_getaffinity", lambda _pid: set(range(32)))
    monkeypatch.setattr("os.sysconf", lambda name: {"SC_PHYS_PAGES": 16 << 20, "SC_PAGE_SIZE": 4096}[name])


def test_right_outputs_are_checked_once() -> None:
    checks = verifier(Maker(), 3)
    assert checks.finish_checks() is None
    assert checks.checked == 3
    assert checks.finish_checks() is None
    assert checks.checked == 3


def test_outputs_other_than_the_committed_ones_are_a_security_violation() -> None:
    checks = verifier(Maker(), 2)
    wrong = opened(2)
    wrong.outputs["output"][7] += 1
    checks.add((0, 2), wrong)
    outcome = checks.finish_checks()
    assert outcome is not None
    assert outcome.verdict is Verdict.SECURITY_VIOLATION


def test_wrong_outputs_are_a_wrong_answer() -> None:
    checks = verifier(Maker(), 2)
    wrong = opened(2)
    wrong.outputs["output"][7] += 1
    checks.add((0, 2), OpenedCall(wrong.call, wrong.outputs))
    outcome = checks.finish_checks()
    assert outcome is not None
    assert outcome.verdict is Verdict.WRONG_ANSWER


def test_started_checks_run_once_and_are_reported_at_the_end() -> None:
    maker = Maker()
    checks = verifier(maker, 2)
    wrong = opened(2)
    wrong.outputs["output"][7] += 1
    checks.add((0, 1), wrong)
    checks.start_checks()
    checks.start_checks()
    checks.add((0, 1), opened(3))
    outcome = checks.finish_checks()
    assert outcome is not None
    assert outcome.verdict is Verdict.SECURITY_VIOLATION
    assert checks.finish_checks() is None
    assert checks.checked == len(maker.threads) == 3


def test_checks_end_when_the_judgement_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.bench.timing.verification._POLL_S", 0.0)
    asked = threading.Event()

    class Slow(Maker):
        def inputs(self, call: PlannedCall, threads: int, pool: Pool | None) -> dict[str, Any]:
            asked.wait(60)
            return super().inputs(call, threads, pool)

    def cancelled() -> bool:
        asked.set()
        return True

    unwanted = Verifier(cast(CallMaker, Slow()), cancelled)
    unwanted.add((0, 0), opened(0))
    with pytest.raises(Cancelled):
        unwanted.finish_checks()


@pytest.mark.usefixtures("machine")
@pytest.mark.parametrize(
    ("calls", "input_bytes", "threads"),
    [(40, 1, 1), (12, 1, 2), (1, 1, 32), (12, 600 << 20, 5), (12, 10 << 30, 32)],
)
def test_checks_that_fit_into_memory_share_the_processors(
    monkeypatch: pytest.MonkeyPatch, calls: int, input_bytes: int, threads: int
) -> None:
    monkeypatch.setattr("judge.bench.timing.verification.loaded", object)
    maker = Maker(input_bytes)
    assert verifier(maker, calls).finish_checks() is None
    assert maker.threads == [threads] * calls


@pytest.mark.usefixtures("machine")
def test_a_check_by_numpy_has_one_thread(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_loaded", None)
    maker = Maker()
    assert verifier(maker, 3).finish_checks() is None
    assert maker.threads == [1, 1, 1]
