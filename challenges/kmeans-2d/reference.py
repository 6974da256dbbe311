"""Lloyd's algorithm in NumPy, in float64, and a check that allows what near ties decide.

A point about as near to two centroids may get either, and all that follows differs. Where near ties are few, the check
follows every way that they can go, and one of these must be the kernel's. Where they are many, it bounds how far they
can move a centroid: little where clusters are large, as those of the cases with so many points are.

How far centroids may be off then, for a million points in 8 clusters and 7 rounds, of 12 draws: sums in single
precision in one accumulator moved a boundary by 0.01 to 0.21 (sums of blocks by 0.02 at most), rounds that looked at
half of the points by 2.0 to 15. The check allows 0.8 to 2.0, of which 0.6 is ``_ROUNDS`` and the rest what near ties
move.
"""

import itertools
from dataclasses import dataclass

import numpy as np

#: Points whose distances are computed at once: few enough to stay in a processor's cache.
_POINTS = 1 << 14
#: How far single-precision centroids may be off, as a share of the extent of the points.
_ROUNDING = 1e-4
#: A point whose two nearest centroids differ by less than this share of the extent may get either.
_TIE = 2e-5
#: So many ways at a time are followed.
_WAYS = 64
#: Near ties go either way independently: so many times the root of the sum of the squares of what they move is allowed,
#: which covers all going the same way where a cluster has up to 16.
_SPREAD = 4.0
#: The standard error of a mean of n numbers in one accumulator is u sqrt(n) / 3 of them; rounds pass it on, and so many
#: times that of the largest cluster is allowed.
_ROUNDS = 32.0


@dataclass
class _Result:
    labels: np.ndarray
    places: np.ndarray  # (k, 2), after the last round
    places_before: np.ndarray  # what the labels belong to
    ties: int  # how often, over all rounds, a point was about as near to another centroid
    moved: np.ndarray  # (k,), the sum over the ties of a cluster of the square of what one moves its centroid
    largest: int  # the largest number of points that a cluster ever had


def reference(data_x, data_y, initial_centroid_x, initial_centroid_y, sample_size, k, max_iterations, **_):
    result = _lloyd(data_x, data_y, initial_centroid_x, initial_centroid_y, max_iterations)
    return {
        "labels": result.labels,
        "final_centroid_x": result.places[:, 0],
        "final_centroid_y": result.places[:, 1],
    }


def check(inputs, outputs):
    points = np.stack([np.asarray(inputs["data_x"]), np.asarray(inputs["data_y"])], 1).astype(np.float64)
    labels = np.asarray(outputs["labels"]).reshape(-1)
    ends = [np.asarray(outputs[f"final_centroid_{axis}"]).reshape(-1) for axis in "xy"]
    places = np.stack(ends, 1).astype(np.float64)
    k = len(places)
    if ((labels < 0) | (labels >= k)).any():
        where = int(np.flatnonzero((labels < 0) | (labels >= k))[0])
        return f"labels[{where}] is {labels[where]}, not a cluster from 0 to {k - 1}"
    starts = np.stack([np.asarray(inputs[f"initial_centroid_{axis}"]) for axis in "xy"], 1).astype(np.float64)
    ways = _ways(points, starts, inputs["max_iterations"])
    if ways is None:
        return _off_by_more_than_ties(points, starts, inputs["max_iterations"], labels, places)
    complaints = [_off_a_way(points, *way, labels, places) for way in ways]
    return None if None in complaints else complaints[0]


def _off_a_way(points, wanted, at, labels, places):
    """What differs from one way: its labels and its centroids at the end."""
    if (labels != wanted).any():
        i = int(np.flatnonzero(labels != wanted)[0])
        return f"labels[{i}] is {labels[i]}, but the nearest centroid of that point is {wanted[i]}"
    off = ~(np.abs(places - at) <= _ROUNDING * _extent(points))
    if off.any():
        j, axis = (int(index) for index in np.argwhere(off)[0])
        what = "the mean of its points" if (wanted == j).any() else "where a cluster without points stays"
        return f"final_centroid_{'xy'[axis]}[{j}] is {places[j, axis]:.6g}, but {what} is {at[j, axis]:.6g}"
    return None


def _off_by_more_than_ties(points, starts, rounds, labels, places):
    k = len(places)
    result = _lloyd(points[:, 0], points[:, 1], starts[:, 0], starts[:, 1], rounds)
    extent = _extent(points)
    # What ties move, and what sums lose; of small clusters all of it may come from one point.
    moved = _SPREAD * np.sqrt(result.moved)
    rounded = extent * (_TIE + _ROUNDS * 2.0**-24 * np.sqrt(result.largest) / 3)
    # The centroids are the means of the points that have their labels, whatever near ties decided.
    counts = np.bincount(labels, minlength=k)
    for axis, name in enumerate("xy"):
        sums = np.bincount(labels, points[:, axis], k)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), result.places[:, axis])
        # A cluster without points at the end may have moved before.
        off = ~(np.abs(places[:, axis] - means) <= extent * _ROUNDING + np.where(counts > 0, 0.0, moved))
        if off.any():
            j = int(np.flatnonzero(off)[0])
            what = "the mean of its points" if counts[j] else "where a cluster without points stays"
            return f"final_centroid_{name}[{j}] is {places[j, axis]:.6g}, but {what} is {means[j]:.6g}"
    # The two centroids that a point lies between may both have moved.
    chosen = np.hypot(*(points - result.places_before[labels]).T)
    best = np.hypot(*(points - result.places_before[result.labels]).T)
    allowed = 2 * rounded + (moved[labels] + moved[result.labels])
    off = (labels != result.labels) & ~(chosen - best <= allowed)
    # Of centroids at the same place the first one counts.
    same = (result.places_before[labels] == result.places_before[result.labels]).all(axis=1)
    off |= (labels != result.labels) & same
    if result.ties == 0:
        off |= labels != result.labels
    if off.any():
        i = int(np.flatnonzero(off)[0])
        return f"labels[{i}] is {labels[i]}, but the nearest centroid of that point is {result.labels[i]}"
    return None


def _extent(points):
    return max(1.0, float(np.abs(points).max()), float(np.ptp(points, axis=0).max()))


def _ways(points, places, rounds):
    """(labels, centroids) at the end of each way that near ties can go, the exact one first; None if they are many."""
    tie = _TIE * _extent(points)
    ways = {places.tobytes(): (None, places)}
    for _ in range(int(rounds)):
        found = {}
        for _, at in ways.values():
            labels, ties = _assigned(points, at, tie, most=int(np.log2(_WAYS)))
            if 2.0 ** len(ties) > _WAYS:
                return None
            for choice in itertools.product(*((int(labels[i]), *others) for i, others in ties)):
                chosen = labels.copy()
                chosen[[i for i, _ in ties]] = choice
                moved = _means(points, chosen, at)
                found.setdefault(moved.tobytes() + chosen.tobytes(), (chosen, moved))
                if len(found) > _WAYS:
                    return None
        ways = found
    return list(ways.values())


def _means(points, labels, places):
    """The centroids of the clusters; those without points stay where they are."""
    counts = np.bincount(labels, minlength=len(places))
    sums = np.stack([np.bincount(labels, points[:, axis], len(places)) for axis in range(2)], 1)
    return np.where(counts[:, None] > 0, sums / np.maximum(counts, 1)[:, None], places)


def _lloyd(x, y, initial_x, initial_y, rounds):
    points = np.stack([x, y], 1).astype(np.float64)
    places = np.stack([initial_x, initial_y], 1).astype(np.float64)
    tie = _TIE * _extent(points)
    k = len(places)
    ties, moved, largest = 0, np.zeros(k), 0
    for _ in range(int(rounds)):
        labels, found = _assigned(points, places, tie)
        ties += len(found)
        before = places
        counts = np.bincount(labels, minlength=k)
        largest = max(largest, int(counts.max()))
        for i, others in found:
            for j in (int(labels[i]), *others):
                moved[j] += (np.hypot(*(points[i] - places[j])) / max(counts[j], 1)) ** 2
        places = _means(points, labels, places)
    return _Result(labels, places, before, ties, moved, largest)


def _assigned(points, places, tie, most=np.inf):
    """The nearest place of each point, and its ties (``_nearest``); labels are missing after ``most`` ties."""
    labels, ties = np.zeros(len(points), np.int64), []
    for start in range(0, len(points), _POINTS):
        part = slice(start, start + _POINTS)
        labels[part], found = _nearest(points[part], places, tie)
        ties += [(start + i, others) for i, others in found]
        if len(ties) > most:
            break
    return labels, ties


def _nearest(points, places, tie):
    """The nearest place of each point, the first of several, and (point, other places about as near) of some."""
    squares = (places[:, 0, None] - points[:, 0]) ** 2
    squares += (places[:, 1, None] - points[:, 1]) ** 2
    labels = squares.argmin(axis=0)
    nearest = squares[labels, np.arange(len(points))]
    within = squares <= (np.sqrt(nearest) + tie) ** 2
    suspects = np.flatnonzero(within.sum(axis=0) > 1)
    others = []
    for i in suspects:
        # Of places that coincide the first one counts, in any precision: there is no tie between them.
        near = places[np.flatnonzero(within[:, i])]
        _, first = np.unique(near, axis=0, return_index=True)
        js = np.flatnonzero(within[:, i])[np.sort(first)]
        if len(js) > 1:
            others.append((int(i), tuple(int(j) for j in js if j != labels[i])))
    return labels, others
