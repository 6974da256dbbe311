"""Dequantisation of NF4 weights in NumPy, in float64, some blocks at a time."""

import numpy as np

#: Blocks of weights at a time: few enough to stay in a processor's cache.
_BLOCKS = 1024
#: The sixteen values of the type, as published with it.
LEVELS = np.array(
    [
        -1.0,
        -0.6961928009986877,
        -0.5250730514526367,
        -0.39491748809814453,
        -0.28444138169288635,
        -0.18477343022823334,
        -0.09105003625154495,
        0.0,
        0.07958029955625534,
        0.16093020141124725,
        0.24611230194568634,
        0.33791524171829224,
        0.44070982933044434,
        0.5626170039176941,
        0.7229568362236023,
        1.0,
    ]
)


def _part(packed, absmax, block_size):
    codes = np.stack([packed >> 4, packed & 15], axis=1).reshape(-1)
    return LEVELS[codes] * np.repeat(absmax.astype(np.float64), block_size)[: len(codes)]


def reference(packed, absmax, N, block_size):
    return _part(packed, absmax, int(block_size))


def spot_check(rng, inputs, outputs):
    """Everything, some blocks at a time."""
    packed, absmax = inputs["packed"], inputs["absmax"]
    count, block_size = int(inputs["N"]), int(inputs["block_size"])
    step = _BLOCKS * block_size
    for start in range(0, count, step):
        stop = min(start + step, count)
        scales = absmax[start // block_size : -(-stop // block_size)]
        yield {"output": (np.arange(start, stop), _part(packed[start // 2 : stop // 2], scales, block_size), None)}
