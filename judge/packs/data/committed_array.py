"""An output of a timed call that is compared with what the runner had committed, where it is read."""

from __future__ import annotations

from typing import Any

import numpy as np

from judge.native.digest import picked_digests, tree_digest
from judge.native.library import Bytes
from judge.packs.data.lazy_array import Array, LazyArray, Numbers
from judge.packs.data.storage import value_type, values_of
from judge.wire.digest import DIGEST_BYTES, PIECE_BYTES, level_sizes
from judge.wire.elements import Element


class NotCommittedError(Exception):
    """The outputs differ from the committed ones."""


class CommittedArray(LazyArray):
    """An output whose bytes are compared with their committed digest where they are read.

    ``digest`` is the committed root of the digest tree, and ``pieces`` what the runner claims to be its first level. At
    most ``threads`` threads compare. All methods, the constructor included, raise NotCommittedError.
    """

    def __init__(self, array: Array, element: Element, digest: bytes, pieces: Bytes, threads: int) -> None:
        super().__init__(array.shape, value_type(element))
        self._element = element
        self._array = array
        self._bytes: Bytes = array.reshape(-1).view(np.uint8)
        self._digest = digest
        self._pieces = pieces
        self._threads = threads
        if pieces.size != level_sizes(array.nbytes)[0]:
            raise ValueError(f"{pieces.size} bytes of digests for {array.nbytes} bytes")
        if (pieces.tobytes() if pieces.size == DIGEST_BYTES else tree_digest(pieces, threads)) != digest:
            raise NotCommittedError

    def __reduce__(self) -> tuple[Any, ...]:
        return CommittedArray, (self._array, self._element, self._digest, self._pieces, self._threads)

    def _make(self) -> Array:
        self._compare(np.array([0]), np.array([self.size]))
        return values_of(self._element, self._array)

    def _fill(self, start: int, flat: Array) -> None:
        self._fill_runs(np.array([start]), np.array([flat.size]), flat)

    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        begins = np.append(0, ends[:-1])
        self._compare(starts, starts + (ends - begins))
        elements = self._array.reshape(-1)
        for start, begin, end in zip(starts.tolist(), begins.tolist(), ends.tolist(), strict=True):
            flat[begin:end] = values_of(self._element, elements[start : start + (end - begin)])

    def _compare(self, starts: Numbers, stops: Numbers) -> None:
        """Compares the pieces in which these runs of elements lie."""
        first = starts * self._array.itemsize // PIECE_BYTES
        counts = np.where(starts < stops, -(-stops * self._array.itemsize // PIECE_BYTES) - first, 0)
        # All pieces of each run, from its first on.
        picked = np.repeat(first - (np.cumsum(counts) - counts), counts) + np.arange(counts.sum())
        found = picked_digests(self._bytes, picked, self._threads)
        if not np.array_equal(found.reshape(-1, DIGEST_BYTES), self._pieces.reshape(-1, DIGEST_BYTES)[picked]):
            raise NotCommittedError
