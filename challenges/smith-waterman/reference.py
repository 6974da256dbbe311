"""Smith and Waterman's algorithm in NumPy, one antidiagonal at a time."""

import numpy as np


def reference(a, b, M, N, match, mismatch, gap, score=None):
    size, length = len(a), len(b)
    match, mismatch, gap = int(match), int(mismatch), int(gap)
    reverse = b[::-1]
    # Place i + 1 belongs to letter i of a; place 0 is the border.
    last = np.zeros(size + 1, np.int32)
    before = np.zeros(size + 1, np.int32)
    best = 0
    for diagonal in range(size + length - 1):
        first, stop = max(0, diagonal - length + 1), min(size, diagonal + 1)
        # Letter i of a meets letter diagonal - i of b.
        start = length - 1 - diagonal + first
        equal = a[first:stop] == reverse[start : start + stop - first]
        now = before[first:stop] + np.where(equal, match, -mismatch)
        np.maximum(now, last[first:stop] - gap, out=now)
        np.maximum(now, last[first + 1 : stop + 1] - gap, out=now)
        np.maximum(now, 0, out=now)
        best = max(best, int(now.max()))
        before, last = last, before
        # Beyond the ends of this antidiagonal lies the border.
        last[:] = 0
        last[first + 1 : stop + 1] = now
    return np.array([best])
