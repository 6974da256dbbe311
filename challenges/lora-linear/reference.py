"""A linear layer with a low-rank update in NumPy, in float64."""

import numpy as np

_ROWS = 24
_SUSPICIOUS_ROWS = 40


def _layer(x, W, A, B, scale):
    return x @ W.T + scale * ((x @ A.T) @ B.T)


def _magnitude(x, W, A, B, scale):
    x, W, A, B = (np.abs(array) for array in (x, W, A, B))
    return x @ W.T + 2.0 * abs(scale) * ((x @ A.T) @ B.T)


def _doubles(*arrays):
    return [array.astype(np.float64) for array in arrays]


def reference(x, W, A, B, batch, d_in, d_out, rank, lora_scale):
    return _layer(*_doubles(x, W, A, B), np.float64(lora_scale))


def magnitude(x, W, A, B, batch, d_in, d_out, rank, lora_scale):
    return _magnitude(*_doubles(x, W, A, B), np.float64(lora_scale))


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    arrays = [np.asarray(inputs[name][:]) for name in ("x", "W", "A", "B")]
    scale, count = inputs["lora_scale"], len(arrays[0])
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        away = np.abs(outputs["output"] - _layer(*arrays, scale)).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    arrays, scale = _doubles(arrays[0][rows], *arrays[1:]), np.float64(scale)
    return {"output": (rows, _layer(*arrays, scale), _magnitude(*arrays, scale))}
