"""The plainest honest kernel, which adds every term to one float accumulator, is accepted.

Held over many draws of each functional case and of the emulator's benchmark. A GPU's benchmark has tens of millions of
terms, of which those of one sign do vanish in one accumulator: ``judge.check.tolerance`` says where the bound ends.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.packs.data.inputs import make_inputs
from judge.packs.judging import expected_outputs
from judge.packs.pack import Pack
from judge.packs.sizes import case_bytes

Terms = npt.NDArray[np.float32]
SEED = 7
#: Bytes of arguments drawn for each case, and the least and the most draws.
DRAWN_BYTES, FEWEST, MOST = 4 << 20, 3, 60


def _dpo_terms(inputs: dict[str, Any]) -> Terms:
    chosen, rejected, chosen_reference, rejected_reference = (
        inputs[name] for name in ("chosen_logps", "rejected_logps", "chosen_ref_logps", "rejected_ref_logps")
    )
    margin = inputs["beta"] * ((chosen - rejected) - (chosen_reference - rejected_reference))
    return (np.maximum(-margin, 0) + np.log1p(np.exp(-np.abs(margin)))) / np.float32(margin.size)


def _squares(inputs: dict[str, Any]) -> Terms:
    difference = inputs["predictions"] - inputs["targets"]
    return difference * difference / np.float32(difference.size)


def _samples(inputs: dict[str, Any]) -> Terms:
    values = inputs["y_samples"]
    return values * ((inputs["b"] - inputs["a"]) / np.float32(values.size))


def _segments(inputs: dict[str, Any]) -> Terms:
    """The sums before each element of its segment, one after the other."""
    values, found = inputs["values"], np.zeros(inputs["values"].size, np.float32)
    bounds = [*np.flatnonzero(inputs["flags"]), values.size]
    for first, last in itertools.pairwise(bounds):
        np.cumsum(values[first : last - 1], dtype=np.float32, out=found[first + 1 : last])
    return found


def _normalised(inputs: dict[str, Any]) -> Terms:
    values = inputs["input"]
    mean = _sum(values * values) / np.float32(values.size)
    return values * (inputs["gamma"] / np.sqrt(mean + inputs["eps"])) + inputs["beta"]


def _sum(terms: Terms) -> Terms:
    return np.cumsum(terms.ravel(), dtype=np.float32)[-1:]


#: What one thread with one accumulator would write.
SERIAL: dict[str, Callable[[dict[str, Any]], Terms]] = {
    "reduction": lambda inputs: _sum(inputs["input"]),
    "dot-product": lambda inputs: _sum(inputs["A"] * inputs["B"]),
    "half-dot": lambda inputs: _sum(inputs["A"].astype(np.float32) * inputs["B"].astype(np.float32)),
    "mse": lambda inputs: _sum(_squares(inputs)),
    "dpo-loss": lambda inputs: _sum(_dpo_terms(inputs)),
    "monte-carlo-mean": lambda inputs: _sum(_samples(inputs)),
    "prefix-sum": lambda inputs: np.cumsum(inputs["input"], dtype=np.float32),
    "segmented-scan": _segments,
    "rms-norm": _normalised,
}


@pytest.mark.parametrize("slug", SERIAL)
def test_one_accumulator_passes_every_draw(slug: str, packs: dict[str, Pack]) -> None:
    pack = packs[slug]
    for case in (*pack.cases_for("emulator"), *pack.benchmarks_for("emulator")):
        for call in range(min(MOST, max(FEWEST, int(DRAWN_BYTES // case_bytes(pack, case))))):
            inputs = make_inputs(pack, case, SEED, call)
            (expected,) = expected_outputs(pack, case, inputs).values()
            assert expected.bound is not None
            away = np.abs(SERIAL[slug](inputs).ravel() - expected.values.ravel()) / expected.bound.ravel()
            assert away.max() < 1, f"{case.id}, call {call}: off by {away.max():.2f} bounds"


def test_one_accumulator_for_each_denominator_passes_attention_backward(packs: dict[str, Pack]) -> None:
    """Weights lose as much as sums over keys do, and so do gradients that are sums over queries."""
    pack = packs["attention-backward"]
    for case in pack.cases_for("emulator"):
        for call in range(20 if case.axes["N"] > 1000 else 2):
            inputs = make_inputs(pack, case, SEED, call)
            outputs = _attention_gradients(**{name: inputs[name] for name in ("Q", "K", "V", "dO")})
            for name, expected in expected_outputs(pack, case, inputs).items():
                assert expected.bound is not None
                away = np.abs(outputs[name] - expected.values) / expected.bound
                assert away.max() < 1, f"{case.id}, call {call}: {name} is off by {away.max():.2f} bounds"


def _attention_gradients(Q: Terms, K: Terms, V: Terms, dO: Terms) -> dict[str, Terms]:
    """Denominators and means are added up key after key."""
    scale = np.float32(1 / np.sqrt(Q.shape[1]))
    scores, toward = Q @ K.T * scale, dO @ V.T
    largest = scores.max(axis=1, keepdims=True)
    weights = np.exp(scores - largest)
    total = np.cumsum(weights, axis=1, dtype=np.float32)[:, -1:]
    mean = np.cumsum(weights * toward, axis=1, dtype=np.float32)[:, -1:] / total
    weights = np.exp(scores - (largest + np.log(total)))
    slopes = weights * (toward - mean) * scale
    return {"dQ": slopes @ K, "dK": slopes.T @ Q, "dV": weights.T @ dO}
