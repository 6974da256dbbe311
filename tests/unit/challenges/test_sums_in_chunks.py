"""The references of sum and softmax in timed calls, added up in chunks on several threads, match their definitions."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.packs.data.inputs import lazy_inputs, make_inputs
from judge.packs.judging import spot_check
from judge.packs.pack import Case, Pack

Vector = npt.NDArray[np.float32]


@pytest.fixture(scope="module")
def packs(packs: dict[str, Pack]) -> dict[str, Pack]:
    """With references that run in this process, where their constants can be changed."""
    return {slug: dataclasses.replace(pack, reference=pack.reference.local()) for slug, pack in packs.items()}


@pytest.fixture
def small_chunks(packs: dict[str, Pack], monkeypatch: pytest.MonkeyPatch) -> None:
    for slug in ("reduction", "softmax"):
        monkeypatch.setitem(hook(packs[slug]).__globals__, "_CHUNK", 1000)


def hook(pack: Pack) -> Callable[..., Any]:
    function = pack.reference.spot_check
    assert function is not None
    return function


def looked_at(pack: Pack, values: Vector) -> tuple[Any, ...]:
    found = hook(pack)(np.random.default_rng(1), {"input": values}, {"output": values})
    parts = [found] if isinstance(found, dict) else found
    return tuple(np.concatenate(arrays) for arrays in zip(*(part["output"] for part in parts), strict=True))


@st.composite
def vectors(draw: st.DrawFn) -> Vector:
    """Of one chunk and of several, with neighbors much alike and not at all."""
    rng = np.random.default_rng(draw(st.integers(0, 999)))
    size = draw(st.integers(1, 12_000))
    levels = np.repeat(rng.uniform(-1, 1, size // 700 + 1), 700)[:size] * draw(st.sampled_from([0, 1, 30, 10_000]))
    return (levels + rng.standard_normal(size)).astype(np.float32)


def softmax_of(values: Vector) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """With the magnitude, as the definitions have them."""
    distance = values.max() - values.astype(np.float64)
    weights = np.exp(-distance)
    total = weights.sum()
    weights /= total
    return weights, weights * (3 + distance + np.log(total))


@pytest.mark.usefixtures("small_chunks")
@given(vectors())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_sums(packs: dict[str, Pack], values: Vector) -> None:
    rows, total, absolute = looked_at(packs["reduction"], values)
    exact = values.astype(np.float64)
    assert rows.tolist() == [0]
    assert absolute == pytest.approx([np.abs(exact).sum()], rel=1e-13)
    assert total == pytest.approx([exact.sum()], abs=1e-13 * absolute[0])


@pytest.mark.usefixtures("small_chunks")
@pytest.mark.parametrize(("large", "precision"), [(1 << 22, 1e-11), (0, 1e-5)], ids=["double", "single"])
@given(values=vectors())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_softmaxes(packs: dict[str, Pack], large: int, precision: float, values: Vector) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(hook(packs["softmax"]).__globals__, "_LARGE", large)
        rows, weights, magnitude = looked_at(packs["softmax"], values)
    expected, expected_magnitude = softmax_of(values)
    assert rows.tolist() == list(range(values.size))
    np.testing.assert_allclose(weights, expected, rtol=precision, atol=1e-300)
    np.testing.assert_allclose(magnitude, expected_magnitude, rtol=precision, atol=1e-300)


def large_case(pack: Pack) -> Case:
    """Of more than one chunk, and for the softmax of more than are exponentiated in double precision."""
    return dataclasses.replace(pack.benchmarks_for("cuda")[0], axes={"N": 4_500_001})


@pytest.mark.parametrize("slug", ["reduction", "softmax"])
@pytest.mark.parametrize("like", [None, 3])
def test_right_and_wrong_ones_of_many_elements(packs: dict[str, Pack], slug: str, like: int | None) -> None:
    pack = packs[slug]
    case = large_case(pack)
    inputs = make_inputs(pack, case, 1, 7, like=like)
    values: Vector = inputs["input"]
    right = softmax_of(values)[0] if slug == "softmax" else np.array([values.sum(dtype=np.float64)])
    part = values[: -len(values) // 20]
    if slug == "softmax":
        wrong = right * (np.exp(values.astype(np.float64)).sum() / np.exp(part.astype(np.float64)).sum())
    else:
        wrong = np.array([part.sum(dtype=np.float64)])
    for given_inputs in (inputs, lazy_inputs(pack, case, 1, 7, like=like)):
        assert spot_check(pack, case, given_inputs, {"output": right.astype(np.float32)}, seed=5) is None
        assert spot_check(pack, case, given_inputs, {"output": wrong.astype(np.float32)}, seed=5) is not None


@pytest.mark.parametrize("slug", ["reduction", "softmax"])
def test_how_many_threads_there_are_makes_no_difference(
    packs: dict[str, Pack], slug: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = packs[slug]
    values = make_inputs(pack, large_case(pack), 1)["input"]
    results = []
    for threads in (1, 7):
        pool = partial(ThreadPoolExecutor, max_workers=threads)
        monkeypatch.setitem(hook(pack).__globals__, "ThreadPoolExecutor", lambda _threads, pool=pool: pool())
        results.append([part.tobytes() for part in looked_at(pack, values)])
    assert results[0] == results[1]
