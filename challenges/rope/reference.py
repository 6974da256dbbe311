"""Rotary position embedding in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def make_inputs(rng, M, D):
    """Tables of angles that begin at a random position, so that nothing can be gained by computing them anew."""
    frequencies = 10000.0 ** (-np.arange(D // 2, dtype=np.float64) / (D // 2))
    angles = np.outer(np.arange(M) + rng.uniform(0.0, 5000.0), frequencies) + rng.uniform(0.0, 2 * np.pi, D // 2)
    angles = np.remainder(angles, 2 * np.pi).astype(np.float32)
    tables = {}
    for name, function in (("cos", np.cos), ("sin", np.sin)):
        tables[name] = np.empty((M, D), np.float32)
        function(angles, out=tables[name][:, : D // 2])
        tables[name][:, D // 2 :] = tables[name][:, : D // 2]
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
