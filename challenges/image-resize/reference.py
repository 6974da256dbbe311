"""Bilinear interpolation in NumPy, in float64."""

import numpy as np

#: Rows of the result computed at once: few enough to stay in a processor's cache.
_ROWS = 16
#: Of a larger result, the check of a timed call looks at this many bands of rows.
_FEW = 1 << 20
_BANDS, _ROWS_OF_BAND = 64, 4


def reference(input, H, W, out_h, out_w, output=None):
    return _resized(input, int(out_h), int(out_w), slice(None), with_errors=False)


def magnitude(input, H, W, out_h, out_w, output=None):
    return _resized(input, int(out_h), int(out_w), slice(None), with_errors=True)


def _places(size, out_size):
    """Where each pixel of the result lies between two of the image: both, and the share of the second."""
    place = np.clip((np.arange(out_size) + 0.5) * (size / out_size) - 0.5, 0, size - 1)
    first = np.minimum(place.astype(np.int64), max(0, size - 2))
    return first, np.minimum(first + 1, size - 1), place - first


def _resized(image, out_h, out_w, asked, *, with_errors):
    """The rows of the result that are asked for; or what their errors are measured by: the colours, and how much they
    change where a place in single precision, whose error grows with the size of the image, is off."""
    height, width = image.shape
    tops, bottoms, downs = _places(height, out_h)
    tops, bottoms, downs = tops[asked], bottoms[asked], downs[asked]
    lefts, rights, across = _places(width, out_w)
    result = np.empty((len(tops), out_w))
    for start in range(0, len(tops), _ROWS):
        part = slice(start, start + _ROWS)
        down = downs[part, None]
        top, bottom = image[tops[part]].astype(np.float64), image[bottoms[part]].astype(np.float64)
        rows = top + (bottom - top) * down
        left, right = rows[:, lefts], rows[:, rights]
        if not with_errors:
            result[part] = left + (right - left) * across
            continue
        change_down = np.abs(bottom - top)
        result[part] = np.abs(left) + np.abs(right) + width * np.abs(right - left)
        result[part] += height * np.maximum(change_down[:, lefts], change_down[:, rights])
    return result


def spot_check(rng, inputs, outputs):
    """Bands of rows at random places, at the top and at the bottom; all rows of a small result."""
    image, (count, width) = inputs["input"], outputs["output"].shape
    height = count if count * width <= _FEW else min(count, _ROWS_OF_BAND)
    for start in np.union1d(rng.integers(0, count - height + 1, _BANDS), [0, count - height]):
        asked = slice(start, start + height)
        values, sizes = (_resized(image, count, width, asked, with_errors=errors) for errors in (False, True))
        yield {"output": (np.arange(start, start + height), values, sizes)}
