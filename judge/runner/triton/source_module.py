"""Runs the host code of a submission, finds its ``solve``, and says what went wrong by the lines of its file."""

from __future__ import annotations

import linecache
import sys
import traceback
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any

FILE_NAME = "kernel.py"


def execute(source: bytes, path: str = FILE_NAME) -> ModuleType:
    """Returns the module that a source makes. Raises what the source raises."""
    text = source.decode("utf-8", "replace")
    module = ModuleType("kernel")
    module.__file__ = path
    sys.modules["kernel"] = module
    linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)
    exec(compile(text, path, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 (inside the jail, which is there for this)
    return module


def find_solve(module: ModuleType) -> Callable[..., Any]:
    """Returns the function that the judge calls. Raises TypeError where there is none."""
    solve = getattr(module, "solve", None)
    if solve is None:
        raise TypeError("there is no function `solve`")
    if not callable(solve) or hasattr(solve, "arg_names"):
        raise TypeError("`solve` is not a function: the judge calls it, and it launches kernels")
    found: Callable[..., Any] = solve
    return found


def told(error: BaseException, path: str = FILE_NAME) -> str:
    """Returns an error in words, with the line of the source that it comes from."""
    line = line_of(error, path)
    text = str(error) if not isinstance(error, SyntaxError) else error.msg
    name = type(error).__name__
    said = f"{name}: {text}" if text else name
    return said if line is None else f"{FILE_NAME}:{line}: error: {said}"


def line_of(error: BaseException, path: str = FILE_NAME) -> int | None:
    """Returns the last line of the source on the way to an error; None where it is not on it."""
    if isinstance(error, SyntaxError) and error.filename == path:
        return error.lineno
    frames = traceback.extract_tb(error.__traceback__)
    return next((frame.lineno for frame in reversed(frames) if frame.filename == path), None)


def stack(error: BaseException, path: str = FILE_NAME) -> str:
    """Returns the frames of the source on the way to an error, one a line with its text, and the error."""
    frames: Sequence[traceback.FrameSummary] = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if frame.filename == path][-10:]
    lines = [f"{FILE_NAME}:{frame.lineno}: in {frame.name}: {(frame.line or '').strip()}" for frame in own]
    return "\n".join([*lines, told(error, path)])
