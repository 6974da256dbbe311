"""Cross entropy and its gradient in NumPy, in float64, some rows at a time."""

import numpy as np

#: Logits at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def make_inputs(rng, N, C):
    return {"labels": rng.integers(0, C, N).astype(np.int32)}


def _parts(logits, labels):
    """Yields (rows, losses, their magnitudes, gradients, their magnitudes) for some rows at a time."""
    count, width = logits.shape
    step = max(1, _CHUNK // width)
    for start in range(0, count, step):
        rows = np.arange(start, min(start + step, count))
        part, right, line = logits[start : start + step].astype(np.float64), labels[rows], np.arange(len(rows))
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
        distance += doubt
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
    """Everything, some rows at a time."""
    for rows, losses, sizes, gradients, doubts in _parts(inputs["logits"], np.asarray(inputs["labels"][:])):
        yield {"losses": (rows, losses, sizes), "dlogits": (rows, gradients, doubts)}
