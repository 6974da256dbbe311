"""The passes from a PTX kernel to what its two functions are emitted from."""

from __future__ import annotations

from emulator.jit.options import Options, Target
from emulator.jit.origins import followed_registers
from emulator.jit.register_file import RegisterFile, lay_out_registers
from emulator.jit.shapes import analyse_shapes
from emulator.jit.unit import Unit
from emulator.ptx.ir import Module
from emulator.ptx.program import build_program


def lower_kernel(
    module: Module, entry: str, block_shape: tuple[int, int, int], options: Options, target: Target
) -> tuple[Unit, RegisterFile]:
    """Runs the passes on the kernel ``entry`` for blocks of ``block_shape`` threads. Raises as ``build_program``."""
    program = build_program(module, entry)  # lists the passes on PTX
    shapes = analyse_shapes(program, block_shape)
    program = program.restartable_at(shapes.widened)
    followed = followed_registers(program) if options.follow else ()
    file = lay_out_registers(program, shapes, lanes_apart=options.observe, followed=followed)
    unit = Unit(
        module, program, shapes, block_shape, options.check_memory, target.has_avx512, options.observe, options.follow
    )
    return unit, file
