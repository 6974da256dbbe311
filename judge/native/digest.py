"""The digest of ``judge.runner.digest``, by the native library where there is one."""

from __future__ import annotations

from judge.native.library import Bytes, loaded
from judge.runner import digest


def tree_digest(data: Bytes, threads: int = 1, *, portable: bool = False) -> bytes:
    """32 bytes. ``data`` must be contiguous. ``portable``: as ``NativeLibrary.digest_pieces`` has it."""
    native = loaded()
    if native is None:
        return digest.tree_digest(data.data)
    while True:
        level = native.digest_pieces(data, digest.PIECE_BYTES, threads, portable=portable)
        if data.size <= digest.PIECE_BYTES:
            return level.tobytes()
        data = level
