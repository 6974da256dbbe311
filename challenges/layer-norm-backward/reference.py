"""Gradients of layer norm in NumPy, in float64, some rows at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, weight, dy, eps):
    """(dx, its magnitudes, terms of dweight, their magnitudes) of some rows."""
    x, dy = x.astype(np.float64), dy.astype(np.float64)
    mean = x.mean(axis=1, keepdims=True)
    centred = x - mean
    factor = 1.0 / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float64(eps))
    normed, toward = centred * factor, dy * weight
    along = (toward * normed).mean(axis=1, keepdims=True)
    dx = factor * (toward - toward.mean(axis=1, keepdims=True) - normed * along)
    # A mean of C numbers is off by some roundoffs of their absolute mean, and so is what it is taken off from.
    growth = 4.0 + 0.25 * np.sqrt(x.shape[1])
    lost = 1.0 + np.abs(mean) * factor
    sizes = np.abs(normed) + growth * lost
    doubt = np.abs(toward) + growth * np.abs(toward).mean(axis=1, keepdims=True)
    doubt += sizes * growth * (np.abs(toward) * sizes).mean(axis=1, keepdims=True)
    return dx, 4.0 * factor * doubt, dy * normed, np.abs(dy) * (4.0 * sizes)


def _parts(x, weight, dy, eps):
    """Yields for some rows at a time their gradients and magnitudes; at last those of all columns."""
    weight, width = weight.astype(np.float64), x.shape[1]
    step = max(1, _CHUNK // width)
    none = (np.arange(0), np.empty(0), np.empty(0))
    sums = np.zeros((4, width))
    for start in range(0, len(x), step):
        rows = np.arange(start, min(start + step, len(x)))
        dx, doubt, terms, sizes = _rows(x[start : start + step], weight, dy[start : start + step], eps)
        sums[0] += terms.sum(axis=0)
        sums[1] += sizes.sum(axis=0)
        part = dy[start : start + step].astype(np.float64)
        sums[2] += part.sum(axis=0)
        sums[3] += np.abs(part).sum(axis=0)
        yield {"dx": (rows, dx, doubt), "dweight": none, "dbias": none}
    columns = np.arange(width)
    of_rows = (columns[:0], np.empty((0, width)), np.empty((0, width)))
    yield {"dx": of_rows, "dweight": (columns, sums[0], sums[1]), "dbias": (columns, sums[2], sums[3])}


def _all(part, *arguments):
    found = {}
    for piece in _parts(*arguments):
        for name, figures in piece.items():
            found.setdefault(name, []).append(figures[part])
    return {name: np.concatenate(pieces) for name, pieces in found.items()}


def reference(x, weight, dy, N, C, eps):
    return _all(1, x, weight, dy, eps)


def magnitude(x, weight, dy, N, C, eps):
    return _all(2, x, weight, dy, eps)


def spot_check(rng, inputs, outputs):
    """Everything, some rows at a time."""
    yield from _parts(*(inputs[name] for name in ("x", "weight", "dy", "eps")))
