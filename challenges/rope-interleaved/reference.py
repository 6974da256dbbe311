"""Rotary position embedding of neighbouring pairs in NumPy, in float64, some tokens at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, positions, width, theta, scale):
    """(outputs, magnitudes) of some tokens."""
    frequencies = np.float64(theta) ** (-2.0 * np.arange(width // 2) / width)
    angles = positions[:, None] * np.float64(scale) * frequencies
    pairs = x.astype(np.float64).reshape(len(x), -1, width // 2, 2)
    cos, sin = np.cos(angles)[:, None], np.sin(angles)[:, None]
    outputs = np.empty(pairs.shape)
    outputs[..., 0] = pairs[..., 0] * cos - pairs[..., 1] * sin
    outputs[..., 1] = pairs[..., 0] * sin + pairs[..., 1] * cos
    # An angle is off by a few roundoffs, of a power whose exponent is rounded as well and of products with it, or by
    # some for each pair before where frequencies are powers of the second one; the outputs move with it as far as the
    # pair is long.
    lengths = np.abs(pairs).sum(axis=-1, keepdims=True)
    numbers = np.arange(width // 2)
    exponents = np.log(np.float64(theta)) * 2.0 * numbers / width
    doubt = lengths * (4.0 + angles * (6.0 + np.maximum(2.0 * exponents, 3.0 * numbers)))[:, None, :, None]
    return outputs.reshape(x.shape), np.broadcast_to(doubt, outputs.shape).reshape(x.shape)


def reference(x, positions, T, H, D, theta, scale):
    return _rows(x, positions, int(D), theta, scale)[0]


def magnitude(x, positions, T, H, D, theta, scale):
    return _rows(x, positions, int(D), theta, scale)[1]


def spot_check(rng, inputs, outputs):
    """Everything, in chunks of tokens."""
    x, positions = inputs["x"], np.asarray(inputs["positions"][:])
    step = max(1, _CHUNK // x.shape[1])
    for start in range(0, len(positions), step):
        rows = slice(start, min(start + step, len(positions)))
        parts = _rows(x[rows], positions[rows], int(inputs["D"]), inputs["theta"], inputs["scale"])
        yield {"output": (np.arange(rows.start, rows.stop), *parts)}
