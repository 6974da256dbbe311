"""PTX kernel and block shape → machine code.

``compile_kernel`` is the one entry; it is pure but for the LLVM state it makes and takes 10 to 300 ms.
"""

from __future__ import annotations

import ctypes
import re
from collections.abc import Callable
from dataclasses import dataclass, field

from emulator.jit import deferred, engine
from emulator.jit.abi import Access, EmuKernel, EmuSite, Space
from emulator.jit.emitter import Unit
from emulator.jit.function import SWITCH, register_file
from emulator.jit.shapes import ShapeAnalysis
from emulator.jit.uniform import UniformFunction
from emulator.ptx.ir import Module
from emulator.ptx.program import Program, build_program


@dataclass(frozen=True)
class Options:
    """How to compile.

    ``check_memory`` False leaves the checks of global and shared accesses out (benchmarks of their cost). ``observe``
    tells the library of every access and warp-wide sync, and counts how often each basic block runs, with how many
    lanes (native/observe.h).
    """

    check_memory: bool = True
    observe: bool = False
    target: engine.Target | None = None  # another CPU than this one's: to look at the code, not to run it


DEFAULT_OPTIONS = Options()


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
    options: Options = DEFAULT_OPTIONS,
) -> CompiledKernel:
    """Compile ``entry`` (mangled name) for blocks of ``block_shape`` threads.

    ``resolve(name)`` gives the host address of a module-scope ``.global``/``.const`` variable (called once per
    variable that the kernel uses; its size, alignment and initial bytes are in ``module.variables[name]``). The emu_*
    helpers must be visible to ``llvmlite.binding.add_symbol`` or RTLD_GLOBAL before (``bind_helpers(library)``).

    Raises ``Unsupported`` (what, file, line) for what the emulator cannot run, ``PtxError`` for PTX it cannot read.
    """
    program = build_program(module, entry)
    target = options.target or engine.host_target()
    shapes = ShapeAnalysis(program, block_shape).run()
    program = program.restartable_at(shapes.widened)
    unit = Unit(
        module,
        program,
        shapes,
        block_shape,
        options.check_memory,
        target.has_avx512,
        options.observe,
    )
    offsets, register_bytes = register_file(program)
    masked = deferred.Masked(unit, offsets, target)
    code = engine.compile_ir(uniform_ir(unit, offsets, target, masked.number), "run", target)
    return _describe(unit, program, (code.engine, masked), code.address, register_bytes, resolve)


def uniform_ir(unit: Unit, offsets: dict[str, int], target: engine.Target, number: int) -> str:
    """The LLVM module of the uniform function and of ``run``, which changes over to the masked one and back."""
    uniform = UniformFunction(unit, offsets).emit()
    unit.declarations.add("declare i32 @emu_compile_masked(i64, ptr)")
    return engine.module_text(
        unit.declarations, [*unit.constants(), uniform, _RUN.replace("NUMBER", str(number))], target
    )


_RUN = f"""@masked = internal global ptr null
define i32 @run(ptr noalias %ctx) #0 {{
entry:
  br label %again
again:
  %place = getelementptr i8, ptr %ctx, i64 4
  %mode = load i32, ptr %place, align 4
  %is_uniform = icmp eq i32 %mode, 0
  br i1 %is_uniform, label %u, label %m
u:
  %ru = call i32 @uniform(ptr %ctx)
  br label %next
m:
  %function = load atomic ptr, ptr @masked acquire, align 8
  %missing = icmp eq ptr %function, null
  br i1 %missing, label %make, label %go, !prof !2
make:
  %failed = call i32 @emu_compile_masked(i64 NUMBER, ptr @masked)
  %bad = icmp ne i32 %failed, 0
  br i1 %bad, label %trap, label %m
go:
  %rm = call i32 %function(ptr %ctx)
  br label %next
trap:
  ret i32 3
next:
  %r = phi i32 [ %ru, %u ], [ %rm, %go ]
  %switch = icmp eq i32 %r, {SWITCH}
  br i1 %switch, label %again, label %out
out:
  ret i32 %r
}}"""


def _describe(
    unit: Unit,
    program: Program,
    keepalive: object,
    address: int,
    register_bytes: int,
    resolve: Callable[[str], int],
) -> CompiledKernel:
    sites = tuple(AccessSite(s.location.file, s.location.line, s.kind, s.space, s.size) for s in unit.site_list)
    parameters = tuple(Parameter(name, offset, size) for name, (offset, size) in program.parameters.items())
    symbols = tuple(unit.symbols)
    count = len(parameters)
    offsets = (ctypes.c_uint32 * max(1, count))(*(p.offset for p in parameters))
    sizes = (ctypes.c_uint32 * max(1, count))(*(p.size for p in parameters))
    site_table = (EmuSite * max(1, len(sites)))(
        *(EmuSite(s.file.encode(), s.line, s.size, int(s.kind), int(s.space)) for s in sites)
    )
    addresses = (ctypes.c_uint64 * max(1, len(symbols)))(*(resolve(name) for name in symbols))
    native = EmuKernel()
    native.run = address
    native.name = program.entry.name.encode()
    native.block = (ctypes.c_uint32 * 3)(*unit.block)
    native.register_bytes = register_bytes
    native.shared_bytes = program.shared_bytes
    native.local_bytes = program.local_bytes
    native.param_bytes = program.parameter_bytes
    native.param_count = count
    native.param_offsets = offsets
    native.param_sizes = sizes
    native.site_count = len(sites)
    native.symbol_count = len(symbols)
    native.sites = site_table
    native.symbols = addresses
    native.max_threads = program.entry.max_threads
    native.uses_barriers = unit.uses_barriers
    native.block_count = len(program.cfg.blocks)
    native.observed = unit.observe
    return CompiledKernel(
        program.entry.name,
        unit.block,
        address,
        parameters,
        program.parameter_bytes,
        program.shared_bytes,
        program.local_bytes,
        register_bytes,
        sites,
        symbols,
        native,
        (keepalive, offsets, sizes, site_table, addresses),
    )


_bound: set[str] = set()


def bind_helpers(library: ctypes.CDLL) -> None:
    """Make the library's emu_* helpers known to generated code. Does nothing the second time."""
    deferred.bind()
    for name in HELPERS:
        if name not in _bound:
            engine.bind(name, engine.pointer_of(getattr(library, name)))
            _bound.add(name)


HELPERS = tuple(
    re.findall(
        r"emu_\w+",
        """
    emu_barrier_arrive emu_barrier_result emu_vprintf emu_assert_fail emu_device_malloc emu_device_free emu_globaltimer
    emu_spread emu_shapes_hold emu_load emu_load_shared emu_load_pattern emu_store emu_store_shared emu_store_pattern
    emu_atomic emu_permute32 emu_match32 emu_match64 emu_redux emu_fns emu_cp_async
    emu_div_s64 emu_div_u64 emu_round_f64 emu_narrow16 emu_int_to_f64 emu_int64_narrow
    emu_wmma_load emu_wmma_store emu_mma emu_ldmatrix emu_movmatrix
    emu_lg2_f32 emu_sin_f32 emu_cos_f32 emu_tanh_f32
    emu_observe emu_observe_sync emu_observe_matrix
""",
    )
)
