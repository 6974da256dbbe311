"""PTX kernel and block shape → machine code.

``compile_kernel`` is the one entry; it is pure but for the LLVM state it makes and takes 10 to 300 ms.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from emulator.jit.abi import Access, EmuKernel, Space
from emulator.ptx.ir import Module


@dataclass(frozen=True)
class Options:
    """How to compile. ``check_memory`` False leaves the checks of global and shared accesses out (benchmarks of their cost)."""

    check_memory: bool = True


@dataclass(frozen=True)
class AccessSite:
    """A place in the source that touches memory, traps or calls the runtime; its index is ``site`` in abi.h."""

    file: str
    line: int
    kind: Access
    space: Space
    size: int


@dataclass(frozen=True)
class Parameter:
    name: str
    offset: int
    size: int


@dataclass(frozen=True)
class CompiledKernel:
    """Machine code for one (kernel, block shape). Keep the object as long as the code may run."""

    name: str
    block_shape: tuple[int, int, int]
    address: int  # int32_t run(WarpContext*)
    parameters: tuple[Parameter, ...]
    parameter_bytes: int
    shared_bytes: int
    local_bytes: int
    register_bytes: int
    sites: tuple[AccessSite, ...]
    symbols: tuple[str, ...]  # module-scope variables, in the order of EmuKernel.symbols
    native: EmuKernel  # pass ctypes.addressof(kernel.native) to C++
    keepalive: object = field(repr=False, compare=False)


def compile_kernel(
    module: Module,
    entry: str,
    block_shape: tuple[int, int, int],
    resolve: Callable[[str], int],
    options: Options = Options(),
) -> CompiledKernel:
    """Compile ``entry`` (mangled name) for blocks of ``block_shape`` threads.

    ``resolve(name)`` gives the host address of a module-scope ``.global``/``.const`` variable (called once per variable that the
    kernel uses; its size, alignment and initial bytes are in ``module.variables[name]``). The emu_* helpers must be visible to
    ``llvmlite.binding.add_symbol`` or RTLD_GLOBAL before (``bind_helpers(library)``).

    Raises ``Unsupported`` (what, file, line) for what the emulator cannot run, ``PtxError`` for PTX it cannot read.
    """
    raise NotImplementedError
