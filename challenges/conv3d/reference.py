"""The valid cross-correlation of a volume with a kernel, in NumPy, in float64."""

import numpy as np

_RANDOM_LAYERS = 3
_SUSPICIOUS_LAYERS = 5


def reference(input, kernel, **sizes):
    return _layers(input, kernel, np.arange(len(input) - len(kernel) + 1))


def magnitude(input, kernel, **sizes):
    return reference(np.abs(input), np.abs(kernel))


def _layers(volume, kernel, layers):
    """Some layers of the output: one shifted copy of the volume for each weight."""
    rows, cols = (have - take + 1 for have, take in zip(volume.shape[1:], kernel.shape[1:], strict=True))
    result = np.zeros((len(layers), rows, cols))
    for place, weight in np.ndenumerate(kernel.astype(np.float64)):
        deep, down, right = place
        result += weight * volume[layers + deep, down : down + rows, right : right + cols]
    return result


def spot_check(rng, inputs, outputs):
    """Random layers, and those whose sum with random signs is furthest from what it should be (Freivalds)."""
    volume, kernel, result = inputs["input"][:], inputs["kernel"][:], outputs["output"][:]
    count = len(result)
    if count <= _RANDOM_LAYERS + _SUSPICIOUS_LAYERS:
        layers = np.arange(count)
    else:
        layers = np.union1d(rng.choice(count, _RANDOM_LAYERS, replace=False), _suspicious(rng, volume, kernel, result))
    return {"output": (layers, _layers(volume, kernel, layers), _layers(np.abs(volume), np.abs(kernel), layers))}


def _suspicious(rng, volume, kernel, result):
    count, rows, cols = result.shape
    signs = np.array([-1.0, 1.0])
    by_row, by_col = rng.choice(signs, rows), rng.choice(signs, cols)
    # Signs moved on by q: what the rows (columns) of the volume weigh below number q of the kernel.
    moved_rows, moved_cols = (_moved(by_row, volume.shape[1]), _moved(by_col, volume.shape[2]))
    moved_rows, moved_cols = moved_rows[: kernel.shape[1]], moved_cols[: kernel.shape[2]]
    folded = moved_rows @ (volume.astype(np.float64) @ moved_cols.T)
    expected = sum(
        np.einsum("zpq,pq->z", folded[deep : deep + count], layer)
        for deep, layer in enumerate(kernel.astype(np.float64))
    )
    distance = np.abs(result.astype(np.float64) @ by_col @ by_row - expected)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distance)[-_SUSPICIOUS_LAYERS:]


def _moved(signs, length):
    result = np.zeros((length - signs.size + 1, length))
    for step, line in enumerate(result):
        line[step : step + signs.size] = signs
    return result
