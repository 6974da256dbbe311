"""Average pooling in NumPy, in float64, a channel at a time."""

import numpy as np

#: Of a larger result, the check of a timed call looks at this many channels of images.
_FEW = 1 << 20
_CHANNELS = 96


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


def spot_check(rng, inputs, outputs):
    """Random channels of images, with the first and the last; all where the result is small."""
    images, result = inputs["input"], outputs["output"]
    size, stride, padding = (int(inputs[name]) for name in ("kernel_size", "stride", "padding"))
    picked = np.arange(result.shape[0] * result.shape[1])
    if result.size > _FEW:
        picked = np.union1d(rng.choice(len(picked), min(len(picked), _CHANNELS), replace=False), picked[[0, -1]])
    of_image, of_channel = np.divmod(picked, result.shape[1])
    for image in np.unique(of_image):
        channels = of_channel[of_image == image]
        part = images[image][channels][None]
        values, sizes = (_pool(part, size, stride, padding, prepare) for prepare in (np.asarray, np.abs))
        yield {"output": (np.ix_([image], channels), values, sizes)}
