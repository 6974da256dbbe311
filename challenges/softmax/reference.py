"""Softmax over a whole vector in NumPy, in float64."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

#: Elements added up at once: few enough to stay in a processor's cache, enough that the threads seldom wait for the
#: interpreter, which only one of them has at a time.
_CHUNK = 1 << 20
_THREADS = 8
_BLOCK = 4096
_BLOCKS = 256
#: Blocks looked at at once: few enough to stay in a processor's cache.
_AT_ONCE = 32
#: Above this size single-precision exponentials, added in float64, are exact enough: their errors (2 u) vanish in a
#: factor of 1000 u that the denominator may be off by.
_LARGE = 1 << 22


def make_inputs(rng, N, late):
    values = rng.uniform(-3, 3, N).astype(np.float32)
    last = N // 100
    values[N - last + rng.choice(last, late, replace=False)] = rng.uniform(110, 114, late)
    return {"input": values}


def _denominator(values):
    """(maximum, sum of exp(x - maximum)), in one pass, in chunks, on several threads."""
    kind = np.float32 if values.size > _LARGE else np.float64

    def sums(first):
        """Of every so many-th chunk, as there are threads: each goes through its own."""
        room = np.empty(min(_CHUNK, values.size), kind)
        parts = []
        for start in range(first, values.size, _THREADS * _CHUNK):
            chunk = values[start : start + _CHUNK].astype(kind, copy=False)
            exponentials = room[: chunk.size]
            maximum = chunk.max()
            np.subtract(chunk, maximum, out=exponentials)
            np.exp(exponentials, out=exponentials)
            parts.append((maximum, exponentials.astype(np.float64).sum()))
        return parts

    with ThreadPoolExecutor(_THREADS) as pool:
        firsts = range(0, min(values.size, _THREADS * _CHUNK), _CHUNK)
        parts = [part for share in pool.map(sums, firsts) for part in share]
    maxima, totals = np.array(parts, np.float64).T
    maximum = maxima.max()
    return maximum, (totals * np.exp(maxima - maximum)).sum()


def _softmax(values, denominator):
    maximum, total = denominator
    return np.exp(values.astype(np.float64) - maximum) / total


def _magnitude(values, softmax, denominator):
    # An exponential of an argument a is off by about u (|a| + 3); a kernel that keeps the logarithm of the denominator
    # takes it off the argument. So is the denominator's, in the mean: the factor.
    return softmax * (3.0 + np.abs(values - denominator[0]) + np.log(denominator[1]))


def reference(input, output=None, N=None):
    return _softmax(input, _denominator(input))


def magnitude(input, output=None, N=None):
    denominator = _denominator(input)
    return _magnitude(input, _softmax(input, denominator), denominator)


def spot_check(rng, inputs, outputs):
    """The denominator in full; the elements in blocks at random places, always with the ends."""
    values = inputs["input"]
    denominator = _denominator(values)
    if values.size <= _BLOCK * _BLOCKS:
        parts = [np.arange(values.size)]
    else:
        begins = np.concatenate([[0, values.size - _BLOCK], rng.integers(0, values.size - _BLOCK, _BLOCKS)])
        blocks = begins[:, None] + np.arange(_BLOCK)
        parts = (blocks[i : i + _AT_ONCE].reshape(-1) for i in range(0, len(blocks), _AT_ONCE))
    for rows in parts:
        picked = values[rows]
        softmax = _softmax(picked, denominator)
        yield {"output": (rows, softmax, _magnitude(picked, softmax, denominator))}
