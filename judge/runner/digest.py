"""The digest by which an output is committed before anybody says that it will be looked at.

A tree: the bytes are cut into pieces of 4096 (the last one shorter; no bytes are one empty piece), and the SHA-256
digests of the pieces, in order, are the bytes of the next level, until a level has one digest: so that a device makes
it at memory speed, a thread for each piece. The size is known to both sides, so a level cannot pass for another.
"""

from __future__ import annotations

import hashlib

PIECE_BYTES = 4096


def tree_digest(data: bytes | bytearray | memoryview) -> bytes:
    """32 bytes. ``data`` must be contiguous; a memoryview of bytes."""
    level = memoryview(data)
    while True:
        starts = range(0, len(level), PIECE_BYTES) or (0,)
        digests = [hashlib.sha256(level[start : start + PIECE_BYTES]).digest() for start in starts]
        if len(digests) == 1:
            return digests[0]
        level = memoryview(b"".join(digests))
