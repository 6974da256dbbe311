"""Mean cross entropy in NumPy, in float64, some rows at a time."""

import numpy as np

#: Logits at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
#: Above this size single-precision exponentials, added in float64, are exact enough.
_LARGE = 1 << 22


def make_inputs(rng, N, C):
    return {"true_labels": rng.integers(0, C, N).astype(np.int32)}


def _mean(logits, labels):
    """(the mean loss, the mean magnitude of a row's loss)."""
    total = size = 0.0
    step = max(1, _CHUNK // logits.shape[1])
    kind = np.float32 if logits.size > _LARGE else np.float64
    for start in range(0, len(logits), step):
        part = logits[start : start + step].astype(kind)
        largest = part.max(axis=1, keepdims=True).astype(np.float64)
        right = part[np.arange(len(part)), labels[start : start + step]].astype(np.float64)
        part -= largest.astype(kind)
        np.exp(part, out=part)
        logarithms = np.log(part.sum(axis=1, dtype=np.float64))
        losses = largest[:, 0] - right + logarithms
        total += losses.sum()
        # The logarithm of a sum is off by the sum's relative error, some u sqrt(C) and a few more for the exponentials;
        # by three times as much where one accumulator adds many that are small beside it.
        growth = 8.0 + 3.0 * np.sqrt(logits.shape[1])
        size += (np.abs(largest[:, 0]) + np.abs(right) + np.abs(logarithms) + growth).sum()
    return total / len(logits), size / len(logits)


def reference(logits, true_labels, N, C):
    return np.array([_mean(logits, true_labels)[0]])


def magnitude(logits, true_labels, N, C):
    return np.array([_mean(logits, true_labels)[1]])


def spot_check(rng, inputs, outputs):
    """The whole answer is one number."""
    mean, size = _mean(inputs["logits"], inputs["true_labels"].astype(np.int64))
    return {"loss": (np.arange(1), np.array([mean]), np.array([size]))}
