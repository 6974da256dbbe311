"""The tree digest that commits a runner to an output before it learns whether the output will be checked.

The bytes are cut into pieces of 1024 (the last one may be shorter; no bytes are one empty piece). The SHA-256 digests
of the pieces, in order, are the bytes of the next level, until a level is one digest. A device has one thread for each
piece: on an H200 a piece takes 35 us, however few there are, and 100 MB in longer pieces take longer. Both sides know
the size, so that no level can pass for another. With the root and the first level, a checker needs only the pieces that
it reads.
"""

from __future__ import annotations

import hashlib

PIECE_BYTES = 1024
DIGEST_BYTES = 32


def level_sizes(size: int) -> list[int]:
    """Returns the size in bytes of each level for ``size`` bytes of data; the last one is 32."""
    levels: list[int] = []
    while not levels or levels[-1] > DIGEST_BYTES:
        size = DIGEST_BYTES * max(1, -(-size // PIECE_BYTES))
        levels.append(size)
    return levels


def piece_digests(data: bytes | bytearray | memoryview) -> bytes:
    """Returns the first level: 32 bytes for each piece. ``data`` must be contiguous, a memoryview one of bytes."""
    view = memoryview(data)
    starts = range(0, len(view), PIECE_BYTES) or (0,)
    return b"".join(hashlib.sha256(view[start : start + PIECE_BYTES]).digest() for start in starts)


def tree_digest(data: bytes | bytearray | memoryview) -> bytes:
    """Returns the root: 32 bytes. ``data`` as for :func:`piece_digests`."""
    level = piece_digests(data)
    while len(level) > DIGEST_BYTES:
        level = piece_digests(level)
    return level
