"""The k largest numbers in NumPy, the largest first."""

import numpy as np

#: Numbers looked at at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 20


def make_inputs(rng, N, k, distance):
    values = rng.uniform(-1e6, 1e6, N).astype(np.float32)
    if distance:
        largest = np.argpartition(values, N - k)[N - k :]
        places = rng.integers(0, N - distance * (k - 1)) + distance * np.arange(k)
        # What stood there goes to where the largest were; a place that has one of them already is left as it is.
        free, moved = np.setdiff1d(places, largest), np.setdiff1d(largest, places)
        values[free], values[moved] = values[moved], values[free]
    return {"input": values}


def reference(input, N, k, output=None):
    k = int(k)
    kept = np.empty(0, input.dtype)
    least = -np.inf
    for start in range(0, input.size, _CHUNK):
        chunk = input[start : start + _CHUNK]
        kept = np.concatenate([kept, chunk[chunk > least] if kept.size >= k else chunk])
        # Not more often than needed: each partition goes through all that is kept.
        if kept.size >= k + _CHUNK // 8 or start == 0:
            kept, least = _largest(kept, k)
    kept, _ = _largest(kept, k)
    return np.sort(kept)[::-1].astype(np.float64)


def _largest(values, k):
    """The k largest of ``values`` in no order, and the least of them; all of them where there are fewer."""
    if values.size <= k:
        return values, -np.inf
    values = np.partition(values, values.size - k)[values.size - k :]
    return values, values[0]
