"""The packs' mistakes: each is named where it explains all numbers, and nowhere else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.packs.checkers import mistake_in
from judge.packs.data.inputs import make_inputs
from judge.packs.judging import expected_outputs
from judge.packs.pack import Case, Pack

Array = npt.NDArray[Any]
Inputs = dict[str, Any]


def strict_mask(inputs: Inputs) -> Array:
    Q, K, V = (inputs[name].astype(np.float64) for name in ("Q", "K", "V"))
    result = np.full(Q.shape, np.nan)
    for row in range(1, len(Q)):
        scores = K[:row] @ Q[row] / np.sqrt(Q.shape[1])
        weights = np.exp(scores - scores.max())
        result[row] = weights @ V[:row] / weights.sum()
    return result


def packed_factors(inputs: Inputs) -> Array:
    """The matrices of A as if nothing lay between them."""
    M, N, K = (int(inputs[name]) for name in "MNK")
    A, B = inputs["A"].reshape(-1).astype(np.float64), inputs["B"].reshape(-1).astype(np.float64)
    result = np.zeros((int(inputs["batch"]), int(inputs["stride_c"])))
    for number, product in enumerate(result):
        left = A[number * M * K :][: M * K].reshape(M, K)
        right = B[number * int(inputs["stride_b"]) :][: K * N].reshape(K, N)
        product[: M * N] = (left @ right).reshape(-1)
    return result


def unsigned_bytes(inputs: Inputs) -> Array:
    A, B = (inputs[name].astype(np.int64) % 256 - int(inputs[f"zero_point_{name}"]) for name in "AB")
    scaled = (A @ B).astype(np.float32) * inputs["scale_A"] * inputs["scale_B"] / inputs["scale_C"]
    result: Array = np.clip(np.rint(scaled).astype(np.int64) + int(inputs["zero_point_C"]), -128, 127)
    return result


def unstable_last_pass(inputs: Inputs) -> Array:
    keys = np.sort(inputs["input"])
    mixed = np.random.default_rng(1).permutation(keys)
    return mixed[np.argsort(mixed >> 24, kind="stable")]


MISTAKES: dict[str, tuple[Callable[[Inputs], Array], str]] = {
    "causal-attention": (strict_mask, "the mask seems to leave out the diagonal: "),
    "strided-batched-gemm": (packed_factors, "the matrices of A seem to begin M*K elements apart"),
    "int8-matmul": (unsigned_bytes, "the bytes of A "),
    "radix-sort": (unstable_last_pass, "the keys are sorted by their highest "),
}


def cases_of(pack: Pack) -> list[Case]:
    return [case for case in pack.cases if sum(case.axes.values()) < 3000]


def named(pack: Pack, case: Case, inputs: Inputs, values: Array) -> str:
    (output,) = pack.outputs
    return mistake_in(pack, case, inputs, {output.name: values.astype(output.dtype)})


@pytest.mark.parametrize("slug", MISTAKES)
def test_what_explains_all_numbers_is_named(packs: dict[str, Pack], slug: str) -> None:
    mistaken, words = MISTAKES[slug]
    told = []
    for case in cases_of(packs[slug]):
        inputs = make_inputs(packs[slug], case, 5)
        told.append(named(packs[slug], case, inputs, mistaken(inputs)))
    assert any(each.startswith(words) for each in told)
    assert all(each.startswith(words) or not each for each in told), told


@pytest.mark.parametrize("slug", MISTAKES)
def test_other_wrong_numbers_accuse_nobody(packs: dict[str, Pack], slug: str) -> None:
    pack, (mistaken, _) = packs[slug], MISTAKES[slug]
    (output,) = pack.outputs
    for case in cases_of(pack):
        inputs = make_inputs(pack, case, 5)
        right = expected_outputs(pack, case, inputs)[output.name].values
        assert not named(pack, case, inputs, right)
        # 127 is also what most products of unsigned bytes are clamped to.
        for constant in (0, 127):
            assert not named(pack, case, inputs, np.full_like(right, constant))
        # One more number is wrong than the mistake explains.
        more = mistaken(inputs).astype(output.dtype)
        last = more.reshape(-1)[-1:]
        last[...] = last + 3 if last < 100 else last - 3
        assert not named(pack, case, inputs, more)


def test_swapped_neighbors_are_no_unstable_passes(packs: dict[str, Pack]) -> None:
    pack = packs["radix-sort"]
    for case in cases_of(pack):
        inputs = make_inputs(pack, case, 5)
        keys = np.sort(inputs["input"])
        for start in range(0, keys.size - 1, 8):
            keys[start : start + 2] = keys[start : start + 2][::-1]
        assert not named(pack, case, inputs, keys)
