"""A kernel's machine code: from the cache, or compiled quickly on demand and optimized once the kernel is hot.

Results and counts are the same with either tier. LLVM loads when there is something to compile.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from emulator.jit.artifact import Artifact, Code, Function, Tier
from emulator.jit.cache import Cache, KernelKey
from emulator.ptx import Module
from records import dataclass

if TYPE_CHECKING:
    from emulator.jit.compiler import Compilation

# Warp instructions that take about as long as it takes to make better code for one PTX instruction.
_HOT_PER_INSTRUCTION = 8_000

WANT_BETTER = 2  # EmuCodeWanted: better code; the others are Function


@dataclass(slots=True)
class TieredKernel:
    """``artifact`` is what there is of it so far; to keep it in a cache is the owner's business.

    Not for several threads at a time, but for what ``improvement`` gives.
    """

    module: Module
    key: KernelKey
    artifact: Artifact
    _compilation: Compilation | None = None

    @classmethod
    def cached(cls, module: Module, key: KernelKey, cache: Cache | None) -> TieredKernel | None:
        artifact = cache.load(key) if cache else None
        return cls(module, key, artifact) if artifact else None

    @classmethod
    def compiled(cls, module: Module, key: KernelKey) -> TieredKernel:
        """With its first function, quickly. Raises as ``Compilation``."""
        compilation = _compilation(module, key)
        first = compilation.functions[0]
        artifact = Artifact(compilation.description(), {first: compilation.compile(first, Tier.QUICK)})
        return cls(module, key, artifact, compilation)

    @property
    def hot_after(self) -> int:
        """The number of warp instructions after which optimized code pays; 0 where there is none."""
        quick = any(code.tier is Tier.QUICK for code in self.artifact.code.values())
        return _HOT_PER_INSTRUCTION * self.artifact.description.instruction_count if quick else 0

    def quick(self, function: Function) -> Code:
        return self._emitted(function).compile(function, Tier.QUICK)

    def improvement(self, function: Function) -> Callable[[], Code] | None:
        """Returns a function that compiles optimized code, on any thread; None where the code cannot improve."""
        code = self.artifact.code.get(function)
        if code is None or code.tier is Tier.BEST:
            return None
        return partial(self._emitted(function).compile, function, Tier.BEST)

    def add(self, function: Function, code: Code) -> None:
        self.artifact = self.artifact.with_code(function, code)

    def _emitted(self, function: Function) -> Compilation:
        """With the function's text made. Raises ``RuntimeError`` when the artifact is of another kernel."""
        if self._compilation is None:
            compilation = _compilation(self.module, self.key)
            if compilation.description() != self.artifact.description:
                raise RuntimeError(f"{self.key.entry} is not what is in the cache")
            self._compilation = compilation
        self._compilation.text(function)
        return self._compilation


def _compilation(module: Module, key: KernelKey) -> Compilation:
    from emulator.jit.compiler import Compilation  # here, so that LLVM loads when there is something to compile

    return Compilation(module, key.entry, key.block, key.options)
