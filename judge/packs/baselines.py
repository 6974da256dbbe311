"""The libraries' calls for a pack's task: the table ``[baselines]`` and the file ``baselines.py``.

The table names each baseline, its library and its conditions. The file has a function of each name. It takes the pack's
arguments by name: arrays as ``torch.Tensor`` on the device (``judge.packs.sizes.shape``; ``const`` arguments must not
be written), scalars as ``int`` or ``float``. It returns the output, or a dict by name where there are several: tensors
or CuPy arrays of the output's element type, of any shape with as many elements. It may return the buffer that it was
given, filled.

A row with ``compiles`` is ``torch.compile`` of another function of the file, for each shape anew.

These functions are trusted code: they run outside of the jail. So only challenges that come with gpujudge have
baselines that run; those of any other pack are refused by name (``Baselines.refused``) and never imported.
"""

from __future__ import annotations

import ast
import importlib.util
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any, Literal

from judge.packs.errors import PackError
from records import dataclass

FILE = "baselines.py"
#: The challenges that come with gpujudge.
INSTALLED = Path(__file__).resolve().parents[2] / "challenges"
#: The key of the table that says why there is no baseline.
NONE = "none"

Module = Literal["torch", "cupy"]


@dataclass(frozen=True, slots=True)
class Baseline:
    """A library's call.

    ``library`` is what people know it by (cuBLAS), ``module`` the Python module that calls it, ``conditions`` what it
    is called with (TF32 off), empty where there is nothing to say. ``on_cpu`` says whether tests may make the call on
    the CPU: what PyTorch has there may not exist, or may round differently. ``compiles`` is the function that
    ``torch.compile`` compiles; empty where the file has a function of the baseline's own name.
    """

    name: str
    library: str
    module: Module
    conditions: str = ""
    on_cpu: bool = True
    compiles: str = ""

    @property
    def function(self) -> str:
        """The name of the function in the file."""
        return self.compiles or self.name


@dataclass(frozen=True, slots=True)
class Baselines:
    """The baselines of a pack in the file's order. ``none`` says why there are none; empty where nobody said.

    ``refused`` says that those of a pack that does not come with gpujudge are not run; then ``calls`` is empty.
    """

    calls: tuple[Baseline, ...] = ()
    none: str = ""
    refused: str = ""


def trusted(directory: Path, baselines: Baselines) -> Baselines:
    """Returns the baselines of the pack in ``directory`` where they may run, else none and why.

    Raises PackError where the file beside ``challenge.toml`` and the table disagree.
    """
    if directory.parent == INSTALLED:
        check_functions(directory, baselines)
        return baselines
    if not baselines.calls:
        return baselines
    names = ", ".join(baseline.name for baseline in baselines.calls)
    return Baselines(
        refused=f"the baselines of {directory.name} are not run: {names}. They would run outside of the jail, which "
        "only those of challenges that come with gpujudge may. Leave out [baselines] and baselines.py."
    )


def check_functions(directory: Path, baselines: Baselines) -> None:
    """Raises PackError where the file beside ``challenge.toml`` and the table disagree. Does not run the file."""
    file = directory / FILE
    if not baselines.calls:
        if file.is_file():
            raise PackError(file, "", "is not used; name its functions in [baselines] of challenge.toml, or delete it")
        return
    try:
        tree = ast.parse(file.read_bytes(), file)
    except OSError:
        first = baselines.calls[0].function
        raise PackError(file, "", f"is missing; [baselines] names the function '{first}' of it") from None
    except (SyntaxError, ValueError) as error:
        raise PackError(file, "", f"is not Python: {type(error).__name__}: {error}") from None
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for baseline in baselines.calls:
        if baseline.function not in defined:
            raise PackError(
                file, baseline.function, "is not defined; write a function of this name, or take it from [baselines]"
            )


def load_functions(directory: Path, baselines: Baselines) -> dict[str, Callable[..., Any]]:
    """Imports the file and returns its functions by baseline. Runs trusted code; raises what the file raises."""
    spec = importlib.util.spec_from_file_location(
        f"gpujudge_baselines_{directory.name.replace('-', '_')}", directory / FILE
    )
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {baseline.name: _callable(module, baseline) for baseline in baselines.calls}


def _callable(module: ModuleType, baseline: Baseline) -> Callable[..., Any]:
    function: Callable[..., Any] = getattr(module, baseline.function)
    if not baseline.compiles:
        return function
    import torch

    # Sizes are constants, as for a kernel that is compiled for its benchmark.
    compiled: Callable[..., Any] = torch.compile(function, dynamic=False)
    return compiled
