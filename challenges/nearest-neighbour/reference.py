"""The nearest other point of each point, in NumPy, and a check that accepts each of several that are equally near."""

import numpy as np

#: The relative error of a squared distance in single precision: of differences, their squares and two additions.
_ERROR = 8 * 2.0**-24
#: Distances computed at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 18
#: Up to so many points, all pairs are looked at.
_FEW = 4096


def reference(points, N):
    return _nearest(points.astype(np.float64))[0]


def check(inputs, outputs):
    points, found = inputs["points"].astype(np.float64), outputs["indices"].astype(np.int64)
    count = len(points)
    outside = np.flatnonzero((found < 0) | (found >= count))
    if outside.size:
        return f"indices[{outside[0]}] is {found[outside[0]]}, which is no point; there are {count}"
    own = np.flatnonzero(found == np.arange(count))
    if own.size:
        return f"indices[{own[0]}] is {own[0]}: the point itself, not another one"
    claimed = np.square(points - points[found]).sum(axis=1)
    nearest, least = _nearest(points)
    wrong = np.flatnonzero(claimed > least * (1 + _ERROR))
    if not wrong.size:
        return None
    i = wrong[0]
    return (
        f"{wrong.size} of {count} indices are wrong; indices[{i}] is {found[i]}, "
        f"at a distance of {claimed[i] ** 0.5:.7g}, but point {nearest[i]} is at {least[i] ** 0.5:.7g}"
    )


def _nearest(points):
    """(numbers of the nearest, squared distances) of all points; of several equally near ones, any."""
    return (_nearest_of_all if len(points) <= _FEW else _nearest_by_cells)(points, np.arange(len(points)))


def _nearest_of_all(points, which):
    """(numbers of the nearest, squared distances) for some points, among all; the lowest number where several are."""
    nearest, least = np.zeros(len(which), np.int64), np.full(len(which), np.inf)
    step = max(1, _CHUNK // len(points))
    for start in range(0, len(which), step):
        part = which[start : start + step]
        distance = sum(np.square(points[part, axis, None] - points[:, axis]) for axis in range(3))
        distance[np.arange(len(part)), part] = np.inf
        nearest[start : start + step] = distance.argmin(axis=1)
        least[start : start + step] = distance.min(axis=1)
    return nearest, least


def _nearest_by_cells(points, which):
    """The same for all points, by a grid of cells with a point or two each: only the 27 cells around are searched.

    A neighbour nearer than a cell is wide lies in one of them. Points without such a neighbour are compared with all.
    """
    count = len(points)
    per_axis = max(3, int((count / 2) ** (1 / 3)))
    low = points.min(axis=0)
    width = (points.max(axis=0) - low).max() / per_axis * (1 + 1e-9)
    # A margin of one cell on every side, so that no search leaves the grid.
    cells = ((points - low) / width).astype(np.int64) + 1
    side = per_axis + 2
    keys = (cells[:, 0] * side + cells[:, 1]) * side + cells[:, 2]
    order = np.argsort(keys, kind="stable")
    begins = np.searchsorted(keys[order], np.arange(side**3 + 1))
    nearest, least = np.zeros(count, np.int64), np.full(count, np.inf)
    for shift in np.ndindex(3, 3, 3):
        there = keys + ((shift[0] - 1) * side + shift[1] - 1) * side + shift[2] - 1
        first, members = begins[there], begins[there + 1] - begins[there]
        for number in range(members.max()):
            here = np.flatnonzero(members > number)
            other = order[first[here] + number]
            distance = np.square(points[here] - points[other]).sum(axis=1)
            better = (distance < least[here]) & (other != here)
            nearest[here[better]], least[here[better]] = other[better], distance[better]
    far = np.flatnonzero(least > width * width)
    if far.size:
        nearest[far], least[far] = _nearest_of_all(points, far)
    return nearest, least
