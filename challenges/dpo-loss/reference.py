"""The loss of direct preference optimisation in NumPy, in float64, some pairs at a time."""

import numpy as np

#: Pairs at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 16
_NAMES = ("chosen_logps", "rejected_logps", "chosen_ref_logps", "rejected_ref_logps")


def _mean(arrays, beta):
    """(the loss, the mean magnitude of its terms)."""
    total = size = 0.0
    beta, count = np.float64(beta), len(arrays[0])
    for start in range(0, count, _CHUNK):
        chosen, rejected, chosen_ref, rejected_ref = (a[start : start + _CHUNK].astype(np.float64) for a in arrays)
        z = beta * ((chosen - rejected) - (chosen_ref - rejected_ref))
        exponential = np.exp(-np.abs(z))
        terms = np.maximum(-z, 0.0) + np.log1p(exponential)
        total += terms.sum()
        # The logarithm's argument is off by a few u, and z by about u times the numbers that it is made of, which
        # counts as much as the loss depends on z.
        slope = np.where(z > 0, exponential, 1.0) / (1.0 + exponential)
        largest = np.abs(chosen) + np.abs(rejected) + np.abs(chosen_ref) + np.abs(rejected_ref)
        size += (4.0 * terms + 1.0 + slope * (beta * largest + np.abs(z))).sum()
    return total / count, size / count


def reference(chosen_logps, rejected_logps, chosen_ref_logps, rejected_ref_logps, beta, B):
    return np.array([_mean((chosen_logps, rejected_logps, chosen_ref_logps, rejected_ref_logps), beta)[0]])


def magnitude(chosen_logps, rejected_logps, chosen_ref_logps, rejected_ref_logps, beta, B):
    return np.array([_mean((chosen_logps, rejected_logps, chosen_ref_logps, rejected_ref_logps), beta)[1]])


def spot_check(rng, inputs, outputs):
    """The whole answer is one number."""
    mean, size = _mean([inputs[name] for name in _NAMES], inputs["beta"])
    return {"output": (np.arange(1), np.array([mean]), np.array([size]))}
