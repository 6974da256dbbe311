"""The k largest numbers in NumPy, the largest first."""

import numpy as np

#: Numbers looked at at once: few enough to stay in a processor's cache.
_CHUNK = 1 << 20


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
