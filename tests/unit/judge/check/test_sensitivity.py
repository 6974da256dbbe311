"""An ``auto`` bound takes honest single precision in any order, and neither half precision nor left-out work."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.check.sensitivity import derive_allowances
from judge.check.tolerance import Tolerance

F32 = np.float32
Array = npt.NDArray[Any]


def in_order(terms: Array) -> Array:
    """Adds along the last axis with one accumulator."""
    return np.add.accumulate(terms, axis=-1, dtype=terms.dtype)[..., -1]


def in_half(terms: Array) -> Array:
    with np.errstate(over="ignore", invalid="ignore"):
        return in_order(terms.astype(np.float16)).astype(F32)


def few(terms: Array) -> Array:
    """Leaves out a tenth."""
    return in_order(terms[..., : terms.shape[-1] - max(1, terms.shape[-1] // 10)])


Sum = Callable[[Array], Array]


@dataclass
class Task:
    """A reference, and the same in single precision with a way to add."""

    draw: Callable[[np.random.Generator], dict[str, Array]]
    reference: Callable[..., Array]
    kernel: Callable[..., Array]


def softmax(x: Array, add: Sum) -> Array:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / add(e)[..., None]


def layer_norm(x: Array, add: Sum) -> Array:
    n = x.dtype.type(x.shape[-1])
    mean = add(x)[..., None] / n
    d = x - mean
    return d / np.sqrt(add(d * d)[..., None] / n + x.dtype.type(1e-5))


def cross_entropy(x: Array, add: Sum) -> Array:
    top = x.max(-1)
    losses = np.log(add(np.exp(x - top[:, None]))) + top - x[:, 0]
    return add(losses) / x.dtype.type(len(losses))


def grad(x: Array, add: Sum) -> Array:
    p = softmax(x, add)
    p[:, 0] -= 1
    return p


def numpy_sum(terms: Array) -> Array:
    return terms.sum(-1)


def normal(*shape: int, scale: float = 1.0) -> Callable[[np.random.Generator], dict[str, Array]]:
    return lambda rng: {"x": (scale * rng.standard_normal(shape)).astype(F32)}


def of(function: Callable[[Array, Sum], Array], draw: Callable[[np.random.Generator], dict[str, Array]]) -> Task:
    return Task(draw, lambda x: function(x.astype(np.float64), numpy_sum), lambda x, add: function(x, add))


def product(a: Array, b: Array, add: Sum) -> Array:
    return add(a[:, None, :] * b.T[None, :, :])


TASKS = {
    "sum": of(lambda x, add: add(x), normal(1, 20_000)),
    "mean of positive numbers": of(lambda x, add: add(x * x) / F32(x.shape[-1]), normal(1, 20_000)),
    "softmax": of(softmax, normal(40, 300, scale=3)),
    "softmax of a long vector": of(softmax, normal(1, 30_000)),
    "layer norm": of(layer_norm, normal(50, 200)),
    "cross-entropy": of(cross_entropy, normal(60, 90, scale=4)),
    "gradient of cross-entropy": of(grad, normal(60, 90, scale=6)),
    "product": Task(
        lambda rng: {n: rng.standard_normal((32, 32) if n == "a" else (32, 24)).astype(F32) for n in "ab"},
        lambda a, b: a.astype(np.float64) @ b.astype(np.float64),
        product,
    ),
}


def bound_of(task: Task, values: Array) -> Array:
    def compute(inputs: Mapping[str, Any]) -> Mapping[str, Any]:
        return {"y": task.reference(**inputs)}

    allowance = derive_allowances(compute, lambda seed: task.draw(np.random.default_rng(1000 + seed)))["y"]
    tolerance = Tolerance("auto", np.dtype(F32), absolute=allowance.absolute, relative=allowance.relative)
    bound = tolerance.bound(values, None, np.dtype(F32))
    assert bound is not None
    return bound


def worst(task: Task, add: Sum, seed: int, disturb: float = 0.0) -> float:
    """Returns the largest error as a share of the bound."""
    rng = np.random.default_rng(seed)
    inputs = task.draw(rng)
    values = np.asarray(task.reference(**inputs), np.float64)
    got = np.asarray(task.kernel(**inputs, add=add), np.float64)
    got = got * (1 + disturb * rng.choice([-1.0, 1.0], got.shape))
    return float(np.max(np.abs(got - values) / bound_of(task, values)))


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("add", [in_order, numpy_sum, lambda terms: in_order(terms[..., ::-1])])
def test_single_precision_is_accepted_in_any_order(name: str, add: Sum) -> None:
    # Four units in the last place more, as fast intrinsics have.
    assert max(worst(TASKS[name], add, seed, disturb=4 * 2.0**-24) for seed in range(4)) < 0.7


@pytest.mark.parametrize("name", TASKS)
@pytest.mark.parametrize("add", [in_half, few])
def test_half_precision_and_left_out_terms_are_not(name: str, add: Sum) -> None:
    assert min(worst(TASKS[name], add, seed) for seed in range(4)) > 1.5


def test_elements_that_cancel_get_an_absolute_bound() -> None:
    task = TASKS["product"]
    bound = bound_of(task, np.array([[0.0, 1.0]]))
    assert bound[0, 0] > 1e-6
    assert bound[0, 1] < 1e-3


def test_small_weights_keep_a_relative_bound() -> None:
    bound = bound_of(TASKS["softmax"], np.array([1e-9, 1e-2]))
    assert bound[0] < 1e-12


def test_integers_have_no_perturbation_but_a_rerun() -> None:
    task = Task(
        lambda rng: {"x": rng.integers(-100, 100, (64, 500)).astype(np.int8)},
        lambda x: x.astype(np.float64).sum(1) / 3,
        lambda x, add: add(x.astype(F32)) / F32(3),
    )
    assert worst(task, in_order, 1) < 1
    assert worst(task, few, 1) > 1.5
