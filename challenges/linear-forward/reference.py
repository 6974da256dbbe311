"""input times the transpose of weight, plus bias, in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24


def reference(input, weight, bias, batch, in_features, out_features):
    return input.astype(np.float64) @ weight.astype(np.float64).T + bias


def magnitude(input, weight, bias, batch, in_features, out_features):
    return reference(np.abs(input), np.abs(weight), np.abs(bias), batch, in_features, out_features)


def spot_check(rng, inputs, outputs):
    """Random rows, and those where the output times random signs is furthest from what it should be (Freivalds)."""
    arrays = {**inputs, **{name: inputs[name][:] for name in ("input", "weight", "bias")}}
    count = len(outputs["output"])
    if count <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(
            rng.choice(count, _RANDOM_ROWS, replace=False), _suspicious(rng, arrays, outputs["output"][:])
        )
    arrays["input"] = arrays["input"][rows]
    return {"output": (rows, reference(**arrays), magnitude(**arrays))}


def _suspicious(rng, arrays, result):
    # In float64: the only noise left is that of the kernel's own rounding.
    signs = rng.choice(np.array([-1.0, 1.0]), (result.shape[1], 2))
    folded = arrays["weight"].astype(np.float64).T @ signs
    expected = arrays["input"].astype(np.float64) @ folded + arrays["bias"].astype(np.float64) @ signs
    distance = np.abs(result.astype(np.float64) @ signs - expected).max(axis=1)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
