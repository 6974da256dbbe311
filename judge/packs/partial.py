"""An array whose parts are brought about as they are looked at.

Whoever checks a timed call looks at a few blocks of arrays of hundreds of megabytes, or goes through them once. Where
any range can be had by itself, neither has to wait for the whole, nor for the memory that it would lie in.
"""

from __future__ import annotations

import math
import threading
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from numpy.lib.mixins import NDArrayOperatorsMixin

from judge.packs.distributions import run_begins

Array = npt.NDArray[np.generic]
Numbers = npt.NDArray[np.integer[Any]]

#: So many elements can be had in the time that it takes to begin a range.
_ELEMENTS_A_RUN = 1 << 12


class PartialArray(NDArrayOperatorsMixin, ABC):
    """Stands for an array, bit for bit.

    Indexing by a number, by a slice without a step or by an array of numbers brings about the rows (the elements, where
    there is one axis) that are asked for, each time anew: nothing written to them is seen elsewhere. Anything else that
    a NumPy array is used for, or rows so scattered that it takes no longer, brings about the whole, which is kept from
    then on. Any number of threads may use it at a time.
    """

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> None:
        self.shape = shape
        self.dtype = dtype
        self.ndim = len(shape)
        self.size = math.prod(shape)
        self.nbytes = self.size * self.dtype.itemsize
        self._width = math.prod(shape[1:])
        self._whole: Array | None = None
        self._making = threading.Lock()

    @abstractmethod
    def _make(self) -> Array:
        """The array itself."""

    @abstractmethod
    def _fill(self, start: int, flat: Array) -> None:
        """Fills ``flat``, contiguous, with the elements that are numbered from ``start`` on."""

    @abstractmethod
    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        """The same with runs of elements, one after another: each has those that are numbered from its ``starts`` on,
        and lies before the place ``ends`` of ``flat``, which the last one fills up."""

    def whole(self) -> Array:
        """The array itself, always the same one."""
        with self._making:
            if self._whole is None:
                self._whole = self._make()
            return self._whole

    def __len__(self) -> int:
        return len(self.whole()) if not self.shape else self.shape[0]

    def __getitem__(self, key: Any) -> Any:
        rows = self._rows(key) if self.shape and self._whole is None else None
        return self.whole()[key] if rows is None else rows

    def __iter__(self) -> Iterator[Any]:
        return iter(self.whole())

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self.whole(), dtype, copy=copy)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if "out" in kwargs:
            kwargs["out"] = tuple(_real(array) for array in kwargs["out"])
        return getattr(ufunc, method)(*(_real(array) for array in inputs), **kwargs)

    def __getattr__(self, name: str) -> Any:
        # By names with underscores NumPy asks for other ways to an array's memory, and copying for what is not there.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.whole(), name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    def _rows(self, key: Any) -> Any:
        """What ``key`` picks, by itself; None where the whole is needed, or might as well be had."""
        count = self.shape[0]
        if isinstance(key, slice):
            start, stop, step = key.indices(count)
            stop = max(start, stop)
            return self._range(start, stop) if step == 1 and stop - start < count else None
        if isinstance(key, (int, np.integer)) and not isinstance(key, bool) and -count <= key < count:
            row = int(key) % count
            return self._range(row, row + 1)[0]
        if isinstance(key, (list, np.ndarray)):
            return self._picked(np.asarray(key))
        return None

    def _range(self, start: int, stop: int) -> Array:
        array = np.empty((stop - start, *self.shape[1:]), self.dtype)
        self._fill(start * self._width, array.reshape(-1))
        return array

    def _picked(self, index: npt.NDArray[Any]) -> Any:
        """Rows by their numbers, those that follow each other at once; None as for ``_rows``."""
        count = self.shape[0]
        if index.dtype.kind not in "iu" or not index.size or not np.can_cast(index.dtype, np.int64):
            return None
        rows = index.reshape(-1).astype(np.int64, copy=False)
        most = (self.size - rows.size * self._width) // _ELEMENTS_A_RUN
        begins = run_begins(rows, most) if most > 0 else None
        if begins is None:
            return None
        ends = np.append(begins[1:], rows.size)
        # The first of a run is its least, the last its greatest.
        starts = rows[begins]
        if not -count <= (least := starts.min()) <= rows[ends - 1].max() < count:
            return None
        if least < 0:
            return self._picked(np.where(index < 0, index + np.int64(count), index))
        array = np.empty((rows.size, *self.shape[1:]), self.dtype)
        self._fill_runs(starts * self._width, ends * self._width, array.reshape(-1))
        # An index without axes picks a scalar.
        return array.reshape(index.shape + self.shape[1:])[()]


def whole(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The same with real arrays."""
    return {name: _real(array) for name, array in arrays.items()}


def _real(array: Any) -> Any:
    return array.whole() if isinstance(array, PartialArray) else array
