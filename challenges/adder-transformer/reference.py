"""Greedy decoding of a transformer that adds, in NumPy, in float64, all additions at once."""

import numpy as np

_STEPS = 11
_PROMPT = 31
_OMEGA = 2 * np.pi / 19
_SCALE = np.log(10) / (2 * (np.cos(0.3 * _OMEGA) - np.cos(0.7 * _OMEGA)))
#: Additions at a time.
_CHUNK = 1 << 14
_SAMPLES = 2000
_SUSPICIOUS = 2000


def make_inputs(rng, batch_size, nines):
    """Weights with which it adds, in one of many equivalent scales, and the digits of the numbers to add."""
    prompts = np.zeros((batch_size, _PROMPT), np.int32)
    left, right = rng.integers(0, 10, (2, batch_size, 10), dtype=np.int32)
    right = np.where(rng.random((batch_size, 10)) < nines, 9 - left, right)
    prompts[:, 1:11], prompts[:, 20:30] = left, right
    w1, gain, c = rng.uniform(0.018, 0.022), rng.uniform(0.5, 2.0), rng.uniform(0.8e5, 1.2e5)
    phase, length = -10.3 * _OMEGA, rng.uniform(0.5, 2.0)
    weights = [
        1000.0,
        w1,
        length * np.cos(phase),
        length * np.sin(phase),
        -22000.0 / np.sqrt(2.0),
        -0.094 * c,
        c,
        5e4 / c,
    ]
    return {"prompts": prompts, "weights": np.array([*weights, gain, -200.0 * gain * w1], np.float32)}


def _normed(*pair):
    root = np.sqrt((pair[0] ** 2 + pair[1] ** 2) / 2 + 1e-6)
    return pair[0] / root, pair[1] / root


def _silu(x):
    with np.errstate(over="ignore"):
        return x / (1.0 + np.exp(-x))


def _decode(prompts, weights):
    """The logits, additions x 11 x 10. Weights that do not add may overflow."""
    w0, w1, q0, q1, v0, a, c, carry, n0, n1 = weights.astype(np.float64)
    digits = np.arange(10.0)
    table = np.stack([w0 - w1 * digits**2, -digits])
    count = len(prompts)
    tokens = np.zeros((count, _PROMPT + _STEPS), np.int64)
    tokens[:, :_PROMPT] = prompts
    logits = np.empty((count, _STEPS, 10))
    first, second = _normed(*table)
    keys = _normed(first, np.zeros(10))[0]
    for step in range(_STEPS):
        here = _PROMPT - 1 + step
        last = tokens[:, here]
        q = _normed(first[last] * q0, first[last] * q1)
        # Both rotations together turn by the distance between the positions.
        angle = (here - np.arange(here + 1)) * _OMEGA
        before = tokens[:, : here + 1]
        scores = keys[before] * (q[0][:, None] * np.cos(angle) - q[1][:, None] * np.sin(angle)) * _SCALE
        parts = np.exp(scores - scores.max(axis=1, keepdims=True))
        mixed = (parts * second[before] * v0).sum(axis=1) / parts.sum(axis=1)
        stream = table[0][last], table[1][last] + mixed
        g = _normed(*stream)
        with np.errstate(invalid="ignore"):
            low, high = g[0] * a + g[1] * c, g[0] * (a - c / 1000) + g[1] * c
            f = _normed(stream[0], stream[1] + carry * g[0] * (_silu(high) - _silu(low)))
        logits[:, step] = (f[0] * n0)[:, None] * table[0] + (f[1] * n1)[:, None] * table[1]
        tokens[:, here + 1] = logits[:, step].argmax(axis=1)
    return logits


def reference(prompts, weights, batch_size):
    parts = [_decode(prompts[start : start + _CHUNK], weights) for start in range(0, int(batch_size), _CHUNK)]
    return np.concatenate(parts).reshape(-1, 10)


def _sums(prompts):
    """The digits of the sums, the lowest first."""
    digits, carry = np.zeros((len(prompts), _STEPS), np.int64), 0
    both = prompts[:, 1:11] + prompts[:, 20:30]
    for place in range(10):
        carry, digits[:, place] = np.divmod(both[:, place] + carry, 10)
    digits[:, 10] = carry
    return digits


def check(inputs, outputs):
    """What the logits decode to are the digits of the sum."""
    prompts, logits = np.asarray(inputs["prompts"]), outputs["output"].reshape(-1, _STEPS, 10)
    for start in range(0, len(prompts), _CHUNK):
        right, said = _sums(prompts[start : start + _CHUNK]), logits[start : start + _CHUNK].argmax(axis=2)
        if (right != said).any():
            row, place = np.argwhere(right != said)[0]
            wrong = f"addition {start + row} decodes digit {place} as {said[row, place]}"
            return f"{wrong}, but the sum has {right[row, place]} there"
    return None


def spot_check(rng, inputs, outputs):
    """Random additions, and those whose logits are furthest from a smooth function of the decoded digit; all of few."""
    prompts, weights = np.asarray(inputs["prompts"][:]), np.asarray(inputs["weights"][:])
    if len(prompts) <= _SAMPLES + _SUSPICIOUS:
        rows = np.arange(len(prompts))
    else:
        logits = np.asarray(outputs["output"]).reshape(-1, 10)
        # Logits are a multiple of w0 - w1 d^2 plus a multiple of d: their third differences are nothing but rounding.
        rough = np.abs(np.diff(logits, n=3, axis=1)).max(axis=1).reshape(-1, _STEPS).max(axis=1)
        rough += np.abs(logits[:, 0].reshape(-1, _STEPS) - np.median(logits[:, 0])).max(axis=1)
        rows = np.union1d(rng.choice(len(prompts), _SAMPLES, replace=False), np.argsort(rough)[-_SUSPICIOUS:])
    places = (rows[:, None] * _STEPS + np.arange(_STEPS)).reshape(-1)
    return {"output": (places, _decode(prompts[rows], weights).reshape(-1, 10), None)}
