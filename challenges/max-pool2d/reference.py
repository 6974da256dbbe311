"""The largest elements of windows, in NumPy."""

import numpy as np


def reference(input, N, C, H, W, kernel_size, stride, padding):
    images, channels, rows, cols = input.shape
    planes = input.reshape(images * channels, rows, cols)
    result = _pooled(planes, int(kernel_size), int(stride), int(padding))
    return result.reshape(images, channels, *result.shape[1:]).astype(np.float64)


def _pooled(planes, size, step, border):
    """The maximum over as many shifted copies as a window has elements; maxima are exact in single precision."""
    padded = np.pad(planes, ((0, 0), (border, border), (border, border)), constant_values=-np.inf)
    rows, cols = ((length - size) // step + 1 for length in padded.shape[1:])
    lines = np.full((len(planes), rows, padded.shape[2]), -np.inf, planes.dtype)
    for down in range(size):
        np.maximum(lines, padded[:, down : down + (rows - 1) * step + 1 : step], out=lines)
    result = np.full((len(planes), rows, cols), -np.inf, planes.dtype)
    for right in range(size):
        np.maximum(result, lines[:, :, right : right + (cols - 1) * step + 1 : step], out=result)
    return result


def spot_check(rng, inputs, outputs):
    """Every element, an image at a time, and within it a channel at a time."""
    size, step, border = (int(inputs[name]) for name in ("kernel_size", "stride", "padding"))
    for image in range(len(outputs["output"])):
        channels = inputs["input"][image]
        pooled = np.concatenate([_pooled(channel[None], size, step, border) for channel in channels])
        yield {"output": (np.array([image]), pooled[None].astype(np.float64), None)}
