"""Where a kernel's parameters and its local and shared variables lie."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from emulator.ptx.inline import Piece
from emulator.ptx.ir import Address, Function, Instruction, Label, Module, Special, Sym, Variable
from records import dataclass

#: Bytes of shared memory that the system takes from each block from compute capability 8.0 on (CUDA C++ Programming
#: Guide, "Compute Capabilities").
RESERVED_SHARED_BYTES = 1024


@dataclass(frozen=True, slots=True)
class Layout:
    """Offsets in bytes, by name. ``parameters``: name → (offset, size).

    Dynamic shared variables begin at ``shared_bytes``. The first ``reserved_shared_bytes`` are those that
    ``%reserved_smem_*`` names, in kernels that read these registers.
    """

    parameters: dict[str, tuple[int, int]]
    parameter_bytes: int
    local: dict[str, int]
    local_bytes: int
    shared: dict[str, int]
    shared_bytes: int
    reserved_shared_bytes: int


def lay_out_memory(module: Module, kernel: Piece, body: Sequence[Instruction | Label]) -> Layout:
    """Places the parameters and variables of a kernel whose calls are inlined into ``body``."""
    parameters, parameter_bytes = lay_out_parameters(kernel.function)
    local, local_bytes = _lay_out(v for v in kernel.variables.values() if v.space in ("local", "param"))
    reserved = RESERVED_SHARED_BYTES if _reads_reserved(body) else 0
    shared, shared_bytes = _lay_out_shared(module, kernel, body, reserved)
    return Layout(parameters, parameter_bytes, local, local_bytes, shared, shared_bytes, reserved)


def _align(offset: int, align: int) -> int:
    return -(-offset // align) * align


def lay_out_parameters(entry: Function) -> tuple[dict[str, tuple[int, int]], int]:
    """Returns the offset and size of each parameter by name, and the bytes of all of them."""
    offsets: dict[str, tuple[int, int]] = {}
    end = 0
    for parameter in entry.parameters:
        end = _align(end, max(1, parameter.align))
        offsets[parameter.name] = (end, parameter.size)
        end += parameter.size
    return offsets, end


def _reads_reserved(body: Sequence[Instruction | Label]) -> bool:
    return any(
        isinstance(operand, Special) and operand.name.startswith("%reserved_smem")
        for item in body
        if isinstance(item, Instruction)
        for operand in item.operands
    )


def _lay_out(variables: Iterable[Variable], end: int = 0) -> tuple[dict[str, int], int]:
    offsets: dict[str, int] = {}
    for variable in variables:
        end = _align(end, max(1, variable.align))
        offsets[variable.name] = end
        end += variable.size
    return offsets, _align(end, 16)


def _lay_out_shared(
    module: Module, kernel: Piece, body: Sequence[Instruction | Label], reserved: int
) -> tuple[dict[str, int], int]:
    """Places the kernel's own shared variables and those of the module that it names.

    Variables of open size come last, all at the same offset.
    """
    named: dict[str, Variable] = {v.name: v for v in kernel.variables.values() if v.space == "shared"}
    for item in body:
        if isinstance(item, Instruction):
            for operand in item.operands:
                symbol = operand.base if isinstance(operand, Address) else operand
                if isinstance(symbol, Sym):
                    variable = module.variables.get(symbol.name)
                    if variable is not None and variable.space == "shared":
                        named.setdefault(variable.name, variable)
    offsets, end = _lay_out((v for v in named.values() if v.size), reserved)
    align = max((v.align for v in named.values() if not v.size), default=16)
    end = _align(end, max(16, align))
    offsets.update({v.name: end for v in named.values() if not v.size})
    return offsets, end
