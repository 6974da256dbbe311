"""The bilateral filter in NumPy, in float64, some rows at a time."""

import numpy as np

#: Pixels at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 15
#: Up to so many pixels all rows are checked, else so many random ones.
_FEW = 1 << 18
_ROWS = 48


@np.errstate(divide="ignore", invalid="ignore")
def _filtered(image, rows, sigma_space, sigma_range, radius):
    """(the filtered rows, their magnitudes).

    The argument of an exponential is off by some u times itself, as it is a few products; so a weight is, in relation
    to itself, off by u times that and a few u more, and the denominator by the average of that.
    """
    radius, height, width = int(radius), image.shape[0], image.shape[1]
    here = image[rows].astype(np.float64)
    sums, total, doubts, doubt = (np.zeros(here.shape) for _ in range(4))
    for down in range(-radius, radius + 1):
        inside = (rows + down >= 0) & (rows + down < height)
        if not inside.any():
            continue
        line = image[rows[inside] + down].astype(np.float64)
        for right in range(-min(radius, width - 1), min(radius, width - 1) + 1):
            to, of = (slice(max(0, -s), width - max(0, s)) for s in (right, -right))
            other = line[:, of]
            away = (down * down + right * right) / (2.0 * sigma_space**2)
            size = away + np.square(other - here[inside, to]) / (2.0 * sigma_range**2)
            weight = np.exp(-size)
            sums[inside, to] += weight * other
            total[inside, to] += weight
            weight *= 6.0 + 2.0 * size
            doubts[inside, to] += weight * np.abs(other)
            doubt[inside, to] += weight
    values = sums / total
    return values, (doubts + doubt * np.abs(values)) / total


def _all(part, image, sigma_space, sigma_range, radius):
    result = np.empty(image.shape)
    sigmas = np.float64(sigma_space), np.float64(sigma_range)
    step = max(1, _CHUNK // image.shape[1])
    for start in range(0, len(image), step):
        rows = np.arange(start, min(start + step, len(image)))
        result[rows] = _filtered(image, rows, *sigmas, radius)[part]
    return result


def reference(image, sigma_space, sigma_range, radius, height, width):
    return _all(0, image, sigma_space, sigma_range, radius)


def magnitude(image, sigma_space, sigma_range, radius, height, width):
    return _all(1, image, sigma_space, sigma_range, radius)


def spot_check(rng, inputs, outputs):
    """Random rows, with the first and the last; all rows of a small image."""
    image, count = inputs["image"], len(outputs["output"])
    sigmas = np.float64(inputs["sigma_space"]), np.float64(inputs["sigma_range"])
    rows = np.arange(count)
    if outputs["output"].size > _FEW:
        rows = np.union1d(rng.choice(count, min(count, _ROWS), replace=False), [0, count - 1])
    step = max(1, _CHUNK // image.shape[1])
    for start in range(0, len(rows), step):
        part = rows[start : start + step]
        yield {"output": (part, *_filtered(image, part, *sigmas, inputs["radius"]))}
