"""The six computations in single precision, in the order in which simple kernels do them.

It has spoilt ways of doing them, too.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
Inputs = dict[str, Any]
#: How a kernel adds up along the last axis.
Sum = Callable[[Array], Array]


def sum_in_order(values: Array) -> Array:
    """One accumulator of the values' own type."""
    total: Array = np.cumsum(values, axis=-1, dtype=values.dtype)[..., -1]
    return total


def sum_in_half(values: Array) -> Array:
    return sum_in_order(values.astype(np.float16)).astype(values.dtype)


def sum_without_a_tenth(values: Array) -> Array:
    return sum_in_order(values[..., : values.shape[-1] - max(1, values.shape[-1] // 10)])


def vector_add(inputs: Inputs, add_up: Sum = sum_in_order) -> Array:
    return add_up(np.stack([inputs["A"], inputs["B"]], axis=-1))


def reduction(inputs: Inputs, add_up: Sum = sum_in_order) -> Array:
    return add_up(inputs["input"][None, :])


def softmax(inputs: Inputs, add_up: Sum = sum_in_order) -> Array:
    exponentials = np.exp(inputs["input"] - inputs["input"].max())
    with np.errstate(over="ignore", divide="ignore", invalid="ignore"):  # where the largest was left out
        result: Array = exponentials / add_up(exponentials)
    return result


def attention(inputs: Inputs, add_up: Sum = sum_in_order) -> Array:
    Q, K, V = inputs["Q"], inputs["K"], inputs["V"]
    rows = []
    for query in Q:
        scores = sum_in_order(query * K) * np.float32(1 / np.sqrt(Q.shape[1]))
        weights = np.exp(scores - scores.max())
        rows.append(add_up((weights[:, None] * V).T) / add_up(weights))
    return np.array(rows)


def gemm(inputs: Inputs, add_up: Sum = sum_in_order) -> Array:
    A, B, C = (inputs[name].astype(np.float32) for name in "ABC")
    product = np.array([add_up(row * B.T) for row in A])
    scaled: Array = inputs["alpha"] * product + inputs["beta"] * C
    return scaled.astype(np.float16)


def int8_matmul(inputs: Inputs, add_up: Sum = sum_in_order) -> Array:
    A = inputs["A"].astype(np.int32) - inputs["zero_point_A"]
    B = inputs["B"].astype(np.int32) - inputs["zero_point_B"]
    sums = np.array([add_up(row * B.T) for row in A]).astype(np.float32)
    scaled = sums * inputs["scale_A"] * inputs["scale_B"] / inputs["scale_C"]
    return np.clip(np.rint(scaled) + inputs["zero_point_C"], -128, 127).astype(np.int8)


COMPUTATIONS: dict[str, Callable[..., Array]] = {
    "vector-add": vector_add,
    "reduction": reduction,
    "softmax": softmax,
    "attention": attention,
    "gemm": gemm,
    "int8-matmul": int8_matmul,
}
