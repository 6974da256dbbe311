"""Imports modules written for NumPy so that they compute on the GPU, by CuPy, which has the same interface.

Only the module itself gets CuPy under the name ``numpy``; what it imports is imported as usual.
"""

from __future__ import annotations

import builtins
import contextlib
import sys
import types
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import cupy
import numpy


class _ErrState(contextlib.ContextDecorator):
    """Stands for ``numpy.errstate``: a GPU raises no warnings."""

    def __init__(self, **_: str) -> None:
        pass

    def __enter__(self) -> _ErrState:
        return self

    def __exit__(self, *_: object) -> None:
        pass


class _Numpy(types.ModuleType):
    """CuPy under NumPy's name, with what CuPy leaves out and needs no array."""

    errstate = _ErrState
    generic, number, integer, floating = numpy.generic, numpy.number, numpy.integer, numpy.floating

    def __getattr__(self, name: str) -> Any:
        return getattr(cupy, name)

    @staticmethod
    def ndenumerate(array: Any) -> Any:
        """Goes through an array on the host: for the few elements of a filter, say."""
        return numpy.ndenumerate(cupy.asnumpy(array))


_NUMPY = _Numpy("numpy")
#: References go through long arrays in pieces of ``_CHUNK`` elements, which a processor's cache holds. For a GPU, where
#: each step of a piece costs a launch, they are this long. Shorter ones count rows.
_PIECE, _LEAST_PIECE = 1 << 25, 1 << 14


def load(path: Path, name: str) -> types.ModuleType:
    """Executes a file as the module ``name`` with CuPy in place of NumPy. Raises what the file raises."""
    module = types.ModuleType(name)
    module.__file__ = str(path)
    module.__dict__["__builtins__"] = {**vars(builtins), "__import__": _import}
    # Dataclasses look their module up.
    sys.modules[name] = module
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)  # noqa: S102 (the pack's own code, as an import runs it)
    return module


@contextlib.contextmanager
def long_pieces(module: types.ModuleType) -> Iterator[None]:
    """Has the functions of a module work in pieces that suit a GPU, until the block ends."""
    own = getattr(module, "_CHUNK", 0)
    if own >= _LEAST_PIECE:
        module.__dict__["_CHUNK"] = max(own, _PIECE)
    try:
        yield
    finally:
        if own:
            module.__dict__["_CHUNK"] = own


def _import(name: str, *arguments: Any, **keywords: Any) -> Any:
    return _NUMPY if name == "numpy" else __import__(name, *arguments, **keywords)
