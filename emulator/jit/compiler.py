"""Compiles a PTX kernel for one block shape into an artifact.

``compile_artifact`` makes all of it at once. A ``Compilation`` makes one function at a time, as they are needed, which
is what a running program wants: the masked function of a kernel is often never used.
"""

from __future__ import annotations

from emulator.jit import engine
from emulator.jit.artifact import (
    Artifact,
    Code,
    Description,
    Function,
    Line,
    Parameter,
    Polling,
    SharedArray,
    Tier,
)
from emulator.jit.instruction_mix import instruction_mix
from emulator.jit.masked import MaskedFunction
from emulator.jit.options import DEFAULT_OPTIONS, Options
from emulator.jit.passes import lower_kernel
from emulator.jit.polling import polling_of
from emulator.jit.segments import cut_blocks
from emulator.jit.uniform import UniformFunction
from emulator.jit.waiting import waiting_blocks
from emulator.ptx.ir import Module
from emulator.ptx.program import Program

_EMITTERS: dict[Function, type[UniformFunction] | type[MaskedFunction]] = {
    Function.UNIFORM: UniformFunction,
    Function.MASKED: MaskedFunction,
}


def compile_artifact(
    module: Module, entry: str, block_shape: tuple[int, int, int], options: Options = DEFAULT_OPTIONS
) -> bytes:
    """Compiles and optimizes both functions of ``entry`` (mangled name) for blocks of ``block_shape`` threads.

    Takes 20 to 500 ms. Raises ``Unsupported`` (what, file, line) for what the emulator cannot run, ``PtxError`` for
    PTX it cannot read.
    """
    compilation = Compilation(module, entry, block_shape, options)
    code = {function: compilation.compile(function, Tier.BEST) for function in compilation.functions}
    return Artifact(compilation.description(), code).to_bytes()


class Compilation:
    """One kernel for one block shape. Raises as ``compile_artifact``. Not for several threads at a time."""

    def __init__(
        self, module: Module, entry: str, block_shape: tuple[int, int, int], options: Options = DEFAULT_OPTIONS
    ) -> None:
        self._target = options.target or engine.host_target()
        self._unit, self._file = lower_kernel(module, entry, block_shape, options, self._target)
        self._texts: dict[Function, str] = {}
        x, y, z = block_shape
        # A warp that is not full is never all together.
        self.functions = (Function.MASKED,) if x * y * z < 32 else (Function.UNIFORM, Function.MASKED)

    def compile(self, function: Function, tier: Tier) -> Code:
        return Code(tier, engine.emit_object(self.text(function), self._target, tier))

    def text(self, function: Function) -> str:
        """Returns the function as the text of an LLVM module.

        The first of ``functions`` is always emitted first: sites and symbols are numbered as they are met, and the
        numbers must be the same in every compilation of this kernel.
        """
        for wanted in dict.fromkeys((self.functions[0], function)):
            if wanted not in self._texts:
                self._texts[wanted] = self._emit(wanted)
        return self._texts[function]

    def _emit(self, function: Function) -> str:
        unit = self._unit
        numbered = len(unit.site_list), len(unit.symbols)
        unit.declarations.clear()
        body = _EMITTERS[function](unit, self._file).emit().replace("define internal", "define", 1)
        assert function is self.functions[0] or numbered == (len(unit.site_list), len(unit.symbols))
        return engine.module_text(unit.declarations, [*unit.constants(), body], self._target)

    def description(self) -> Description:
        self.text(self.functions[0])
        unit, program = self._unit, self._unit.program
        return Description(
            name=program.entry.name,
            block=unit.block,
            instruction_count=sum(len(block.instructions) for block in program.cfg.blocks),
            parameters=tuple(
                Parameter(name, offset, size) for name, (offset, size) in program.layout.parameters.items()
            ),
            parameter_bytes=program.layout.parameter_bytes,
            shared_bytes=program.layout.shared_bytes,
            reserved_shared_bytes=program.layout.reserved_shared_bytes,
            local_bytes=program.layout.local_bytes,
            register_bytes=self._file.size_bytes,
            sites=tuple(unit.site_list),
            symbols=tuple(unit.symbols),
            block_lines=_block_lines(program, lanes_apart=unit.observe),
            shared_arrays=_shared_arrays(unit.module, program),
            max_threads=program.entry.max_threads,
            uses_stack=program.uses_stack,
            uses_barriers=unit.uses_barriers,
            uses_grid_barrier=unit.uses_grid_barrier,
            block_count=len(program.cfg.blocks),
            observed=unit.observe,
            instruction_mix=instruction_mix(program) if unit.observe else (),
            polling=polling_of(program, self._file) if unit.observe else Polling(),
            waiting=waiting_blocks(program),
        )


def _block_lines(program: Program, *, lanes_apart: bool) -> tuple[Line, ...]:
    lines = []
    blocks = [tuple(block.instructions) for block in program.cfg.blocks]
    cut = cut_blocks(program.cfg, lanes_apart=lanes_apart)
    blocks += [segment.instructions for segments in cut for segment in segments[1:]]
    for instructions in blocks:
        known = [Line(i.location.file, i.location.line) for i in instructions if i.location.line]
        lines += [known[0], known[-1]] if known else [Line("", 0)] * 2
    return tuple(lines)


def _shared_arrays(module: Module, program: Program) -> tuple[SharedArray, ...]:
    arrays = []
    for name, offset in program.layout.shared.items():
        variable = program.entry.variables.get(name) or module.variables.get(name)
        arrays.append(SharedArray(name, offset, variable.size if variable else 0))
    return tuple(arrays)
