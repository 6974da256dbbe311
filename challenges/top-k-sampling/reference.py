"""Draws from the k most probable tokens in NumPy, in float64, and a check that takes every right one."""

import numpy as np

#: Logits at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 19
#: How far single precision may put a step of the cumulative probabilities: rounding k weights, each off by a few
#: roundoffs for its exponential, and adding them up moves a step by some 2e-6 for 1024 weights.
_NEAR = 2e-5
#: Scaled logits are rounded before the largest is taken off: so many roundoffs of the largest one.
_SCALED = 4 * 2.0**-24


def make_inputs(rng, batch, vocab_size, k, distance, **_):
    logits = rng.normal(0, 2.5, (batch, vocab_size)).astype(np.float32)
    if distance:
        for row in logits:
            largest = np.argpartition(row, vocab_size - k)[vocab_size - k :]
            places = rng.integers(0, vocab_size - distance * (k - 1)) + distance * np.arange(k)
            # What stood there goes to where the largest were; a place that has one of them already is left as it is.
            free, moved = np.setdiff1d(places, largest), np.setdiff1d(largest, places)
            row[free], row[moved] = row[moved], row[free]
    return {"logits": logits}


def _chunks(logits):
    step = max(1, _CHUNK // logits.shape[1])
    return (slice(start, min(start + step, len(logits))) for start in range(0, len(logits), step))


def _top(logits, k):
    """The k largest logits of each row, in descending order, in float64."""
    width = logits.shape[1]
    largest = np.partition(logits, width - k, axis=1)[:, width - k :] if k < width else logits
    return np.sort(largest, axis=1)[:, ::-1].astype(np.float64)


def reference(logits, uniforms, batch, vocab_size, k, temperature):
    order = np.argsort(-logits, axis=1, kind="stable")[:, : int(k)]
    scaled = np.take_along_axis(logits, order, axis=1).astype(np.float64) / max(float(temperature), 1e-30)
    mass = np.cumsum(np.exp(scaled - scaled[:, :1]), axis=1)
    ranks = (mass <= uniforms[:, None] * mass[:, -1:]).sum(axis=1).clip(0, int(k) - 1)
    return order[np.arange(len(order)), ranks].astype(np.int64)


def check(inputs, outputs):
    """Every token whose stretch of the cumulative probabilities the random number hits; equal logits in any order."""
    logits, uniforms, tokens = inputs["logits"], np.asarray(inputs["uniforms"][:]), outputs["tokens"]
    k, temperature = int(inputs["k"]), float(inputs["temperature"])
    outside = np.flatnonzero((tokens < 0) | (tokens >= logits.shape[1]))
    if len(outside):
        return f"tokens[{outside[0]}] is {tokens[outside[0]]}, which is no token"
    for rows in _chunks(logits):
        part = np.asarray(logits[rows])
        picked = part[np.arange(len(part)), tokens[rows]].astype(np.float64)[:, None]
        top = _top(part, k)
        weights = np.exp((top - top[:, :1]) / temperature)
        weights /= weights.sum(axis=1, keepdims=True)
        begin = (weights * (top > picked)).sum(axis=1)
        end = (weights * (top >= picked)).sum(axis=1)
        near = _NEAR + _SCALED * np.abs(top[:, [0, -1]]).max(axis=1) / temperature
        wanted = uniforms[rows].astype(np.float64)
        for row in np.flatnonzero((picked[:, 0] < top[:, -1]) | (wanted < begin - near) | (wanted > end + near)):
            at = f"tokens[{rows.start + row}] is {tokens[rows][row]}"
            if picked[row, 0] < top[row, -1]:
                return f"{at}, which is not among the {k} most probable ones"
            return f"{at}, whose stretch is {begin[row]:.6f} to {end[row]:.6f}; the random number is {wanted[row]:.6f}"
    return None
