"""The native library through ctypes: mirrors what ``sources/`` exports.

Each call releases the interpreter's lock once, for all of its work.
"""

from __future__ import annotations

import ctypes
from ctypes import c_bool, c_double, c_int, c_size_t, c_uint, c_uint64, c_void_p
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.wire.recipe import Key, Kind, Recipe

Bytes = npt.NDArray[np.uint8]
Numbers = npt.NDArray[np.integer[Any]]
Doubles = npt.NDArray[np.float64]

_DIGEST_BYTES = 32


class NativeLibrary:
    """The loaded library. Any number of threads may call it; ``threads`` bounds those that one call uses."""

    def __init__(self, path: Path) -> None:
        """Raises OSError."""
        self.path = path
        library = ctypes.CDLL(str(path))
        self._fill_runs = library.gpujudge_fill_runs
        self._fill_runs.argtypes = (
            *(c_int, c_int, c_uint64, c_uint64, c_double, c_double, c_bool, c_uint64, c_uint64, c_uint64),
            *(c_void_p, c_void_p, c_size_t, c_void_p, c_uint),
        )
        self._fill_runs.restype = None
        self._run_begins = library.gpujudge_run_begins
        self._run_begins.argtypes = (c_void_p, c_size_t, c_void_p, c_size_t)
        self._run_begins.restype = c_size_t
        self._mask = library.gpujudge_mask
        self._mask.argtypes = (c_uint64, c_uint64, c_void_p, c_size_t, c_void_p, c_uint)
        self._mask.restype = None
        self._digest_pieces = library.gpujudge_digest_pieces
        self._digest_pieces.argtypes = (*(c_void_p, c_size_t, c_size_t, c_void_p, c_size_t, c_bool), c_void_p, c_uint)
        self._digest_pieces.restype = None
        self._bounds = library.gpujudge_bounds
        self._bounds.argtypes = (c_void_p, c_void_p, c_size_t, c_double, c_double, c_double, c_double, c_void_p)
        self._bounds.restype = None
        self._all_near = library.gpujudge_all_near
        self._all_near.argtypes = (c_void_p, c_void_p, c_void_p, c_bool, c_size_t)
        self._all_near.restype = c_bool
        library.gpujudge_has_sha_instructions.restype = c_bool
        #: Whether the processor has instructions for SHA-256.
        self.has_sha_instructions = bool(library.gpujudge_has_sha_instructions())

    @staticmethod
    def makes(recipe: Recipe) -> bool:
        """Returns whether :meth:`fill` and :meth:`fill_runs` NumPy makes the others."""
        drawn = recipe.kind in (Kind.UNIFORM, Kind.NORMAL) and recipe.element.facts.is_float
        return (drawn or recipe.kind is Kind.INTEGERS) and recipe.zeros is None

    def fill(
        self, recipe: Recipe, start: int, out: npt.NDArray[np.generic], threads: int, pool: Key | None = None
    ) -> None:
        """Fills ``out`` with the elements of a recipe from number ``start`` on, sentinels and changes apart.

        ``out`` is contiguous and of the recipe's type. ``pool`` is the key of the pool that they are mixed with, None
        without one.
        """
        self.fill_runs(recipe, np.array([start], np.uint64), np.array([out.size], np.uint64), out, threads, pool)

    def fill_runs(
        self,
        recipe: Recipe,
        starts: Numbers,
        ends: Numbers,
        out: npt.NDArray[np.generic],
        threads: int,
        pool: Key | None = None,
    ) -> None:
        """Fills ``out`` with runs of elements, one after another, sentinels and changes apart.

        Run i holds the elements from number ``starts[i]`` on and ends before ``out[ends[i]]``; the last one fills up
        ``out``. ``pool`` as for :meth:`fill`.
        """
        if (recipe.pool is None) != (pool is None):
            raise ValueError("a recipe with a part of a pool and no pool, or the other way round")
        if not self.makes(recipe) or out.itemsize != recipe.element.facts.size_bytes:
            raise ValueError(f"{recipe.kind.name} as {recipe.element.name} in {out.dtype}")
        begins, places = (np.ascontiguousarray(numbers, np.uint64) for numbers in (starts, ends))
        size = int(places[-1]) if places.size else 0
        if begins.shape != places.shape or (places[1:] < places[:-1]).any() or out.size != size:
            raise ValueError(f"{begins.size} runs that end at {places} in {out.size} elements")
        self._fill_runs(
            recipe.kind, recipe.element, *recipe.key, recipe.offset, recipe.scale,
            pool is not None, *(pool or (0, 0)), recipe.pool or 0,
            _address(begins), _address(places), begins.size, _address(out), max(1, threads),
        )  # fmt: skip

    def run_begins(self, rows: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64] | None:
        """Returns the positions in ``rows`` where a number does not follow the one before; None if over ``most``."""
        numbers = np.ascontiguousarray(rows, np.int64)
        begins = np.empty(min(most, numbers.size), np.int64)
        found = self._run_begins(_address(numbers), numbers.size, _address(begins), begins.size)
        return begins[:found] if found <= begins.size else None

    def mask(self, source: Bytes, key: Key, out: Bytes, threads: int) -> None:
        """Writes to ``out`` the bytes of ``source``, XORed with those of the stream of ``key``."""
        if source.size != out.size:
            raise ValueError(f"{source.size} bytes to {out.size}")
        self._mask(*key, _address(source), source.size, _address(out), max(1, threads))

    def digest_pieces(
        self, data: Bytes, piece_bytes: int, threads: int, picked: Numbers | None = None, *, portable: bool = False
    ) -> Bytes:
        """Returns the SHA-256 digests of the pieces of ``data``, or of the ``picked`` ones, in order.

        Without bytes there is one empty piece. ``portable`` avoids the processor's SHA instructions.
        """
        pieces = max(1, -(-data.size // piece_bytes))
        if picked is not None:
            picked = np.ascontiguousarray(picked, np.uint64)
            if picked.size and int(picked.max()) >= pieces:
                raise ValueError(f"piece {picked.max()} of {pieces}")
            pieces = picked.size
        digests = np.empty(pieces * _DIGEST_BYTES, np.uint8)
        self._digest_pieces(
            _address(data),
            data.size,
            piece_bytes,
            None if picked is None else _address(picked),
            pieces,
            portable,
            _address(digests),
            max(1, threads),
        )
        return digests

    def bounds(
        self, values: Doubles, magnitude: Doubles | None, growth: float, factor: float, written: float, least: float
    ) -> Doubles:
        """Returns ``(growth · |R| + M) · factor + written · |R| + least`` for each R of ``values``.

        M is the one of ``magnitude``, |R| where that is None. The bound is 0 where R is not finite.
        """
        wanted = np.ascontiguousarray(values, np.float64)
        scale = None if magnitude is None else np.ascontiguousarray(magnitude, np.float64)
        if scale is not None and scale.shape != wanted.shape:
            raise ValueError(f"magnitudes of shape {scale.shape} for values of shape {wanted.shape}")
        bound = np.empty(values.shape)
        self._bounds(
            _address(wanted),
            None if scale is None else _address(scale),
            wanted.size,
            growth,
            factor,
            written,
            least,
            _address(bound),
        )
        return bound

    def all_near(self, values: npt.NDArray[Any], bound: Doubles, actual: npt.NDArray[np.generic]) -> bool:
        """Returns whether every element of ``actual`` lies within its ``bound`` of that of ``values``.

        ``actual`` is of float32 or float64. A difference that is not finite is too large.
        """
        if not values.shape == bound.shape == actual.shape:
            raise ValueError(f"shapes {values.shape}, {bound.shape} and {actual.shape}")
        single = actual.dtype == np.float32
        have = np.ascontiguousarray(actual, np.float32 if single else np.float64)
        wanted, allowed = (np.ascontiguousarray(array, np.float64) for array in (values, bound))
        near: bool = self._all_near(_address(wanted), _address(allowed), _address(have), single, values.size)
        return near


def load(path: Path) -> None:
    """Makes this process use the library from now on. Raises OSError."""
    global _loaded
    _loaded = NativeLibrary(path)


def loaded_path() -> Path | None:
    """Returns the file of the library that this process uses; None where it has loaded none."""
    return None if _loaded is None else _loaded.path


def loaded() -> NativeLibrary | None:
    """Returns the library; None where this process has loaded none."""
    return _loaded


_loaded: NativeLibrary | None = None


def _address(array: npt.NDArray[np.generic]) -> int:
    if not array.flags.c_contiguous:
        raise ValueError("not contiguous")
    return array.ctypes.data
