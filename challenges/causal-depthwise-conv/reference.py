"""Causal depthwise convolution in NumPy, in float64, some positions at a time."""

import numpy as np

#: Elements at a time: few enough to stay in a processor's cache.
_CHUNK = 1 << 17


def _rows(x, weight, bias, start, stop, length):
    """(outputs, magnitudes) of the rows ``start`` to ``stop``, which lie in one sequence."""
    taps = weight.shape[1]
    before = min(taps - 1, start % length)
    values = x[start - before : stop].astype(np.float64)
    sums = np.tile(bias, (stop - start, 1))
    sizes = np.abs(sums)
    for k in range(taps):
        # Row r of the part takes what lies k rows earlier; the first rows of a sequence have nothing there.
        first = max(0, k - before)
        if first >= stop - start:
            break
        terms = values[before + first - k : len(values) - k] * weight[:, k]
        sums[first:] += terms
        sizes[first:] += np.abs(terms)
    return sums, sizes


def _parts(x, weight, bias, length):
    weight, bias = weight.astype(np.float64), bias.astype(np.float64)
    step = max(1, _CHUNK // x.shape[1])
    for first in range(0, x.shape[0], length):
        for start in range(first, first + length, step):
            stop = min(start + step, first + length)
            yield np.arange(start, stop), *_rows(x, weight, bias, start, stop, length)


def reference(x, weight, bias, B, L, D, K):
    return np.concatenate([part[1] for part in _parts(x, weight, bias, int(L))])


def magnitude(x, weight, bias, B, L, D, K):
    return np.concatenate([part[2] for part in _parts(x, weight, bias, int(L))])


def spot_check(rng, inputs, outputs):
    """Everything, some positions at a time."""
    for part in _parts(inputs["x"], inputs["weight"], inputs["bias"], int(inputs["L"])):
        yield {"output": part}
