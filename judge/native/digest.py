"""Computes the digests of ``judge.wire.digest``, by the native library where it is loaded."""

from __future__ import annotations

import numpy as np

from judge.native.library import Bytes, Numbers, loaded
from judge.wire import digest


def piece_digests(data: Bytes, threads: int = 1, *, portable: bool = False) -> Bytes:
    """Returns the first level. ``data`` must be contiguous; ``portable`` is as for ``NativeLibrary.digest_pieces``."""
    native = loaded()
    if native is None:
        return np.frombuffer(digest.piece_digests(data.data), np.uint8)
    return native.digest_pieces(data, digest.PIECE_BYTES, threads, portable=portable)


def picked_digests(data: Bytes, picked: Numbers, threads: int = 1) -> Bytes:
    """Returns the digests of the pieces whose numbers are in ``picked``."""
    native = loaded()
    if native is None:
        starts = (int(piece) * digest.PIECE_BYTES for piece in picked)
        found = b"".join(digest.piece_digests(data[start : start + digest.PIECE_BYTES].data) for start in starts)
        return np.frombuffer(found, np.uint8)
    return native.digest_pieces(data, digest.PIECE_BYTES, threads, picked)


def tree_digest(data: Bytes, threads: int = 1, *, portable: bool = False) -> bytes:
    """Returns the root: 32 bytes. Arguments as for :func:`piece_digests`."""
    level = piece_digests(data, threads, portable=portable)
    while level.size > digest.DIGEST_BYTES:
        level = piece_digests(level, threads, portable=portable)
    return level.tobytes()
