"""A product for each expert's tokens in NumPy, in float64, expert by expert."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24


def make_inputs(rng, num_tokens, num_experts, popular, **_):
    # Some experts are popular, some have no token at all.
    shares = rng.exponential(size=int(num_experts)) * (rng.random(int(num_experts)) < 0.8) + 1e-9
    shares *= (1 - popular) / shares.sum()
    if popular:
        shares[rng.integers(0, num_experts)] += popular
    experts = rng.choice(int(num_experts), int(num_tokens), p=shares)
    counts = np.bincount(experts, minlength=int(num_experts))
    return {"offsets": np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)}


def _experts(offsets, weights, d_in):
    """Yields for each expert that has tokens the range of these, and its matrix."""
    for expert in np.flatnonzero(np.diff(offsets)):
        rows = slice(int(offsets[expert]), int(offsets[expert + 1]))
        yield rows, weights[int(expert) * int(d_in) : (int(expert) + 1) * int(d_in)].astype(np.float64)


def _all(x, weights, offsets, d_in, d_out):
    y = np.empty((len(x), int(d_out)))
    for rows, matrix in _experts(offsets, weights, d_in):
        y[rows] = x[rows].astype(np.float64) @ matrix
    return y


def reference(x, weights, offsets, num_tokens, num_experts, d_in, d_out):
    return _all(x, weights, offsets, d_in, d_out)


def magnitude(x, weights, offsets, num_tokens, num_experts, d_in, d_out):
    return _all(np.abs(x), np.abs(weights), offsets, d_in, d_out)


def spot_check(rng, inputs, outputs):
    """Random rows, and those where y times random signs is furthest from x times the weights times them (Freivalds)."""
    x, offsets, y = (np.asarray(part) for part in (inputs["x"][:], inputs["offsets"][:], outputs["y"]))
    count, width = y.shape
    signs = rng.choice(np.array([-1.0, 1.0]), width)
    distance = np.empty(count)
    for rows, matrix in _experts(offsets, inputs["weights"], inputs["d_in"]):
        distance[rows] = np.abs(y[rows].astype(np.float64) @ signs - x[rows].astype(np.float64) @ (matrix @ signs))
    rows = np.arange(count)
    if count > _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        # What is no number is the most suspicious of all; NumPy sorts NaN last.
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), np.argsort(distance)[-_SUSPICIOUS_ROWS:])
    values, magnitudes = np.empty((2, len(rows), width))
    for of_expert, matrix in _experts(offsets, inputs["weights"], inputs["d_in"]):
        here = slice(*np.searchsorted(rows, (of_expert.start, of_expert.stop)))
        if here.start == here.stop:
            continue
        part = x[rows[here]].astype(np.float64)
        values[here], magnitudes[here] = part @ matrix, np.abs(part) @ np.abs(matrix)
    return {"y": (rows, values, magnitudes)}
