"""The digest by which an output is committed before anybody says that it will be looked at.

A tree: the bytes are cut into pieces of 4096 (the last one shorter; no bytes are one empty piece), and the SHA-256
digests of the pieces, in order, are the bytes of the next level, until a level has one digest: so that a device makes
it at memory speed, a thread for each piece. The size is known to both sides, so a level cannot pass for another. Who
has the digest and the first level needs no more of the output than what he looks at.
"""

from __future__ import annotations

import hashlib

PIECE_BYTES = 4096
DIGEST_BYTES = 32


def level_sizes(size: int) -> list[int]:
    """The bytes of each level of digests of so many bytes; of the last one, 32."""
    levels: list[int] = []
    while not levels or levels[-1] > DIGEST_BYTES:
        size = DIGEST_BYTES * max(1, -(-size // PIECE_BYTES))
        levels.append(size)
    return levels


def piece_digests(data: bytes | bytearray | memoryview) -> bytes:
    """The first level: 32 bytes for each piece. ``data`` must be contiguous; a memoryview of bytes."""
    view = memoryview(data)
    starts = range(0, len(view), PIECE_BYTES) or (0,)
    return b"".join(hashlib.sha256(view[start : start + PIECE_BYTES]).digest() for start in starts)


def tree_digest(data: bytes | bytearray | memoryview) -> bytes:
    """32 bytes. ``data`` as for :func:`piece_digests`."""
    level = piece_digests(data)
    while len(level) > DIGEST_BYTES:
        level = piece_digests(level)
    return level
