"""Cross entropy and its gradient in NumPy, in float64, some rows at a time."""

import numpy as np

#: Logits at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17
#: Of more logits, the check of a timed call looks at this many rows.
_FEW = 1 << 20
_ROWS = 256


def make_inputs(rng, N, C):
    return {"labels": rng.integers(0, C, N).astype(np.int32)}


def _parts(logits, labels, asked=None):
    """Yields (rows, losses, their magnitudes, gradients, their magnitudes), some of the rows asked for at a time."""
    count, width = logits.shape
    asked = np.arange(count) if asked is None else asked
    step = max(1, _CHUNK // width)
    for start in range(0, len(asked), step):
        rows = asked[start : start + step]
        part, right, line = logits[rows].astype(np.float64), labels[rows], np.arange(len(rows))
        largest = part.max(axis=1, keepdims=True)
        distance = largest - part
        weights = np.exp(-distance)
        total = weights.sum(axis=1, keepdims=True)
        weights /= total
        losses = np.log(total[:, 0]) + distance[line, right]
        # An exponential of an argument x is off by about u (|x| + 3), and so is their sum in the mean.
        distance += 6.0
        doubt = (weights * distance).sum(axis=1, keepdims=True)
        sizes = np.abs(largest[:, 0]) + np.abs(part[line, right]) + np.abs(losses) + doubt[:, 0] + np.sqrt(width)
        # A kernel may keep the logarithm of the sum only, which is as large as the largest logit.
        distance += doubt + np.abs(largest)
        distance *= weights
        distance[line, right] += 1.0
        weights[line, right] -= 1.0
        yield rows, losses, sizes, weights / count, distance / count


def _all(losses, gradients, logits, labels):
    parts = list(_parts(logits, labels))
    places = {"losses": losses, "dlogits": gradients}
    return {name: np.concatenate([part[i] for part in parts]) for name, i in places.items()}


def reference(logits, labels, N, C):
    return _all(1, 3, logits, labels)


def magnitude(logits, labels, N, C):
    return _all(2, 4, logits, labels)


def spot_check(rng, inputs, outputs):
    """Random rows, with the first and the last; all rows where there are few logits."""
    logits, labels = inputs["logits"], np.asarray(inputs["labels"][:])
    asked = np.arange(len(labels))
    if logits.size > _FEW:
        asked = np.union1d(rng.choice(len(asked), min(len(asked), _ROWS), replace=False), asked[[0, -1]])
    for rows, losses, sizes, gradients, doubts in _parts(logits, labels, asked):
        yield {"losses": (rows, losses, sizes), "dlogits": (rows, gradients, doubts)}
