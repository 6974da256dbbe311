"""The oracle's answers, with NumPy in the place of CuPy."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.bench.oracle import server
from judge.bench.oracle.questions import NOT_RIGHT, READY, RIGHT, Begin, Question
from judge.bench.timing.call_maker import CallMaker
from judge.bench.timing.schedule import InputKey, PlannedCall
from judge.packs.collection.loader import load_pack
from judge.packs.collection.pool import SecretPool
from judge.packs.data.inputs import lazy_inputs
from judge.packs.data.lazy_array import real_arrays
from judge.packs.data.storage import stored
from judge.packs.judging import expected_outputs
from judge.packs.pack import Pack
from judge.packs.sizes import case_bytes
from judge.wire.digest import tree_digest
from tests.builds import ROOT
from tests.unit.judge.bench.oracle import fake_cupy

#: An elementwise one, a common factor, integers, a narrow type, inputs made by the pack's code, an inout argument.
SLUGS = ("vector-add", "softmax", "histogram", "fp8-gemm", "sparse-matvec", "sort-floats", "mse", "matmul")
SEED = 5
Answering = server.Answering


@pytest.fixture
def answering(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Callable[[Pack], Answering]]:
    monkeypatch.setattr(server, "lock_down_gpu", lambda _: None)
    fake_cupy.install(monkeypatch)

    def begin(pack: Pack) -> Answering:
        rehearsal, more = [case for case in pack.cases if case.group != "benchmark"][:2]
        return Answering(Begin(pack, tmp_path, 0, rehearsal, tmp_path, more))

    # A GPU raises no warnings.
    with np.errstate(all="ignore"):
        yield begin


def question(pack: Pack, *, like: int | None = None) -> tuple[Question, dict[str, npt.NDArray[Any]]]:
    """Returns a question about right outputs of a case, and these outputs, which may be changed."""
    case = min((each for each in pack.cases if case_bytes(pack, each) > 1000), key=lambda each: case_bytes(pack, each))
    maker = CallMaker(pack, case, SEED)
    call = PlannedCall(case, InputKey(3, like), (0,) * len(pack.arguments))
    pool = SecretPool.draw(1 << 20)
    inputs = real_arrays(lazy_inputs(pack, case, SEED, 3, like=like, pool=pool))
    expected = expected_outputs(pack, case, inputs)
    outputs = {output.name: stored(output.element, expected[output.name].values).copy() for output in pack.outputs}
    digests = tuple(tree_digest(output.reshape(-1).view(np.uint8).data) for output in outputs.values())
    return maker.question(call, outputs, digests, pool), outputs


@pytest.mark.parametrize("slug", SLUGS)
@pytest.mark.parametrize("like", [None, 1], ids=["own inputs", "near copy"])
def test_right_outputs_are_right_and_others_are_not(
    slug: str, like: int | None, answering: Callable[[Pack], Answering]
) -> None:
    pack = load_pack(ROOT / "challenges" / slug)
    oracle = answering(pack)
    asked, outputs = question(pack, like=like)
    assert oracle.answer(asked) == (RIGHT, "")
    name, output = next(iter(outputs.items()))
    last = output.reshape(-1)[-1:].view(np.uint8)
    last ^= 0x55
    undigested = Question(asked.case, asked.recipes, asked.given, outputs, (), asked.pool)
    assert oracle.answer(undigested) == (NOT_RIGHT, name)
    assert oracle.answer(asked) == (NOT_RIGHT, f"{name} is not what was committed")


def test_the_benchmark_is_rehearsed_until_its_kernels_are_kept(
    answering: Callable[[Pack], Answering], monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = load_pack(ROOT / "challenges" / "vector-add")
    rehearsed: list[str] = []
    monkeypatch.setattr(Answering, "_rehearse", lambda _self, case: rehearsed.append(case.id))
    answering(pack)
    answering(pack)
    small, large = [case.id for case in pack.cases if case.group != "benchmark"][:2]
    assert rehearsed == [small, large, small]


def test_it_frees_its_memory(answering: Callable[[Pack], Answering]) -> None:
    pack = load_pack(ROOT / "challenges" / "vector-add")
    oracle = answering(pack)
    oracle.answer(question(pack)[0])
    assert not oracle._gpu.is_free  # type: ignore[attr-defined]
    assert oracle.rest() == (READY, "")
    assert oracle._gpu.is_free  # type: ignore[attr-defined]


def test_references_work_in_long_pieces_unless_memory_is_short(
    answering: Callable[[Pack], Answering], monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = load_pack(ROOT / "challenges" / "sigmoid")
    oracle = answering(pack)
    module = oracle._reference
    original, own, lengths = module.reference, module._CHUNK, []

    def reference(**inputs: Any) -> Any:
        lengths.append(module._CHUNK)
        if lengths[-1] > own:
            raise MemoryError
        return original(**inputs)

    monkeypatch.setattr(module, "reference", reference)
    assert oracle.answer(question(pack)[0]) == (RIGHT, "")
    assert lengths == [1 << 25, own]
