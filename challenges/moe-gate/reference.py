"""The gate of a mixture of experts in NumPy, in float64, some tokens at a time."""

import numpy as np

#: Logits at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _largest(logits, k):
    """The k largest of each row, in descending order."""
    width = logits.shape[1]
    picked = np.partition(logits, width - k, axis=1)[:, width - k :] if k < width else logits
    return np.sort(picked, axis=1)[:, ::-1].astype(np.float64)


def _weights(logits, k):
    """(weights, magnitudes) of some tokens."""
    values = _largest(logits, k)
    distance = values[:, :1] - values
    weights = np.exp(-distance)
    weights /= weights.sum(axis=1, keepdims=True)
    # An exponential of an argument x is off by about u (|x| + 3).
    return weights, weights * (6.0 + distance + (weights * distance).sum(axis=1, keepdims=True))


def _chunks(count, width):
    step = max(1, _CHUNK // width)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


def reference(logits, M, E, k):
    indices = np.argsort(-logits, axis=1, kind="stable")[:, : int(k)]
    return {"topk_weights": _weights(logits, int(k))[0], "topk_indices": indices.astype(np.int64)}


def magnitude(logits, M, E, k):
    return {"topk_weights": _weights(logits, int(k))[1]}


def check(inputs, outputs):
    """Whatever experts are chosen among equal logits: they are different ones, and theirs are the largest logits."""
    logits, indices, k = inputs["logits"], outputs["topk_indices"], int(inputs["k"])
    for rows in _chunks(*logits.shape):
        part, chosen = logits[rows], indices[rows].astype(np.int64)
        outside = (chosen < 0) | (chosen >= logits.shape[1])
        if outside.any():
            row, column = np.argwhere(outside)[0]
            return f"topk_indices[{rows.start + row}, {column}] is {chosen[row, column]}, which is no expert"
        ordered = np.sort(chosen, axis=1)
        twice = (ordered[:, 1:] == ordered[:, :-1]).any(axis=1)
        if twice.any():
            return f"topk_indices names an expert twice in row {rows.start + int(np.argmax(twice))}"
        wrong = np.take_along_axis(part, chosen, axis=1) != _largest(part, k)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            found = part[row, chosen[row, column]]
            return (
                f"topk_indices[{rows.start + row}, {column}] is {chosen[row, column]}, whose logit {found:.6g} is not "
                f"number {column + 1} in descending order"
            )
    return None


def spot_check(rng, inputs, outputs):
    """All weights, some tokens at a time; check() looks at the indices."""
    logits, k = inputs["logits"], int(inputs["k"])
    for rows in _chunks(*logits.shape):
        yield {"topk_weights": (np.arange(rows.start, rows.stop), *_weights(logits[rows], k))}
