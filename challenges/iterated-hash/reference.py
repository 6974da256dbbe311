"""Rounds of 32-bit FNV-1a over the four bytes of a number, in NumPy."""

import numpy as np

_BASIS = 2166136261
_PRIME = np.uint32(16777619)
_LOW_BYTE = np.uint32(0xFF)
#: Elements hashed at once: few enough to stay in a processor's cache, with all that is in between.
_CHUNK = 1 << 15


def reference(input, N=None, R=None):
    result = np.empty(input.size, np.int64)
    for start in range(0, input.size, _CHUNK):
        result[start : start + _CHUNK] = _hashed(input[start : start + _CHUNK].view(np.uint32), int(R))
    return result


def _hashed(values, rounds):
    """uint32 in, uint32 out; its products wrap around, as they should."""
    byte = np.empty_like(values)
    for _ in range(rounds):
        hashes = np.full_like(values, _BASIS)
        for shift in (0, 8, 16, 24):
            np.right_shift(values, np.uint32(shift), out=byte)
            np.bitwise_and(byte, _LOW_BYTE, out=byte)
            hashes ^= byte
            hashes *= _PRIME
        values = hashes
    return values


def spot_check(rng, inputs, outputs):
    """Every element, a chunk at a time."""
    size, rounds = int(inputs["N"]), int(inputs["R"])
    for start in range(0, size, _CHUNK):
        stop = min(start + _CHUNK, size)
        values = _hashed(inputs["input"][start:stop].view(np.uint32), rounds)
        yield {"output": (np.arange(start, stop), values.astype(np.int64), None)}
