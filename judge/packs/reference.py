"""A pack's ``reference.py``, its code in NumPy.

A pack is read without running it: which functions it has shows in its syntax. The code runs in processes of the pack
(``judge.packs.isolation``), which import it when they first use it.

It may define these functions. Arrays come as the kernel gets them, by argument name, and scalars as NumPy scalars.

* ``reference(**inputs)``: the outputs in float64 or int64: an array where there is one output, else a dict by name.
  Required.
* ``magnitude(**inputs)``: the magnitude M of judge.check.tolerance, of the same form.
* ``check(inputs, outputs)``: for outputs of which several are right. Returns None where they are right, else one
  sentence that says what is wrong and where. It decides about every output without a tolerance, and may look at all.
* ``mistake(inputs, outputs)``: for wrong outputs of small cases. Returns one sentence that names a common mistake if
  the outputs are what that mistake gives, else None. It decides nothing.
* ``make_inputs(rng, **axes, **parameters)``: a dict of arrays for the inputs that have no data declared; ``rng`` is a
  ``numpy.random.Generator``.
* ``spot_check(rng, inputs, outputs)``: for outputs that take too long to check whole in every timed call. Returns
  ``{output: (rows, values, magnitude)}``: indices along the first axis, chosen after the outputs were made, the right
  values there, and the magnitude there (or None). The rows are then compared within the usual bound. Where there are
  many, it yields such dicts one after another, of rows few enough to stay in a processor's cache. Each declared input
  is a judge.packs.data.lazy_input.LazyInput: reading rows by their numbers, or ranges, makes these alone; any other use
  makes the whole array. Large outputs are likewise compared with what was committed where they are read
  (judge.packs.data.committed_array). Neither can be written to.
"""

from __future__ import annotations

import ast
import importlib.util
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

from judge.packs.errors import PackError

FUNCTIONS = ("reference", "magnitude", "make_inputs", "spot_check", "check", "mistake")


class Reference:
    """The functions of one ``reference.py``; None stands for one that it lacks. Safe with any number of threads.

    Only a local one has the functions, and reading one imports the file, which raises PackError if that fails. A copy
    in another process is local: what the judge sends to a process of the pack can call the functions there.
    """

    def __init__(self, path: Path, module_name: str, defined: frozenset[str], *, is_local: bool = False) -> None:
        self.path = path
        self.is_local = is_local
        self._module_name = module_name
        self._defined = defined
        self._module: ModuleType | None = None
        self._importing = threading.Lock()

    @property
    def reference(self) -> Callable[..., Any]:
        function = self._function("reference")
        assert function is not None, "the loader refuses a file without it"
        return function

    @property
    def magnitude(self) -> Callable[..., Any] | None:
        return self._function("magnitude")

    @property
    def make_inputs(self) -> Callable[..., Any] | None:
        return self._function("make_inputs")

    @property
    def spot_check(self) -> Callable[..., Any] | None:
        return self._function("spot_check")

    @property
    def check(self) -> Callable[..., Any] | None:
        return self._function("check")

    @property
    def mistake(self) -> Callable[..., Any] | None:
        return self._function("mistake")

    def defines(self, name: str) -> bool:
        """Returns whether the file defines a function, without importing it."""
        return name in self._defined

    def local(self) -> Reference:
        """Returns a local one, whose code runs in this process, with all that this may do."""
        return Reference(self.path, self._module_name, self._defined, is_local=True)

    def __reduce__(self) -> tuple[Any, ...]:
        return _local_reference, (self.path, self._module_name, self._defined)

    def _function(self, name: str) -> Callable[..., Any] | None:
        if name not in self._defined:
            return None
        if not self.is_local:
            raise RuntimeError(f"{name} of {self.path} runs in a process of the pack; see judge.packs.isolation")
        with self._importing:
            if self._module is None:
                self._module = _import(self.path, self._module_name)
        function: Callable[..., Any] | None = getattr(self._module, name, None)
        if not callable(function):
            raise PackError(self.path, name, "must be a function")
        return function


def _local_reference(path: Path, module_name: str, defined: frozenset[str]) -> Reference:
    return Reference(path, module_name, defined, is_local=True)


def read_reference(path: Path, module_name: str) -> Reference:
    """Returns the functions of the file, not imported yet.

    Raises PackError if it is not Python or lacks ``reference``.
    """
    if not path.is_file():
        raise PackError(path, "", "is missing; it must define reference(**inputs)")
    try:
        tree = ast.parse(path.read_bytes(), path)
    except (SyntaxError, ValueError) as error:
        raise PackError(path, "", f"is not Python: {type(error).__name__}: {error}") from None
    defined = frozenset(_names(tree)) & frozenset(FUNCTIONS)
    if "reference" not in defined:
        reason = "is not defined; write reference(**inputs), which returns the outputs in float64 or int64"
        raise PackError(path, "reference", reason)
    return Reference(path, module_name, defined)


def _names(tree: ast.Module) -> Iterator[str]:
    """Yields the names that a module binds at its top level."""
    for node in tree.body:
        match node:
            case ast.FunctionDef(name=name) | ast.ClassDef(name=name):
                yield name
            case ast.Assign(targets=targets):
                yield from (target.id for target in targets if isinstance(target, ast.Name))
            case ast.AnnAssign(target=ast.Name(id=name)):
                yield name
            case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
                yield from (alias.asname or alias.name for alias in aliases)


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
