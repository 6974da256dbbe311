"""Gravity among all pairs in NumPy, in float64."""

import numpy as np

#: Pairs computed at once: few enough to stay in a processor's cache.
_PAIRS = 1 << 16


def reference(bodies, softening, N, accelerations=None):
    return _accelerations(bodies, softening, signed=True)


def magnitude(bodies, softening, N, accelerations=None):
    return _accelerations(bodies, softening, signed=False)


def _accelerations(bodies, softening, *, signed):
    places, masses = bodies[:, :3].T.astype(np.float64), bodies[:, 3].astype(np.float64)
    if not signed:
        masses = np.abs(masses)
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
            if not signed:
                np.abs(apart, out=apart)
            result[part, axis] = np.einsum("ij,ij->i", weight, apart)
    return result
