"""The runner's view of the two shared memories: inputs, which it may only read, and outputs."""

from __future__ import annotations

import ctypes
import mmap
import os

_libc = ctypes.CDLL(None)
_libc.memcmp.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t]
_libc.memcmp.restype = ctypes.c_int


class SharedMemory:
    """``size`` bytes of the file behind ``fd``. The supervisor sets the size and seals the file against another."""

    def __init__(self, fd: int, size: int, *, writable: bool) -> None:
        access = mmap.PROT_READ | (mmap.PROT_WRITE if writable else 0)
        self._map = mmap.mmap(fd, size, flags=mmap.MAP_SHARED, prot=access) if size else None
        self._view = memoryview(self._map) if self._map is not None else memoryview(b"")
        os.close(fd)

    def piece(self, offset: int, size: int) -> memoryview:
        """Returns the view of a piece. Raises ValueError where the piece does not lie inside."""
        if offset < 0 or size < 0 or offset + size > len(self._view):
            raise ValueError(f"{size} bytes at {offset} are outside the shared memory of {len(self._view)}")
        return self._view[offset : offset + size]


def same_bytes(left: memoryview, right: memoryview) -> bool:
    """Returns whether two views hold the same bytes. Comparing memoryviews would go item by item."""
    if left.nbytes != right.nbytes:
        return False
    if not left.nbytes:
        return True
    return bool(_libc.memcmp(_address(left), _address(right), left.nbytes) == 0)


class _PyBuffer(ctypes.Structure):
    """CPython's Py_buffer: the only way to the address of a read-only view without copying or NumPy."""

    _fields_ = (
        ("buf", ctypes.c_void_p),
        ("obj", ctypes.py_object),
        ("len", ctypes.c_ssize_t),
        ("itemsize", ctypes.c_ssize_t),
        ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int),
        ("format", ctypes.c_char_p),
        ("shape", ctypes.c_void_p),
        ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p),
        ("internal", ctypes.c_void_p),
    )


def _address(view: memoryview) -> int:
    """Returns the address of the first byte, valid as long as the caller keeps ``view``."""
    raw = _PyBuffer()
    get, release = ctypes.pythonapi.PyObject_GetBuffer, ctypes.pythonapi.PyBuffer_Release
    get.argtypes = [ctypes.py_object, ctypes.POINTER(_PyBuffer), ctypes.c_int]
    release.argtypes = [ctypes.POINTER(_PyBuffer)]
    get(view, ctypes.byref(raw), 0)
    address = int(raw.buf or 0)
    release(ctypes.byref(raw))
    return address
