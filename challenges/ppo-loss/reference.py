"""The clipped objective of PPO in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _mean(advantages, log_pi, log_pi_old, clip_eps):
    """(the loss, the mean magnitude of its terms)."""
    total = size = 0.0
    count, width = advantages.shape
    step = max(1, _CHUNK // width)
    low, high = 1.0 - np.float64(clip_eps), 1.0 + np.float64(clip_eps)
    for start in range(0, count, step):
        rows = slice(start, min(start + step, count))
        a = advantages[rows].astype(np.float64)
        difference = log_pi[rows].astype(np.float64)
        difference -= log_pi_old[rows]
        ratio = np.exp(difference)
        terms = np.minimum(ratio * a, np.clip(ratio, low, high) * a)
        total += terms.sum()
        # An exponential of an argument x is off by about u (|x| + 3).
        np.abs(difference, out=difference)
        difference += 6.0
        size += np.einsum("ij,ij->", np.abs(terms, out=terms), difference)
    return -total / advantages.size, size / advantages.size


def reference(advantages, log_pi, log_pi_old, clip_eps, B, S):
    return np.array([_mean(advantages, log_pi, log_pi_old, clip_eps)[0]])


def magnitude(advantages, log_pi, log_pi_old, clip_eps, B, S):
    return np.array([_mean(advantages, log_pi, log_pi_old, clip_eps)[1]])


def spot_check(rng, inputs, outputs):
    """The whole answer is one number."""
    mean, size = _mean(*(inputs[name] for name in ("advantages", "log_pi", "log_pi_old", "clip_eps")))
    return {"output": (np.arange(1), np.array([mean]), np.array([size]))}
