"""A filter of its own for each channel, in NumPy, in float64."""

import numpy as np

_RANDOM_CHANNELS = 16
_SUSPICIOUS_CHANNELS = 8


def reference(input, weights, C, H, W, K, output=None):
    return _filtered(input, weights, np.asarray)


def magnitude(input, weights, C, H, W, K, output=None):
    return _filtered(input, weights, np.abs)


def _filtered(image, weights, prepare):
    size = weights.shape[1]
    result = np.zeros(image.shape)
    height, width = image.shape[1:]
    for channel, taps, sums in zip(image, weights, result, strict=True):
        padded = np.pad(prepare(channel).astype(np.float64), size // 2)
        for (u, v), weight in np.ndenumerate(prepare(taps).astype(np.float64)):
            sums += weight * padded[u : u + height, v : v + width]
    return result


def spot_check(rng, inputs, outputs):
    """Random channels, and those whose output times random signs is furthest from what input and weights give for it
    (Freivalds)."""
    image, weights, result = (np.asarray(array) for array in (inputs["input"], inputs["weights"], outputs["output"]))
    if len(image) <= _RANDOM_CHANNELS + _SUSPICIOUS_CHANNELS:
        channels = np.arange(len(image))
    else:
        random = rng.choice(len(image), _RANDOM_CHANNELS, replace=False)
        channels = np.union1d(random, _suspicious(rng, image, weights, result))
    parts = (_filtered(image[channels], weights[channels], prepare) for prepare in (np.asarray, np.abs))
    return {"output": (channels, *parts)}


def _suspicious(rng, image, weights, result):
    size, (height, width) = weights.shape[1], image.shape[1:]
    reach = size // 2
    down, right = (rng.choice(np.array([-1.0, 1.0], np.float32), extent) for extent in (height, width))
    # Instead of shifting the image for each weight, shift the signs the other way.
    downs, rights = (
        np.stack([np.pad(signs, reach)[2 * reach - shift :][: signs.size] for shift in range(size)])
        for signs in (down, right)
    )
    distances = np.empty(len(image))
    for number, channel in enumerate(image):
        expected = float(((downs @ channel @ rights.T) * weights[number]).sum())
        distances[number] = abs(float(down @ result[number] @ right) - expected)
    # What is no number is the most suspicious of all; NumPy sorts NaN last.
    return np.argsort(distances)[-_SUSPICIOUS_CHANNELS:]
