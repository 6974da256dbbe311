"""Loads an artifact's code into memory, ready to run. Needs no LLVM."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Sequence
from dataclasses import field

from emulator.jit.abi import EmuContent, EmuKernel, EmuLine, EmuSharedArray, EmuSite
from emulator.jit.artifact import Artifact, ArtifactError, Code, Description, Function
from records import dataclass


@dataclass(frozen=True)
class CompiledKernel:
    """Machine code for one (kernel, block shape). Keep the object as long as the code may run."""

    description: Description
    native: EmuKernel  # pass ctypes.addressof(kernel.native) to C++
    keepalive: object = field(repr=False, compare=False)


def load_artifact(library: ctypes.CDLL, artifact: bytes | Artifact, resolve: Callable[[str], int]) -> CompiledKernel:
    """``library``: the native one, whose helpers the code calls.

    ``resolve(name)`` gives the host address of a module-scope ``.global``/``.const`` variable (called once per
    variable that the kernel uses; its size, alignment and initial bytes are in ``module.variables[name]``). Raises
    ``ArtifactError`` for damaged artifacts.
    """
    if isinstance(artifact, bytes):
        artifact = Artifact.from_bytes(artifact)
    d = artifact.description
    count = len(d.parameters)
    offsets = _words([p.offset for p in d.parameters])
    sizes = _words([p.size for p in d.parameters])
    files = {name: name.encode() for name in d.files}
    site_table = (EmuSite * max(1, len(d.sites)))(*(EmuSite(files[site.file], *site.numbers) for site in d.sites))
    lines = (EmuLine * max(1, len(d.block_lines)))(*(EmuLine(files[p.file], p.line) for p in d.block_lines))
    arrays = (EmuSharedArray * max(1, len(d.shared_arrays)))(
        *(EmuSharedArray(a.name.encode(), a.offset, a.size) for a in d.shared_arrays)
    )
    contents = (EmuContent * max(1, len(d.instruction_mix)))(
        *(EmuContent(files[c.file], c.line, c.block, *c[3:]) for c in d.instruction_mix)
    )
    heads, ends, live = (_words(values) for values in d.polling.tables())
    waiting = _words(d.waiting)
    addresses = (ctypes.c_uint64 * max(1, len(d.symbols)))(*(resolve(name) for name in d.symbols))
    native = EmuKernel()
    native.name = d.name.encode()
    native.block = (ctypes.c_uint32 * 3)(*d.block)
    native.register_bytes = d.register_bytes
    native.shared_bytes = d.shared_bytes
    native.reserved_shared_bytes = d.reserved_shared_bytes
    native.local_bytes = d.local_bytes
    native.param_bytes = d.parameter_bytes
    native.param_count = count
    native.param_offsets = offsets
    native.param_sizes = sizes
    native.site_count = len(d.sites)
    native.sites = site_table
    native.symbols = addresses
    native.block_lines = lines
    native.shared_arrays = arrays
    native.shared_array_count = len(d.shared_arrays)
    native.max_threads = d.max_threads
    native.uses_stack = d.uses_stack
    native.uses_barriers = d.uses_barriers
    native.uses_grid_barrier = d.uses_grid_barrier
    native.block_count = d.block_count
    native.observed = d.observed
    native.content_count = len(d.instruction_mix)
    native.contents = contents
    native.polling_count = len(d.polling.heads)
    native.polling = heads
    native.live_ends = ends
    native.live = live
    native.waiting_count = len(d.waiting)
    native.waiting = waiting
    kept = (files, offsets, sizes, site_table, lines, arrays, contents, heads, ends, live, waiting, addresses)
    kernel = CompiledKernel(d, native, kept)
    for function, code in artifact.code.items():
        install(library, kernel, function, code)
    return kernel


def _words(values: Sequence[int]) -> ctypes.Array[ctypes.c_uint32]:
    return (ctypes.c_uint32 * max(1, len(values)))(*values)


def install(library: ctypes.CDLL, kernel: CompiledKernel, function: Function, code: Code) -> None:
    """Load one function; warps that enter the kernel from now on run it. Raises ``ArtifactError``."""
    message = ctypes.c_char_p()
    name = function.name.lower().encode()
    address = library.emu_load_object(code.object, len(code.object), name, ctypes.byref(message))
    if not address:
        why = (message.value or b"").decode(errors="replace")
        raise ArtifactError(f"the code of {kernel.description.name} cannot be loaded: {why}")
    library.emu_install_code(ctypes.addressof(kernel.native), function, address)
