"""Arrays in memory that other processes can map: passing one costs nothing, however large it is."""

from __future__ import annotations

import fcntl
import mmap
import os
import threading
import weakref

import numpy as np
import numpy.typing as npt

#: The open arrays by the address where their memory begins.
_open: dict[int, SharedMemory] = {}


class SharedMemory:
    """``size`` bytes behind a descriptor, which is closed with the last array in them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.fd = os.memfd_create("pack-array", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
        try:
            os.ftruncate(self.fd, size)
            fcntl.fcntl(self.fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_SHRINK | fcntl.F_SEAL_GROW)
            self.map = mmap.mmap(self.fd, size)
        except BaseException:
            os.close(self.fd)
            raise


def shared_empty(shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
    """Returns an array of zeros like ``np.empty``'s, in memory of its own that others can map."""
    count = int(np.prod(shape, dtype=np.int64))
    if not count * dtype.itemsize:
        return np.empty(shape, dtype)
    memory = SharedMemory(count * dtype.itemsize)
    flat = np.frombuffer(memory.map, dtype, count)
    address = flat.__array_interface__["data"][0]
    _open[address] = memory
    weakref.finalize(flat, _close, address)
    return flat.reshape(shape)


class SharedRooms:
    """Memory for shared arrays that is used again: the kernel takes as long to make new pages as a copy takes.

    Safe with any number of threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[npt.NDArray[np.generic]] = []

    def prepare(self, size: int, count: int) -> None:
        """Makes memory for ``count`` arrays of ``size`` bytes, with all its pages."""
        for _ in range(count):
            room = shared_empty((size,), np.dtype(np.uint8))
            room.fill(0)
            self.give(room)

    def take(self, shape: tuple[int, ...], dtype: np.dtype[np.generic]) -> npt.NDArray[np.generic]:
        """Returns an array with any contents, in memory of its own."""
        size = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
        with self._lock:
            for index, room in enumerate(self._free):
                if room.nbytes == size and size:
                    del self._free[index]
                    return room.view(dtype).reshape(shape)
        return shared_empty(shape, dtype)

    def give(self, array: npt.NDArray[np.generic]) -> None:
        """Takes an array's memory back. Nobody may use the array any more."""
        if array.nbytes:
            with self._lock:
                self._free.append(array.reshape(-1).view(np.uint8))


def shared_memory_of(view: memoryview) -> SharedMemory | None:
    """Returns the shared memory that consists of exactly these bytes; None where they lie elsewhere."""
    if not view.nbytes:
        return None
    address = np.frombuffer(view, np.uint8).__array_interface__["data"][0]
    memory = _open.get(address)
    return memory if memory is not None and memory.size == view.nbytes else None


def _close(address: int) -> None:
    memory = _open.pop(address)
    os.close(memory.fd)
