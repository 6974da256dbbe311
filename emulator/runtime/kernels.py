"""Holds the machine code of this process's kernels.

A hot kernel (``jit.tiers``) gets better code, compiled on a background thread and installed while the kernel runs:
warps use it from when they next enter the kernel.
"""

from __future__ import annotations

import atexit
import ctypes
import logging
import queue
import threading
from collections.abc import Callable

from emulator.jit.artifact import ArtifactError, Code, Function
from emulator.jit.cache import Cache, KernelKey
from emulator.jit.loader import CompiledKernel, install, load_artifact
from emulator.jit.tiers import TieredKernel
from emulator.ptx import Module
from records import dataclass

_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Kernel:
    code: TieredKernel
    loaded: CompiledKernel

    @property
    def is_hot(self) -> bool:
        return bool(0 < self.loaded.native.hot_after <= self.loaded.native.work)


class Kernels:
    """Keep the object for the rest of the process: the library runs the code that it holds. Safe for any threads."""

    def __init__(self, library: ctypes.CDLL) -> None:
        self._cache: Cache | None = None
        self._library = library
        self._lock = threading.Lock()  # of everything here, and of the modules' bodies, which are read when needed
        self._kernels: dict[int, _Kernel] = {}
        self._background = _Background()

    def use_cache(self, cache: Cache | None) -> None:
        """Sets the disk cache. Without one every kernel must be compiled, so LLVM is loaded in advance."""
        self._cache = cache
        if cache is None:
            self._background.do(_load_llvm)

    def compile(self, module: Module, key: KernelKey, resolve: Callable[[str], int]) -> int:
        """Returns the address of the kernel's EmuKernel. Raises as ``Compilation`` does."""
        with self._lock:
            kernel = self._from_cache(module, key, resolve) or self._compiled(module, key, resolve)
            native = kernel.loaded.native
            native.hot_after = kernel.code.hot_after
            address = ctypes.addressof(native)
            self._kernels[address] = kernel
            return address

    def _from_cache(self, module: Module, key: KernelKey, resolve: Callable[[str], int]) -> _Kernel | None:
        code = TieredKernel.cached(module, key, self._cache)
        if self._cache is None or code is None:
            return None
        try:
            return _Kernel(code, load_artifact(self._library, code.artifact, resolve))
        except ArtifactError:
            _log.warning("a cached kernel cannot be loaded: it is compiled anew", exc_info=True)
            self._cache.remove(key)
            return None

    def _compiled(self, module: Module, key: KernelKey, resolve: Callable[[str], int]) -> _Kernel:
        code = TieredKernel.compiled(module, key)
        kernel = _Kernel(code, load_artifact(self._library, code.artifact, resolve))
        self._keep(code)
        return kernel

    def add_function(self, address: int, function: Function) -> None:
        """Compiles the function, for which warps wait."""
        with self._lock:
            kernel = self._kernels[address]
            if function not in kernel.code.artifact.code:
                self._install(kernel, function, kernel.code.quick(function))
                if kernel.is_hot:
                    self.improve(address)

    def improve(self, address: int) -> None:
        """Begins to make better code for a hot kernel; returns at once."""
        self._background.do(lambda: self._improve(address))

    def _improve(self, address: int) -> None:
        for function in Function:
            with self._lock:
                kernel = self._kernels[address]
                improve = kernel.code.improvement(function)
            if improve:
                better = improve()  # takes long: others can compile meanwhile
                with self._lock:
                    self._install(kernel, function, better)

    def _install(self, kernel: _Kernel, function: Function, code: Code) -> None:
        install(self._library, kernel.loaded, function, code)
        kernel.code.add(function, code)
        self._keep(kernel.code)

    def _keep(self, code: TieredKernel) -> None:
        cache, artifact = self._cache, code.artifact
        if cache is not None:
            self._background.do(lambda: cache.store(code.key, artifact), at_the_end=True)


def _load_llvm() -> None:
    from emulator.jit import compiler, engine  # noqa: F401

    engine.warm_up()


class _Background:
    """A thread that runs tasks in turn. At the end of the process it drops all but those marked ``at_the_end``."""

    def __init__(self) -> None:
        self._tasks: queue.SimpleQueue[tuple[Callable[[], None], bool] | None] = queue.SimpleQueue()
        self._ending = False
        # A daemon, since programs end in many ways; but LLVM must not be taken from under it where that can be helped.
        self._thread = threading.Thread(target=self._run, name="emulator-code", daemon=True)
        self._thread.start()
        atexit.register(self._end)

    def do(self, task: Callable[[], None], *, at_the_end: bool = False) -> None:
        self._tasks.put((task, at_the_end))

    def _run(self) -> None:
        while (given := self._tasks.get()) is not None:
            task, at_the_end = given
            if at_the_end or not self._ending:
                try:
                    task()
                except Exception:
                    _log.exception("while making better code, or keeping it")

    def _end(self) -> None:
        self._ending = True
        self._tasks.put(None)
        self._thread.join()
