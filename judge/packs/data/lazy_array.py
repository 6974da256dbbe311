"""An array whose parts are made, or fetched, only where they are read.

The check of a timed call reads a few blocks of arrays of hundreds of megabytes, or goes through them once. Where any
range can be made by itself, the check waits neither for the whole array nor for memory to hold it.
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

from judge.native.library import loaded

Array = npt.NDArray[np.generic]
Numbers = npt.NDArray[np.integer[Any]]

#: Beginning a range takes as long as making this many elements.
_ELEMENTS_PER_RUN = 1 << 12


class LazyArray(NDArrayOperatorsMixin, ABC):
    """Stands for an array, bit for bit. Safe with any number of threads.

    Indexing by a number, by a slice without a step or by an array of numbers makes only the rows (the elements, where
    there is one axis) asked for, each time anew: nothing written to them is seen elsewhere. Any other use of a NumPy
    array, or rows so scattered that it takes no longer, makes the whole array, which is then kept.
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
        """Returns the whole array."""

    @abstractmethod
    def _fill(self, start: int, flat: Array) -> None:
        """Fills ``flat``, contiguous, with the elements from number ``start`` on."""

    @abstractmethod
    def _fill_runs(self, starts: Numbers, ends: Numbers, flat: Array) -> None:
        """Fills ``flat`` with runs of elements, one after another.

        Run i holds the elements from number ``starts[i]`` on and ends before ``flat[ends[i]]``; the last one fills up
        ``flat``.
        """

    def whole(self) -> Array:
        """Returns the whole array, the same one at every call."""
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
        # NumPy asks by underscored names for other ways to an array's memory; copying asks for what is not there.
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.whole(), name)

    def __repr__(self) -> str:
        return f"{type(self).__name__}(shape={self.shape}, dtype={self.dtype})"

    def _rows(self, key: Any) -> Any:
        """Returns the rows that ``key`` picks, made by themselves; None where making the whole is needed or as fast."""
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
        """Returns rows by their numbers, consecutive ones made together; None as for ``_rows``."""
        count = self.shape[0]
        if index.dtype.kind not in "iu" or not index.size or not np.can_cast(index.dtype, np.int64):
            return None
        rows = index.reshape(-1).astype(np.int64, copy=False)
        most = (self.size - rows.size * self._width) // _ELEMENTS_PER_RUN
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


def real_arrays(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the same values with every LazyArray made whole."""
    return {name: _real(array) for name, array in arrays.items()}


def run_begins(rows: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64] | None:
    """Returns the positions in ``rows`` (at least one row) where a number does not follow the one before.

    None where there are more than ``most`` such positions.
    """
    if (native := loaded()) is not None:
        return native.run_begins(rows, most)
    begins = np.append(0, np.flatnonzero(rows[1:] - rows[:-1] != 1) + 1)
    return begins if begins.size <= most else None


def _real(array: Any) -> Any:
    return array.whole() if isinstance(array, LazyArray) else array
