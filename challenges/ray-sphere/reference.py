"""The first sphere on each ray in NumPy, in float64, and a check that takes whatever single precision can come to.

With a = d·d, b = d·(c - o), q = |c - o|² - r² a ray o + t d meets the sphere where t = (b ± √(b² - a q)) / a. In
single precision, with u = 2^-24 and by whatever formula, b is off by at most 8u|d||c - o| and the discriminant by
48u|d|²(|c - o|² + r²): sums of the errors of differences, products and sums. That gives each root an interval. A
sphere is met possibly or surely, and a ray may be said to meet first what no sphere that is surely met comes before.
"""

import numpy as np

_UNIT = 2.0**-24
#: Pairs of a ray and a sphere at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 16
#: Up to so many rays all are looked at, else as many random ones.
_FEW = 1 << 16


def reference(origins, directions, centers, radii, R, S):
    distances, hits = np.full(len(origins), -1.0), np.full(len(origins), -1, np.int64)
    for rows in _chunks(np.arange(len(origins)), len(radii)):
        a, b, discriminant, _ = _equations(origins[rows], directions[rows], centers, radii)
        root = np.sqrt(np.maximum(discriminant, 0.0))
        with np.errstate(invalid="ignore", divide="ignore"):
            near, far = (b - root) / a, (b + root) / a
        first = np.where(near > 0, near, far)
        first[(discriminant < 0) | (first <= 0)] = np.inf
        sphere = first.argmin(axis=1)
        least = first[np.arange(len(rows)), sphere]
        met = np.isfinite(least)
        distances[rows[met]], hits[rows[met]] = least[met], sphere[met]
    return {"distances": distances, "hits": hits}


def check(inputs, outputs):
    distances, hits = outputs["distances"], outputs["hits"]
    count, spheres = len(hits), len(inputs["radii"])
    outside = np.flatnonzero((hits < -1) | (hits >= spheres))
    if outside.size:
        return f"hits[{outside[0]}] is {hits[outside[0]]}, which is no sphere; there are {spheres}"
    rows = np.arange(count) if count <= _FEW else np.sort(np.random.default_rng().integers(0, count, _FEW))
    for part in _chunks(rows, spheres):
        said = _complaint(part, distances[part].astype(np.float64), hits[part], inputs)
        if said is not None:
            return said
    return None


def _chunks(rows, spheres):
    step = max(1, _CHUNK // spheres)
    return (rows[start : start + step] for start in range(0, len(rows), step))


def _equations(origins, directions, centers, radii):
    """(a, b, discriminants, |d|²(|c - o|² + r²)), rays x spheres."""
    directions, radii = directions.astype(np.float64), radii.astype(np.float64)
    a = np.square(directions).sum(axis=1)[:, None]
    between = centers.astype(np.float64)[None] - origins.astype(np.float64)[:, None]
    b = np.einsum("rk,rsk->rs", directions, between)
    squares = np.square(between).sum(axis=2)
    return a, b, b * b - a * (squares - radii**2), a * (squares + radii**2)


def _complaint(rows, distances, hits, inputs):
    arrays = (inputs["origins"][rows], inputs["directions"][rows], inputs["centers"], inputs["radii"])
    a, b, discriminant, size = _equations(*arrays)
    doubt, doubt_of_b = 48 * _UNIT * size, 8 * _UNIT * np.sqrt(size)
    most, least = (np.sqrt(np.maximum(discriminant + sign * doubt, 0.0)) for sign in (1, -1))
    # Intervals of both roots.
    near = _widened((b - most - doubt_of_b) / a, (b - least + doubt_of_b) / a)
    far = _widened((b + least - doubt_of_b) / a, (b + most + doubt_of_b) / a)
    surely = (discriminant > doubt) & (far[0] > 0)
    bound = np.where(surely, np.where(near[0] > 0, near[1], far[1]), np.inf).min(axis=1)
    missed = hits < 0
    each, sphere = np.arange(len(rows)), np.maximum(hits, 0)
    t = distances[:, None]
    is_near = (near[1] > 0) & (near[0] <= t) & (t <= near[1])
    is_far = (near[0] <= 0) & (far[1] > 0) & (far[0] <= t) & (t <= far[1])
    is_root = ((discriminant >= -doubt) & (is_near | is_far))[each, sphere]
    wrong = np.where(missed, np.isfinite(bound) | (distances != -1.0), ~is_root | ~(distances <= bound))
    if not wrong.any():
        return None
    i = int(np.flatnonzero(wrong)[0])
    got = f"ray {rows[i]} has the distance {distances[i]:.7g} and the sphere {hits[i]}"
    if missed[i] and not np.isfinite(bound[i]):
        return f"{got}; the distance of a ray that hits nothing is -1"
    if not missed[i] and not is_root[i]:
        return f"{got}, which it does not meet there"
    return f"{got}, but meets a sphere at {bound[i]:.7g} at the latest"


def _widened(low, high):
    return low - 8 * _UNIT * np.abs(low), high + 8 * _UNIT * np.abs(high)
