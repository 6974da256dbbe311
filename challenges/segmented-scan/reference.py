"""Segmented exclusive sums in NumPy, in float64."""

import numpy as np

#: Numbers added up at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 18


def make_inputs(rng, N, segment):
    flags = np.zeros(N, np.int32)
    flags[rng.integers(0, N, int(N / segment))] = 1
    flags[0] = 1
    return {"flags": flags}


def reference(values, flags, N, output=None):
    return _scan(values, flags, np.asarray)


def magnitude(values, flags, N, output=None):
    return _scan(values, flags, np.abs)


def _scan(values, flags, prepare):
    result = np.empty(values.size)
    carried = 0.0
    for start in range(0, values.size, _CHUNK):
        part = prepare(values[start : start + _CHUNK])
        # Sums from the chunk's beginning, with what is carried in; at each start of a segment these are taken off.
        sums = np.empty(part.size + 1)
        sums[0] = carried
        np.cumsum(part, dtype=np.float64, out=sums[1:])
        sums[1:] += carried
        begins = np.flatnonzero(flags[start : start + _CHUNK])
        lengths = np.diff(begins, append=part.size)
        first = begins[0] if begins.size else part.size
        result[start : start + first] = sums[:first]
        result[start + first : start + part.size] = sums[first:-1] - np.repeat(sums[begins], lengths)
        carried = sums[-1] - (sums[begins[-1]] if begins.size else 0.0)
    return result
