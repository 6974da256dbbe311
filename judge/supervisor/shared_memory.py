"""Shares memory between the supervisor and a runner, sealed so that neither can change its size.

NumPy is imported where arrays are copied: a runner starts before it is there.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

_F_SEAL_FUTURE_WRITE = 0x0010
_MADV_POPULATE_WRITE = 23
_madvise = ctypes.CDLL(None).madvise
_madvise.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int]
ALIGNMENT_BYTES = 4096
#: Bytes that one thread copies: allocating new memory page by page takes most of the time.
_PART_BYTES = 8 << 20


def align(size: int) -> int:
    """Returns ``size`` rounded up to whole pages."""
    return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES


def _in_threads(work: Callable[[slice], None], parts: Sequence[slice]) -> None:
    if len(parts) == 1:
        work(parts[0])
        return
    with ThreadPoolExecutor(min(len(parts), len(os.sched_getaffinity(0)))) as pool:
        for _ in pool.map(work, parts):
            pass


class SharedRegion:
    """``size`` bytes behind a descriptor that one runner gets. Sparse: pages exist once they are written.

    A ``read_only`` region can be written here, but the runner can map it for reading only.
    """

    def __init__(self, name: str, size: int, *, read_only: bool) -> None:
        self.size = size
        self.fd = os.memfd_create(name, os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        os.ftruncate(self.fd, size)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
        self._map = mmap.mmap(self.fd, size) if size else None
        self._address = ctypes.addressof(ctypes.c_char.from_buffer(self._map)) if self._map is not None else 0
        seals = fcntl.F_SEAL_SEAL | (_F_SEAL_FUTURE_WRITE if read_only else 0)
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)

    def write(self, offset: int, array: npt.NDArray[np.generic]) -> None:
        """Copies an array's bytes, row-major, to ``offset``."""
        import numpy as np

        if array.nbytes:
            target: npt.NDArray[np.generic] = np.ndarray(array.shape, array.dtype, buffer=self._mapped(), offset=offset)
            target[...] = array

    def view(self, offset: int, count: int, dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
        """Returns ``count`` elements from ``offset`` on, to be filled in place; it stays valid after ``close``."""
        import numpy as np

        return np.ndarray((count,), dtype, buffer=self._mapped(), offset=offset)

    def read(
        self,
        offset: int,
        shape: tuple[int, ...],
        dtype: np.dtype[np.generic],
        *,
        make: Callable[[tuple[int, ...], np.dtype[np.generic]], npt.NDArray[np.generic]] | None = None,
    ) -> npt.NDArray[np.generic]:
        """Returns a private copy, in memory that ``make`` allocates, which the runner cannot change afterwards."""
        import numpy as np

        copy = (make or np.empty)(shape, dtype)
        if copy.nbytes:
            target = copy.reshape(-1).view(np.uint8)
            source = np.ndarray(target.shape, np.uint8, buffer=self._mapped(), offset=offset)
            parts = [slice(begin, begin + _PART_BYTES) for begin in range(0, target.size, _PART_BYTES)]
            _in_threads(lambda part: np.copyto(target[part], source[part]), parts)
        return copy

    def clear(self, offset: int, size: int) -> None:
        """Zeroes a range, so that no earlier call's data can pass for an output."""
        import numpy as np

        if size:
            np.ndarray((size,), np.uint8, buffer=self._mapped(), offset=offset)[:] = 0

    def populate(self, size: int) -> None:
        """Allocates the pages of the first ``size`` bytes at once, so that later writes do not fault page by page.

        Does nothing before Linux 5.14 or after ``close``; pages are then allocated as they are touched.
        """
        mapped, address = self._map, self._address
        if size and mapped is not None and address:
            # Unlike the mmap object's own method, ctypes releases the interpreter lock.
            _madvise(address, size, _MADV_POPULATE_WRITE)

    def close(self) -> None:
        """Idempotent. The runner's own mapping lives as long as the runner.

        Another thread may still fill a view: the mapping lives as long as the last one, as NumPy's arrays refer to it.
        """
        if self.fd >= 0:
            os.close(self.fd)
            self.fd, self._address, self._map = -1, 0, None

    def _mapped(self) -> mmap.mmap:
        mapped = self._map
        if mapped is None:
            raise ValueError("a region without bytes, or a closed one")
        return mapped


class LibraryFile:
    """The file for the submission's library: empty when the runner starts, filled and sealed before it is loaded."""

    def __init__(self) -> None:
        self.fd = os.memfd_create("kernel", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)

    def fill(self, library: bytes) -> None:
        """Writes the library and seals it against every change. Once only."""
        rest = memoryview(library)
        while rest:
            rest = rest[os.write(self.fd, rest) :]
        seals = fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW | fcntl.F_SEAL_WRITE | fcntl.F_SEAL_SEAL
        fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, seals)

    def close(self) -> None:
        if self.fd >= 0:
            os.close(self.fd)
            self.fd = -1
