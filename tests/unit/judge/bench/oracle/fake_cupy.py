"""Stands for CuPy where there is no GPU: NumPy under its name, and a device whose kernels are NumPy's too."""

from __future__ import annotations

import sys
import types
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.packs.collection.pool import SecretPool
from judge.packs.data.drawing import fill_by_recipe
from judge.packs.data.storage import stored_type
from judge.wire.digest import tree_digest
from judge.wire.recipe import Recipe


class HostGpu:
    """Does on the host what ``judge.bench.oracle.gpu.Gpu`` does."""

    def __init__(self, ordinal: int, kernels: Path) -> None:
        del ordinal, kernels
        self.is_free = True

    def draw(self, recipe: Recipe, shape: tuple[int, ...], pool: SecretPool | None) -> Any:
        array = np.empty(shape, stored_type(recipe.element))
        fill_by_recipe(recipe, array.reshape(-1), pool=pool)
        return array

    def upload(self, array: Any) -> Any:
        self.is_free = False
        return np.array(array)

    def digest(self, array: Any) -> bytes:
        return tree_digest(np.ascontiguousarray(array).reshape(-1).view(np.uint8).data)

    def free(self) -> None:
        self.is_free = True


def install(monkeypatch: pytest.MonkeyPatch) -> None:
    """Puts the stand-ins where ``Answering`` imports them."""
    cupy = types.ModuleType("cupy")
    cupy.__dict__.update({name: getattr(np, name) for name in dir(np) if not name.startswith("__")})
    cupy.asnumpy = np.asarray  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "cupy", cupy)
    for name in ("gpu", "numpy_on_gpu"):
        monkeypatch.delitem(sys.modules, f"judge.bench.oracle.{name}", raising=False)
    import judge.bench.oracle.gpu as gpu

    monkeypatch.setattr(gpu, "Gpu", HostGpu)
