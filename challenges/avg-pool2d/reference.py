"""Average pooling in NumPy, in float64, a channel at a time."""

import numpy as np


def reference(input, N, C, H, W, kernel_size, stride, padding, output=None):
    return _pool(input, int(kernel_size), int(stride), int(padding), np.asarray)


def magnitude(input, N, C, H, W, kernel_size, stride, padding, output=None):
    return _pool(input, int(kernel_size), int(stride), int(padding), np.abs)


def _pool(images, size, stride, padding, prepare):
    height, width = images.shape[2:]
    rows, columns = ((extent + 2 * padding - size) // stride + 1 for extent in (height, width))
    channels = images.reshape(-1, height, width)
    result = np.empty((len(channels), rows, columns))
    padded = np.zeros((height + 2 * padding, width + 2 * padding))
    for channel, sums in zip(channels, result, strict=True):
        padded[padding : padding + height, padding : padding + width] = prepare(channel)
        # The windows' rows are added up in full width first, then their columns.
        in_rows = np.zeros((rows, padded.shape[1]))
        for row in range(size):
            in_rows += padded[row : row + (rows - 1) * stride + 1 : stride]
        sums[:] = in_rows[:, : (columns - 1) * stride + 1 : stride]
        for column in range(1, size):
            sums += in_rows[:, column : column + (columns - 1) * stride + 1 : stride]
    result /= size * size
    return result.reshape(*images.shape[:2], rows, columns)
