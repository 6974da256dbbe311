"""Linear attention in NumPy, in float64, some positions at a time."""

import numpy as np

#: Positions at a time: few enough to stay in a processor's cache.
_STEP = 1024
_ROWS = 24
_SUSPICIOUS_ROWS = 40


def _feature(x, kind):
    x = x.astype(kind)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _state(K, V):
    """(sum of phi(k) v^T, the same of |v|, sum of phi(k)) over all positions."""
    width = K.shape[1]
    products, sizes, sums = np.zeros((width, width)), np.zeros((width, width)), np.zeros(width)
    for start in range(0, len(K), _STEP):
        keys = _feature(K[start : start + _STEP], np.float64)
        values = V[start : start + _STEP].astype(np.float64)
        products += keys.T @ values
        sizes += keys.T @ np.abs(values)
        sums += keys.sum(axis=0)
    return products, sizes, sums


def _rows(Q, state):
    """(outputs, magnitudes) of some queries."""
    products, sizes, sums = state
    queries = _feature(Q, np.float64)
    denominator = (queries @ sums)[:, None]
    # A feature is off by a few roundoffs: an exponential of an argument x by about u (|x| + 3).
    doubt = queries * (12.0 + 2.0 * np.maximum(-Q, 0.0))
    outputs = queries @ products / denominator
    return outputs, doubt @ sizes / denominator + (doubt @ sums)[:, None] / denominator * np.abs(outputs)


def reference(Q, K, V, M, d):
    return _rows(Q.astype(np.float64), _state(K, V))[0]


def magnitude(Q, K, V, M, d):
    return _rows(Q.astype(np.float64), _state(K, V))[1]


def spot_check(rng, inputs, outputs):
    """Random rows, and those that are furthest from what single precision makes of all of them."""
    Q, got = np.asarray(inputs["Q"][:]), outputs["output"]
    state, count = _state(inputs["K"], inputs["V"]), len(Q)
    if count <= _ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        products, sums = state[0].astype(np.float32), state[2].astype(np.float32)
        away = np.empty(count, np.float32)
        for start in range(0, count, _STEP):
            part = slice(start, start + _STEP)
            queries = _feature(Q[part], np.float32)
            away[part] = np.abs(got[part] - queries @ products / (queries @ sums)[:, None]).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    return {"output": (rows, *_rows(Q[rows].astype(np.float64), state))}
