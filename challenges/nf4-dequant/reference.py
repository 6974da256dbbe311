"""Dequantisation of NF4 weights in NumPy, in float64, some blocks at a time."""

import numpy as np

#: Blocks of weights at a time: few enough to stay in a processor's cache.
_BLOCKS = 1024
#: Of more weights, the check of a timed call looks at this many runs of blocks.
_FEW = 1 << 20
_RUNS, _WEIGHTS_OF_RUN = 256, 4096
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
    """Runs of blocks at random places, at the beginning and at the end; everything where there are few weights."""
    packed, absmax = inputs["packed"], inputs["absmax"]
    count, block_size = int(inputs["N"]), int(inputs["block_size"])
    if count <= _FEW:
        step = _BLOCKS * block_size
        starts = range(0, count, step)
    else:
        step = max(1, _WEIGHTS_OF_RUN // block_size) * block_size
        last = max(0, -(-count // block_size) * block_size - step)
        starts = np.union1d(rng.integers(0, last // block_size + 1, _RUNS) * block_size, [0, last])
    for start in starts:
        stop = min(start + step, count)
        scales = absmax[start // block_size : -(-stop // block_size)]
        yield {"output": (np.arange(start, stop), _part(packed[start // 2 : stop // 2], scales, block_size), None)}
