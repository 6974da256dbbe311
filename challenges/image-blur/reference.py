"""An image filtered with a kernel, with zeros beyond its borders, in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 24
_SUSPICIOUS_ROWS = 24


def reference(input, kernel, input_rows=None, input_cols=None, kernel_rows=None, kernel_cols=None):
    return _rows(_with_border(input, kernel), kernel, np.arange(len(input)))


def magnitude(input, kernel, input_rows=None, input_cols=None, kernel_rows=None, kernel_cols=None):
    return reference(np.abs(input), np.abs(kernel))


def _with_border(image, kernel):
    down, right = (length // 2 for length in kernel.shape)
    return np.pad(image, ((down, down), (right, right)))


def _rows(image, kernel, rows):
    """Some rows of the output: one shifted copy of the image for each weight."""
    width = image.shape[1] - kernel.shape[1] + 1
    result = np.zeros((len(rows), width))
    for down, weights in enumerate(kernel.astype(np.float64)):
        lines = image[rows + down].astype(np.float64)
        for right, weight in enumerate(weights):
            result += weight * lines[:, right : right + width]
    return result


def spot_check(rng, inputs, outputs):
    """Random rows, and those whose sum with random signs is furthest from what it should be (Freivalds)."""
    kernel, result = inputs["kernel"][:], outputs["output"][:]
    image = _with_border(inputs["input"][:], kernel)
    count = len(result)
    if count <= _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        rows = np.arange(count)
    else:
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), _suspicious(rng, image, kernel, result))
    return {"output": (rows, _rows(image, kernel, rows), _rows(np.abs(image), np.abs(kernel), rows))}


def _suspicious(rng, image, kernel, result):
    count, width = result.shape
    signs = rng.choice(np.array([-1.0, 1.0]), width)
    # Column q holds the signs moved down by q: what the image's columns weigh below weight q of a kernel's row.
    moved = np.zeros((image.shape[1], kernel.shape[1]))
    for right in range(kernel.shape[1]):
        moved[right : right + width, right] = signs
    folded = image.astype(np.float64) @ moved
    expected = sum(folded[down : down + count] @ weights for down, weights in enumerate(kernel.astype(np.float64)))
    distance = np.abs(result.astype(np.float64) @ signs - expected)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_ROWS:]
