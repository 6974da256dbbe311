"""The loss of group relative policy optimisation in NumPy, in float64, some answers at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17
_NAMES = ("rewards", "log_pi", "log_pi_old", "log_ref", "clip_eps", "beta")


def _mean(rewards, log_pi, log_pi_old, log_ref, clip_eps, beta):
    """(the loss, the mean magnitude of its terms)."""
    rewards = rewards.astype(np.float64)
    deviation = rewards.std(axis=1, keepdims=True) + 1e-8
    centred = rewards - rewards.mean(axis=1, keepdims=True)
    advantages = (centred / deviation).reshape(-1, 1)
    # A mean in single precision is off by a few u of the rewards' size; the quotient carries that on.
    largest = np.abs(rewards).max(axis=1, keepdims=True)
    doubt = ((4.0 * largest + 8.0 * np.abs(centred)) / deviation).reshape(-1, 1)
    # Equal rewards have an advantage of exactly 0 where their sum is exact, as it is in the case that has them.
    doubt[np.repeat((rewards == rewards[:, :1]).all(axis=1), rewards.shape[1])] = 0.0
    low, high, beta = 1.0 - np.float64(clip_eps), 1.0 + np.float64(clip_eps), np.float64(beta)
    total = size = 0.0
    count, width = log_pi.shape
    step = max(1, _CHUNK // width)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        new = log_pi[rows].astype(np.float64)
        difference = new - log_pi_old[rows]
        ratio = np.exp(difference)
        kept = np.clip(ratio, low, high)
        gains = np.minimum(ratio * advantages[rows], kept * advantages[rows])
        distance = log_ref[rows] - new
        exponential = np.exp(distance)
        total += gains.sum() - beta * (exponential - distance - 1.0).sum()
        # An exponential of an argument x is off by about u (|x| + 3).
        size += (np.abs(gains) * (6.0 + np.abs(difference))).sum()
        size += (np.where(np.abs(gains) >= np.abs(kept * advantages[rows]), ratio, kept) * doubt[rows]).sum()
        size += beta * (exponential * (4.0 + np.abs(distance)) + np.abs(distance) + 1.0).sum()
    return -total / log_pi.size, size / log_pi.size


def reference(rewards, log_pi, log_pi_old, log_ref, clip_eps, beta, B, G, S):
    return np.array([_mean(rewards, log_pi, log_pi_old, log_ref, clip_eps, beta)[0]])


def magnitude(rewards, log_pi, log_pi_old, log_ref, clip_eps, beta, B, G, S):
    return np.array([_mean(rewards, log_pi, log_pi_old, log_ref, clip_eps, beta)[1]])


def spot_check(rng, inputs, outputs):
    """The whole answer is one number."""
    mean, size = _mean(*(inputs[name] for name in _NAMES))
    return {"output": (np.arange(1), np.array([mean]), np.array([size]))}
