"""An output that had been committed by a digest, compared with it as it is looked at."""

from __future__ import annotations

import numpy as np

from judge.native.digest import picked_digests, tree_digest
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
        self._compare(np.array([0]), np.array([self.size]))
        return self._array

    def _fill(self, start: int, flat: Array) -> None:
        self._fill_runs(np.array([start]), np.array([flat.size]), flat)

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        begins = np.append(0, ends[:-1])
        self._compare(starts, starts + (ends - begins))
        elements = self._array.reshape(-1)
        for start, begin, end in zip(starts.tolist(), begins.tolist(), ends.tolist(), strict=True):
            flat[begin:end] = elements[start : start + (end - begin)]

    def _compare(self, starts: Numbers, stops: Numbers) -> None:
        """The pieces in which these runs of elements lie."""
        first = starts * self.dtype.itemsize // PIECE_BYTES
        counts = np.where(starts < stops, -(-stops * self.dtype.itemsize // PIECE_BYTES) - first, 0)
        # Of each run all pieces from its first on.
        picked = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        found = picked_digests(self._bytes, picked, self._threads)
        if not np.array_equal(found.reshape(-1, DIGEST_BYTES), self._pieces.reshape(-1, DIGEST_BYTES)[picked]):
            raise NotCommittedError
