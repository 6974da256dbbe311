"""A product with a 2:4 sparse matrix in NumPy, in float64."""

import numpy as np

_RANDOM_ROWS = 40
_SUSPICIOUS_ROWS = 24
#: Rows of A that are taken apart at a time.
_STEP = 512
#: Four bits for each way to keep two of four: the first place in the low two, the second in the high two.
_PAIRS = np.array([a | b << 2 for a in range(4) for b in range(a + 1, 4)], np.uint8)


def make_inputs(rng, M, K, **_):
    pairs = _PAIRS[rng.integers(0, len(_PAIRS), (2, int(M), int(K) // 8))]
    return {"indices": pairs[0] | pairs[1] << 4}


def _dense(values, indices):
    """Rows of A with their zeros, in float64."""
    nibbles = np.stack([indices & 15, indices >> 4], axis=2).reshape(len(values), -1)
    places = np.stack([nibbles & 3, nibbles >> 2], axis=2).astype(np.int64)
    rows = np.zeros((*nibbles.shape, 4))
    np.put_along_axis(rows, places, values.reshape(places.shape).astype(np.float64), axis=2)
    return rows.reshape(len(values), -1)


def reference(values, indices, B, M, N, K):
    return _dense(values, indices) @ B.astype(np.float64)


def magnitude(values, indices, B, M, N, K):
    return np.abs(_dense(values, indices)) @ np.abs(B.astype(np.float64))


def spot_check(rng, inputs, outputs):
    """Random rows, and those where C times random signs is furthest from A times B times them (Freivalds)."""
    values, indices, C = inputs["values"], np.asarray(inputs["indices"][:]), outputs["C"]
    B = np.asarray(inputs["B"][:]).astype(np.float64)
    count, width = C.shape
    rows = np.arange(count)
    if count > _RANDOM_ROWS + _SUSPICIOUS_ROWS:
        signs = rng.choice(np.array([-1.0, 1.0]), width)
        folded, distance = B @ signs, np.empty(count)
        for start in range(0, count, _STEP):
            part = slice(start, min(start + _STEP, count))
            expected = _dense(np.asarray(values[part]), indices[part]) @ folded
            distance[part] = np.abs(C[part].astype(np.float64) @ signs - expected)
        # What is no number is the most suspicious of all; NumPy sorts NaN last.
        rows = np.union1d(rng.choice(count, _RANDOM_ROWS, replace=False), np.argsort(distance)[-_SUSPICIOUS_ROWS:])
    A = _dense(np.asarray(values[rows]), indices[rows])
    return {"C": (rows, A @ B, np.abs(A) @ np.abs(B))}
