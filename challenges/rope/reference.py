"""Rotary position embedding in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def make_inputs(rng, M, D):
    """Tables of angles that begin at a random position, so that nothing can be gained by computing them anew."""
    half = D // 2
    frequencies = 10000.0 ** (-np.arange(half) / half) / (2 * np.pi)
    start, phases = rng.uniform(0.0, 5000.0), rng.random(half)
    tables = {name: np.empty((M, D), np.float32) for name in ("cos", "sin")}
    step = max(1, _CHUNK // D)
    for first in range(0, M, step):
        rows = slice(first, min(first + step, M))
        turns = np.outer(np.arange(rows.start, rows.stop) + start, frequencies) + phases
        angles = ((turns - np.floor(turns)) * (2 * np.pi)).astype(np.float32)
        for name, function in (("cos", np.cos), ("sin", np.sin)):
            tables[name][rows, :half] = tables[name][rows, half:] = function(angles)
    return tables


def _rows(q, cos, sin):
    """(outputs, magnitudes) of some rows."""
    q, cos = q.astype(np.float64), cos.astype(np.float64)
    half = q.shape[1] // 2
    turned = np.concatenate([-q[:, half:], q[:, :half]], axis=1)
    turned *= sin
    q *= cos
    return q + turned, np.abs(q) + np.abs(turned)


def reference(Q, cos, sin, M, D):
    return _rows(Q, cos, sin)[0]


def magnitude(Q, cos, sin, M, D):
    return _rows(Q, cos, sin)[1]


def spot_check(rng, inputs, outputs):
    """Everything, in chunks of rows."""
    Q, cos, sin = (inputs[name] for name in ("Q", "cos", "sin"))
    count, width = Q.shape
    step = max(1, _CHUNK // width)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        yield {"output": (np.arange(rows.start, rows.stop), *_rows(Q[rows], cos[rows], sin[rows]))}
