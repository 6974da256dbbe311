"""Loads a pack's ``reference.py``, its code in NumPy. It is trusted: the pack's maintainers wrote it.

It may define these functions. Arrays come as the kernel gets them, by argument name, and scalars as NumPy scalars.

* ``reference(**inputs)``: the outputs in float64 or int64: an array where there is one output, else a dict by name.
  Required.
* ``magnitude(**inputs)``: the magnitude M of judge.check.tolerance, of the same form.
* ``make_inputs(rng, **axes, **parameters)``: a dict of arrays for the inputs that have no distribution; ``rng`` is a
  ``numpy.random.Generator``.
* ``spot_check(rng, inputs, outputs)``: for outputs that take too long to check whole in every timed call. Returns
  ``{output: (rows, values, magnitude)}``: indices along the first axis, chosen after the outputs were made, the right
  values there, and the magnitude there (or None). The rows are then compared within the usual bound. Where there are
  many, it yields such dicts one after another, of rows few enough to stay in a processor's cache. Each
  declared input is a judge.packs.lazy_input.LazyInput: reading rows by their numbers, or ranges, makes these alone; any
  other use makes the whole array. Large outputs are likewise compared with what was committed where they are read
  (judge.bench.verification). Do not write to either.
"""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from judge.packs.errors import PackError


@dataclass(frozen=True, slots=True)
class Reference:
    """The functions of one ``reference.py``."""

    reference: Callable[..., Any]
    magnitude: Callable[..., Any] | None
    make_inputs: Callable[..., Any] | None
    spot_check: Callable[..., Any] | None


def load_reference(path: Path, module_name: str) -> Reference:
    """Imports the file as a module of its own. Raises PackError if that fails or ``reference`` is missing."""
    if not path.is_file():
        raise PackError(path, "", "is missing; it must define reference(**inputs)")
    module = _import(path, module_name)
    functions: dict[str, Any] = {}
    for name in ("reference", "magnitude", "make_inputs", "spot_check"):
        function = getattr(module, name, None)
        if function is not None and not callable(function):
            raise PackError(path, name, "must be a function")
        functions[name] = function
    if functions["reference"] is None:
        raise PackError(
            path,
            "reference",
            "is not defined; write reference(**inputs), which returns the outputs in float64 or int64",
        )
    return Reference(**functions)


def _import(path: Path, module_name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(module_name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    # Dataclasses and pickling look a module up by its name.
    sys.modules[module_name] = module
    writes_bytecode = sys.dont_write_bytecode
    sys.dont_write_bytecode = True
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        sys.modules.pop(module_name, None)
        raise PackError(path, "", f"cannot be imported: {type(error).__name__}: {error}") from error
    finally:
        sys.dont_write_bytecode = writes_bytecode
    return module
