"""A layer of 3 x 3 convolutions in NumPy, in float64.

Winograd's transforms add and subtract what a tile holds before and after they multiply, so that an output is off by
roundoffs of the whole tile, not of its own nine products. In simulations with 1 to 256 channels, normal and positive
data, the error of F(4 x 4, 3 x 3) in single precision was at most 640 u r, where r² is the sum over channels of the
squares of the nine weights times the mean square of the tile of 6 x 6; that of F(2 x 2, 3 x 3) at most 45 u r, and
that of TF32 4900 u r in the mean. All tiles that contain an output lie within five points of it, so r² is at most the
same with the sum over 11 x 11 points, divided by 36. The magnitude therefore is the sum of the absolute products and
96 r, of which the tolerance allows 8 u.
"""

import numpy as np

_TILE_SHARE = 96.0
_RANDOM, _SUSPICIOUS = 8, 8
#: Up to so many rows of all channels all are checked.
_FEW = 64


def _rows(input, filters, image, row, height):
    """(values, magnitudes) of a row of an image, out_channels x width."""
    in_channels = filters.shape[1]
    width = input.shape[1]
    near = np.zeros((in_channels, 11, width + 10))
    first, last = max(0, row - 5), min(height, row + 6)
    lines = (image * in_channels + np.arange(in_channels)[:, None]) * height + np.arange(first, last)
    near[:, first - row + 5 : last - row + 5, 5:-5] = input[lines.reshape(-1)].reshape(*lines.shape, width)
    values, sizes = np.zeros((2, len(filters), width))
    for down in range(3):
        for right in range(3):
            part, taps = near[:, 4 + down, 4 + right : 4 + right + width], filters[:, :, down, right]
            values += taps @ part
            sizes += np.abs(taps) @ np.abs(part)
    squares = np.cumsum(np.pad(np.square(near).sum(axis=1), ((0, 0), (1, 0))), axis=1)
    around = (squares[:, 11:] - squares[:, :-11]) / 36.0
    return values, sizes + _TILE_SHARE * np.sqrt(np.square(filters).sum(axis=(2, 3)) @ np.maximum(around, 0.0))


def _all(part, input, weights, in_channels, height):
    filters = weights.astype(np.float64).reshape(-1, int(in_channels), 3, 3)
    height = int(height)
    batch = len(input) // (int(in_channels) * height)
    result = np.empty((batch, len(filters), height, input.shape[1]))
    for image in range(batch):
        for row in range(height):
            result[image, :, row] = _rows(input, filters, image, row, height)[part]
    return result.reshape(-1, input.shape[1])


def reference(input, weights, batch, in_channels, out_channels, height, width):
    return _all(0, input, weights, in_channels, height)


def magnitude(input, weights, batch, in_channels, out_channels, height, width):
    return _all(1, input, weights, in_channels, height)


def spot_check(rng, inputs, outputs):
    """Random rows, and those whose sum over channels with random signs is furthest from right (Freivalds)."""
    height, in_channels = int(inputs["height"]), int(inputs["in_channels"])
    filters = np.asarray(inputs["weights"][:], np.float64).reshape(-1, in_channels, 3, 3)
    out_channels, batch = len(filters), int(inputs["batch"])
    count = batch * height
    places = np.arange(count)
    if count > _FEW:
        away = _distances(rng, inputs, filters, outputs["output"], batch, height)
        # What is no number is the most suspicious of all; NumPy sorts NaN last.
        places = np.union1d(rng.choice(count, _RANDOM, replace=False), np.argsort(away)[-_SUSPICIOUS:])
    for place in places:
        image, row = divmod(int(place), height)
        rows = (image * out_channels + np.arange(out_channels)) * height + row
        yield {"output": (rows, *_rows(inputs["input"], filters, image, row, height))}


def _distances(rng, inputs, filters, got, batch, height):
    """How far the rows of all images are from what they should be, in a sum over channels with random signs."""
    out_channels, in_channels = filters.shape[:2]
    signs = rng.choice(np.array([-1.0, 1.0]), out_channels)
    folded = np.tensordot(signs, filters, 1).astype(np.float32)
    away = np.empty((batch, height))
    for image in range(batch):
        lines = inputs["input"][image * in_channels * height : (image + 1) * in_channels * height]
        padded = np.pad(lines.reshape(in_channels, height, -1), ((0, 0), (1, 1), (1, 1)))
        width = lines.shape[1]
        expected = np.zeros((height, width), np.float32)
        # One product for each tap, over all channels at once.
        products = folded.reshape(in_channels, 9).T @ padded.reshape(in_channels, -1)
        products = products.reshape(3, 3, height + 2, width + 2)
        for down in range(3):
            for right in range(3):
                expected += products[down, right, down : down + height, right : right + width]
        made = got[image * out_channels * height : (image + 1) * out_channels * height]
        sums = signs.astype(np.float32) @ made.reshape(out_channels, -1)
        away[image] = np.abs(sums.reshape(height, width) - expected).max(axis=1)
    return away.reshape(-1)
