"""Escape times in NumPy, in float64, and a check that takes every count that single precision can come to.

An orbit in single precision drifts away from the exact one: an error e of z becomes 2|z|e + e² in the next step,
which adds its own rounding, at most 12u|z|² + 2u|z'| for any of the usual formulas (three products instead of four
included), with u = 2^-24. So the square of |z| is known within 2|z|e + e² + 8u|z|², and an orbit may leave at every
step at which the square, give or take so much, lies beyond 4, and has to leave at the first at which it surely does.
Steps among multiples of 2^-8 round nothing: all products and sums are multiples of 2^-16 and below 2^8.
"""

import numpy as np

_UNIT = 2.0**-24
#: Multiples of the inverse are such numbers.
_FINE = 2.0**8
#: With an error like this nothing more can be said of an orbit.
_LOST = 4.0
#: Pixels at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 14
#: Up to so many pixels all are looked at, else as many random ones.
_FEW = 1 << 17


def reference(xs, ys, width, height, max_iterations):
    real, imaginary = xs.astype(np.float64), ys.astype(np.float64)
    counts = np.empty((len(imaginary), len(real)), np.int64)
    step = max(1, _CHUNK // len(real))
    for start in range(0, len(imaginary), step):
        part = imaginary[start : start + step]
        c = (real[None, :] + 1j * part[:, None]).reshape(-1)
        counts[start : start + step] = _escapes(c, int(max_iterations)).reshape(len(part), -1)
    return counts


def _escapes(c, limit):
    counts = np.full(len(c), limit, np.int64)
    places, z = np.arange(len(c)), np.zeros_like(c)
    for step in range(1, limit):
        z = z * z + c
        out = z.real**2 + z.imag**2 > 4.0
        counts[places[out]] = step
        places, z, c = places[~out], z[~out], c[~out]
        if not places.size:
            break
    return counts


def check(inputs, outputs):
    counts, limit = outputs["counts"], int(inputs["max_iterations"])
    width = counts.shape[1]
    flat = counts.reshape(-1)
    outside = np.flatnonzero((flat < 1) | (flat > limit))
    if outside.size:
        return _told(outside[0], width, flat, f"counts lie between 1 and {limit}")
    if flat.size <= _FEW:
        places = np.arange(flat.size)
    else:
        places = np.sort(np.random.default_rng().integers(0, flat.size, _FEW))
    for start in range(0, len(places), _CHUNK):
        some = places[start : start + _CHUNK]
        real, imaginary = inputs["xs"][some % width], inputs["ys"][some // width]
        found = _first_wrong(real.astype(np.float64) + 1j * imaginary, flat[some], limit)
        if found is not None:
            return _told(some[found[0]], width, flat, found[1])
    return None


def _told(place, width, flat, why):
    return f"counts[{place // width}, {place % width}] is {flat[place]}: {why}"


def _first_wrong(c, counts, limit):
    """The first index whose count no orbit in single precision comes to, with the reason; None where there is none."""
    places = np.arange(len(c))
    z, size, error = np.zeros_like(c), np.zeros(len(c)), np.zeros(len(c))
    wrong = []
    for step in range(1, limit):
        rounds = ~(_is_coarse(z) & _is_coarse(c))
        z = z * z + c
        after = np.abs(z)
        error = 2 * size * error + error**2 + rounds * _UNIT * (12 * (size + error) ** 2 + 2 * (after + error))
        size = after
        doubt = 2 * size * error + error**2 + ~_is_coarse(z) * 8 * _UNIT * (size + error) ** 2
        ends = counts[places] == step
        square = z.real**2 + z.imag**2
        early, late = ends & (square + doubt <= 4.0), ~ends & (square - doubt > 4.0)
        wrong += [(place, f"after {step} steps the orbit is still within 2") for place in places[early][:1]]
        wrong += [(place, f"the orbit has left after {step} steps") for place in places[late][:1]]
        kept = ~(ends | late | (error > _LOST))
        places, z, size, error, c = places[kept], z[kept], size[kept], error[kept], c[kept]
        if not places.size:
            break
    return min(wrong) if wrong else None


def _is_coarse(numbers):
    """Where both parts are multiples of 2^-8."""
    return (numbers.real * _FINE % 1 == 0) & (numbers.imag * _FINE % 1 == 0)
