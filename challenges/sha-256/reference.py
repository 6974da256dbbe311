"""SHA-256 by Python's own library."""

import hashlib

import numpy as np


def reference(messages, N, length, digests=None):
    raw = memoryview(np.ascontiguousarray(messages)).cast("B")
    size = int(length)
    parts = (hashlib.sha256(raw[start : start + size]).digest() for start in range(0, len(raw), size))
    return np.frombuffer(b"".join(parts), np.uint8).reshape(-1, 32).astype(np.int64)
