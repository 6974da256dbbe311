"""A kernel's machine code for another process: from the cache, or compiled as it is asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

from emulator.jit.artifact import Artifact, Code, Function, Tier
from emulator.jit.cache import Cache, KernelKey
from emulator.ptx import Module
from emulator.runtime.kernels import HOT_PER_INSTRUCTION, compilation_of

if TYPE_CHECKING:
    from emulator.jit.compiler import Compilation


@dataclass(slots=True)
class Kernel:
    """Not for several threads at a time, but for what ``improvements`` gives."""

    module: Module
    key: KernelKey
    artifact: Artifact
    cache: Cache | None
    compilation: Compilation | None = None

    @classmethod
    def open(cls, module: Module, key: KernelKey, cache: Cache | None) -> Kernel:
        """Raises as ``Compilation``."""
        artifact = cache.load(key) if cache else None
        if artifact is not None:
            return cls(module, key, artifact, cache)
        compilation = compilation_of(module, key)
        first = compilation.functions[0]
        artifact = Artifact(compilation.description(), {first: compilation.compile(first, Tier.QUICK)})
        kernel = cls(module, key, artifact, cache, compilation)
        kernel.keep([])
        return kernel

    @property
    def hot_after(self) -> int:
        """Warp instructions after which better code is worth making; 0: there is none."""
        quick = any(code.tier is Tier.QUICK for code in self.artifact.code.values())
        return HOT_PER_INSTRUCTION * self.artifact.description.instruction_count if quick else 0

    def code(self, function: Function) -> Code:
        if function not in self.artifact.code:
            self.keep([(function, self._compilation_of(function).compile(function, Tier.QUICK))])
        return self.artifact.code[function]

    def improvements(self) -> list[tuple[Function, Callable[[], Code]]]:
        """What makes better code of what there is; give it to ``keep``."""
        quick = [function for function, code in self.artifact.code.items() if code.tier is Tier.QUICK]
        return [(f, partial(self._compilation_of(f).compile, f, Tier.BEST)) for f in quick]

    def keep(self, made: Iterable[tuple[Function, Code]]) -> None:
        for function, code in made:
            self.artifact = self.artifact.with_code(function, code)
        if self.cache:
            self.cache.store(self.key, self.artifact)

    def _compilation_of(self, function: Function) -> Compilation:
        """With the function's text made. Raises ``RuntimeError`` when the artifact is of another kernel."""
        if self.compilation is None:
            compilation = compilation_of(self.module, self.key)
            if compilation.description() != self.artifact.description:
                raise RuntimeError(f"{self.key.entry} is not what is in the cache")
            self.compilation = compilation
        self.compilation.text(function)
        return self.compilation
