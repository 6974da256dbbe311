"""Gravity among all pairs in NumPy, in float64."""

import numpy as np

#: Pairs computed at once: few enough to stay in a processor's cache.
_PAIRS = 1 << 16


def reference(bodies, softening, N, accelerations=None):
    return _for_each_body(bodies, softening, lambda weight, apart: np.einsum("ij,ij->i", weight, apart))


def magnitude(bodies, softening, N, accelerations=None):
    # The forces of a few near bodies outweigh all others together. Where they cancel, one accumulator stays large while
    # thousands of small forces are added to it, and each addition rounds by a part of what it holds: an error that the
    # sum of the absolute forces does not bound.
    held = 0.5 * np.sqrt(N)

    def bound(weight, apart):
        forces = np.abs(weight * apart)
        return forces.sum(axis=1) + held * np.sqrt(np.einsum("ij,ij->i", forces, forces))

    return _for_each_body(bodies, softening, bound)


def _for_each_body(bodies, softening, combine):
    """Combines the weights of all bodies, and their distances along an axis, to a number for each body and axis."""
    places, masses = bodies[:, :3].T.astype(np.float64), bodies[:, 3].astype(np.float64)
    result = np.empty((len(bodies), 3))
    step = max(1, _PAIRS // len(bodies))
    for start in range(0, len(bodies), step):
        part = slice(start, start + step)
        x, y, z = (axis[None] - axis[part, None] for axis in places)
        square = x * x
        square += y * y
        square += z * z
        square += float(softening) ** 2
        weight = masses / (square * np.sqrt(square))
        for axis, apart in enumerate((x, y, z)):
            result[part, axis] = combine(weight, apart)
    return result
