"""An output that had been committed by a digest, compared with it as it is looked at."""

from __future__ import annotations

import numpy as np

from judge.native.digest import piece_digests, tree_digest
from judge.native.library import Bytes
from judge.packs.partial import Array, Numbers, PartialArray
from judge.runner.digest import DIGEST_BYTES, PIECE_BYTES, level_sizes


class NotCommittedError(Exception):
    """The bytes are not those that had been committed."""


class CommittedArray(PartialArray):
    """Stands for ``array``. ``digest`` is what had been committed, ``pieces`` what is said to be the first level of its
    tree: what is looked at is held against that, on ``threads`` at the most. All methods raise NotCommittedError."""

    def __init__(self, array: Array, digest: bytes, pieces: Bytes, threads: int) -> None:
        super().__init__(array.shape, array.dtype)
        self._array = array
        self._bytes: Bytes = array.reshape(-1).view(np.uint8)
        self._pieces = pieces
        self._threads = threads
        if pieces.size != level_sizes(self.nbytes)[0]:
            raise ValueError(f"{pieces.size} bytes of digests for {self.nbytes} bytes")
        if (pieces.tobytes() if pieces.size == DIGEST_BYTES else tree_digest(pieces, threads)) != digest:
            raise NotCommittedError

    def _make(self) -> Array:
        self._compare(0, self.size)
        return self._array

    def _fill(self, start: int, flat: Array) -> None:
        self._compare(start, start + flat.size)
        flat[...] = self._array.reshape(-1)[start : start + flat.size]

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        begin = 0
        for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
            self._fill(start, flat[begin:end])
            begin = end

    def _compare(self, start: int, stop: int) -> None:
        """The pieces in which these elements lie."""
        if start == stop:
            return
        first = start * self.dtype.itemsize // PIECE_BYTES
        last = -(-stop * self.dtype.itemsize // PIECE_BYTES)
        found = piece_digests(self._bytes[first * PIECE_BYTES : last * PIECE_BYTES], self._threads)
        if not np.array_equal(found, self._pieces[first * DIGEST_BYTES : last * DIGEST_BYTES]):
            raise NotCommittedError
