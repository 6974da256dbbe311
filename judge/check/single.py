"""Runs a reference in single precision, although it was written for double precision.

References begin with ``x.astype(np.float64)``. The arrays here stay float32 whatever they are asked to become, and so
does what is computed from them; sums are taken in order, in one accumulator. Code that goes around them (such as
``np.asarray(x, np.float64)``) computes in double precision from there on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

#: Products with more terms are left to NumPy, which adds in blocks: in order they would take too long.
_TERMS_IN_ORDER = 4096


class SingleArray(np.ndarray[Any, Any]):
    """An array of float32 that does not become float64. Integers and booleans stay as they are."""

    def astype(self, dtype: Any, *args: Any, **kwargs: Any) -> Any:
        return super().astype(_narrow(dtype), *args, **kwargs)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        plain = [_plain(value) for value in inputs]
        if "dtype" in kwargs and kwargs["dtype"] is not None:
            kwargs["dtype"] = _narrow(kwargs["dtype"])
        targets = kwargs.pop("out", None)
        if method == "at":
            getattr(ufunc, method)(np.asarray(inputs[0]), *plain[1:], **kwargs)
            return None
        if "where" in kwargs:
            kwargs["where"] = _plain(kwargs["where"])
        result = _computed(ufunc, method, plain, kwargs)
        if targets is None:
            return tuple(map(_single, result)) if isinstance(result, tuple) else _single(result)
        results = result if isinstance(result, tuple) else (result,)
        for target, value in zip(targets, results, strict=True):
            if target is not None:
                np.copyto(np.asarray(target), value, casting="unsafe")
        return targets[0] if len(targets) == 1 else targets


def run_in_single(
    compute: Callable[[Mapping[str, Any]], Mapping[str, Any]], inputs: Mapping[str, Any]
) -> dict[str, Any] | None:
    """Runs ``compute`` on the inputs in single precision; returns None where it cannot be run so."""
    try:
        with np.errstate(all="ignore"):
            outputs = compute({name: _single(value) for name, value in inputs.items()})
            return {name: np.asarray(values) for name, values in outputs.items()}
    except Exception:
        # The reference is the author's: what it does with arrays of another class is not its concern.
        return None


def _computed(ufunc: np.ufunc, method: str, inputs: list[Any], kwargs: dict[str, Any]) -> Any:
    if ufunc is np.add and method == "reduce" and kwargs.get("where", True) is True:
        return _sum_in_order(inputs[0], **{key: value for key, value in kwargs.items() if key != "where"})
    if (
        ufunc is np.matmul
        and method == "__call__"
        and not kwargs
        and (product := _product_in_order(*inputs)) is not None
    ):
        return product
    return getattr(ufunc, method)(*inputs, **kwargs)


def _sum_in_order(array: Any, axis: Any = 0, dtype: Any = None, keepdims: bool = False, **kwargs: Any) -> Any:
    array = np.asarray(array)
    if array.dtype != np.float32 or dtype not in (None, np.dtype(np.float32)) or kwargs:
        return np.add.reduce(array, axis=axis, dtype=dtype, keepdims=keepdims, **kwargs)
    axes = range(array.ndim) if axis is None else [axis] if isinstance(axis, int) else axis
    axes = sorted({each % array.ndim for each in axes})
    kept = [each for each in range(array.ndim) if each not in axes]
    rows = array.transpose(*kept, *axes).reshape(*(array.shape[each] for each in kept), -1)
    if rows.shape[-1] == 0:
        return array.sum(axis, keepdims=keepdims)
    total = np.add.accumulate(rows, axis=-1)[..., -1]
    return (
        total.reshape([1 if each in axes else array.shape[each] for each in range(array.ndim)]) if keepdims else total
    )


def _product_in_order(left: Any, right: Any) -> Any:
    left, right = np.asarray(left), np.asarray(right)
    if left.dtype != np.float32 or right.dtype != np.float32 or left.ndim < 2 or right.ndim < 2:
        return None
    terms = left.shape[-1]
    if not 0 < terms <= _TERMS_IN_ORDER:
        return None
    total = left[..., :, 0, None] * right[..., 0, None, :]
    for k in range(1, terms):
        total += left[..., :, k, None] * right[..., k, None, :]
    return total


def _narrow(dtype: Any) -> Any:
    return np.dtype(np.float32) if np.dtype(dtype) == np.float64 else np.dtype(dtype)


def _plain(value: Any) -> Any:
    """Returns an operand as a plain array, a double as a float32."""
    if isinstance(value, np.ndarray):
        plain = np.asarray(value)
        return plain.astype(np.float32) if plain.dtype == np.float64 else plain
    return np.float32(value) if isinstance(value, np.float64) else value


def _single(value: Any) -> Any:
    """Returns an array or scalar as one that stays float32."""
    if isinstance(value, (np.ndarray, np.generic)):
        plain = np.asarray(value)
        if plain.dtype == np.float64:
            plain = plain.astype(np.float32)
        return plain.view(SingleArray)
    return value
