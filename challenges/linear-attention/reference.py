"""Linear attention in NumPy, in float64, some positions at a time.

How far an output may be off follows from rounding errors that are independent of each other, and not from the sum of
all terms: values that cancel leave small outputs, and errors far smaller still.

With the benchmark's 262,144 positions of 128 numbers, sums of blocks of 256 in single precision reach 0.06 of what is
allowed; with 1,536 positions of 64 they reach 0.26, one accumulator 0.36, features in TF32 151 and inputs in half
precision 322 times it.
"""

import numpy as np

#: Positions at a time: few enough to stay in a processor's cache.
_STEP = 1024
_ROWS = 24
_SUSPICIOUS_ROWS = 40
#: The allowed error is so many times the standard error of the least accurate honest order.
_FACTOR = 8.0


def _feature(x, kind):
    x = x.astype(kind)
    return np.where(x > 0, x + 1, np.exp(np.minimum(x, 0)))


def _state(K, V):
    """(sum of phi(k) v^T, sum of phi(k), and the variances of both in u^2) over all positions."""
    count, width = K.shape
    products, sums = np.zeros((width, width)), np.zeros(width)
    squares, of_sums = np.zeros((width, width)), np.zeros(width)
    for start in range(0, count, _STEP):
        k = K[start : start + _STEP].astype(np.float64)
        keys, values = _feature(k, np.float64), V[start : start + _STEP].astype(np.float64)
        products += keys.T @ values
        sums += keys.sum(axis=0)
        # One accumulator, n terms: n q^2 / 18 for what walks about zero.
        doubted = keys**2 * (_doubt(k) ** 2 + count / 18)
        squares += doubted.T @ values**2
        of_sums += doubted.sum(axis=0)
    # And n R^2 / 9 for what grows towards the result R.
    return products, sums, squares + count / 9 * products**2, of_sums + count / 9 * sums**2


def _doubt(x):
    """How far a feature is off, in its own u: an exponential of x by some, and by what rounding x log2(e) makes."""
    return 2.0 + np.maximum(-x, 0.0)


def _rows(Q, state):
    """(outputs, magnitudes) of some queries; a magnitude is the allowed error in u."""
    products, sums, squares, of_sums = state
    queries = _feature(Q, np.float64)
    denominator = (queries @ sums)[:, None]
    outputs = queries @ products / denominator
    # Errors of the state, of the products with it (one accumulator, d terms), and of the features of the query.
    width = Q.shape[1]
    here = queries**2 * (_doubt(Q) ** 2 + width / 18)
    variances = queries**2 @ squares + here @ products**2 + width / 9 * (queries @ products) ** 2
    of_denominators = queries**2 @ of_sums + here @ sums**2 + width / 9 * (queries @ sums) ** 2
    variances += of_denominators[:, None] * outputs**2
    return outputs, _FACTOR * (np.sqrt(variances) / denominator + np.abs(outputs))


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
        products, sums = state[0].astype(np.float32), state[1].astype(np.float32)
        away = np.empty(count, np.float32)
        for start in range(0, count, _STEP):
            part = slice(start, start + _STEP)
            queries = _feature(Q[part], np.float32)
            away[part] = np.abs(got[part] - queries @ products / (queries @ sums)[:, None]).max(axis=1)
        rows = np.union1d(rng.choice(count, _ROWS, replace=False), np.argsort(away)[-_SUSPICIOUS_ROWS:])
    return {"output": (rows, *_rows(Q[rows].astype(np.float64), state))}
