"""Bilinear interpolation in NumPy, in float64."""

import numpy as np

#: Rows of the result computed at once: few enough to stay in a processor's cache.
_ROWS = 16


def reference(input, H, W, out_h, out_w, output=None):
    return _resized(input, int(out_h), int(out_w), with_errors=False)


def magnitude(input, H, W, out_h, out_w, output=None):
    return _resized(input, int(out_h), int(out_w), with_errors=True)


def _places(size, out_size):
    """Where each pixel of the result lies between two of the image: both, and the share of the second."""
    place = np.clip((np.arange(out_size) + 0.5) * (size / out_size) - 0.5, 0, size - 1)
    first = np.minimum(place.astype(np.int64), max(0, size - 2))
    return first, np.minimum(first + 1, size - 1), place - first


def _resized(image, out_h, out_w, *, with_errors):
    """The result; or what its errors are measured by: the colours, and how much they change where a place in single
    precision, whose error grows with the size of the image, is off."""
    height, width = image.shape
    tops, bottoms, downs = _places(height, out_h)
    lefts, rights, across = _places(width, out_w)
    result = np.empty((out_h, out_w))
    for start in range(0, out_h, _ROWS):
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
