"""Puts call parameters into registers.

``st.param`` and ``ld.param`` of a call parameter that is only accessed whole parts at constant offsets become
``param.set`` and ``param.get`` of a register for each part. What is left stays in memory.
"""

from __future__ import annotations

from collections.abc import Iterable

from emulator.ptx.device_runtime import helper_of
from emulator.ptx.errors import Unsupported
from emulator.ptx.inline import Piece
from emulator.ptx.ir import Address, Instruction, Label, Operand, Reg, Sink, Sym, Vec
from emulator.ptx.types import ScalarType, untyped

_MOST_OF_A_REGISTER = 8  # bytes


def promote_call_parameters(pieces: Iterable[Piece]) -> None:
    """Replaces the call parameters of each piece, in place, by registers. Those of ``enter`` stay in memory."""
    for piece in pieces:
        _promote(piece)


def _promote(piece: Piece) -> None:
    candidates = {name for name, v in piece.variables.items() if v.space == "param"}
    for instruction in piece.instructions():
        if instruction.opcode == "enter":
            for operands in instruction.operands:
                if isinstance(operands, Vec):
                    candidates.difference_update(o.name for o in operands.items if isinstance(o, Sym))
    if not any(v.space == "param" for v in piece.variables.values()):
        return
    parts: dict[str, dict[int, int]] = {name: {} for name in candidates}
    for instruction in piece.instructions():
        is_access = instruction.opcode in ("ld", "st") and instruction.has("param")
        for operand in instruction.operands:
            if is_access and isinstance(operand, Address) and isinstance(operand.base, Sym):
                name = operand.base.name
                if name in candidates:
                    size = instruction.type.size_bytes
                    for position in range(_vector_width(instruction)):
                        offset = operand.base.offset + operand.offset + position * size
                        if parts[name].setdefault(offset, size) != size:
                            candidates.discard(name)
            elif isinstance(operand, Sym) and instruction.opcode != "call":
                candidates.discard(operand.name)  # its address is taken
    for name in list(candidates):
        end = 0
        for offset, size in sorted(parts[name].items()):
            if offset < end:
                candidates.discard(name)
            end = offset + size
    for instruction in piece.instructions():
        if instruction.opcode == "call":
            for operand in instruction.operands:  # printf and its like take their arguments one register each
                if isinstance(operand, Sym) and operand.name in piece.variables and operand.name not in candidates:
                    raise Unsupported("this call", instruction.location.file, instruction.location.line)
    registers = piece.registers
    body: list[Instruction | Label] = []
    for item in piece.body:
        if isinstance(item, Instruction) and item.opcode in ("ld", "st") and item.has("param"):
            address = item.operands[1 if item.opcode == "ld" else 0]
            if isinstance(address, Address) and isinstance(address.base, Sym) and address.base.name in candidates:
                body.extend(_parameter_moves(item, address, registers))
                continue
        elif isinstance(item, Instruction) and item.opcode == "call":
            item = _call_on_registers(item, piece, registers, parts)
        body.append(item)
    piece.variables = {name: v for name, v in piece.variables.items() if name not in candidates}
    piece.body = body


def _vector_width(instruction: Instruction) -> int:
    return next((int(m[1]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)


def _parameter_register(name: str, offset: int, size: int, registers: dict[str, ScalarType]) -> Reg:
    register = f"{name}+{offset}"
    registers.setdefault(register, untyped(8 * size))
    return Reg(register)


def _parameter_moves(item: Instruction, address: Address, registers: dict[str, ScalarType]) -> list[Instruction]:
    assert isinstance(address.base, Sym)
    size = item.type.size_bytes
    data = item.operands[0 if item.opcode == "ld" else 1]
    values = data.items if isinstance(data, Vec) else (data,)
    moves: list[Instruction] = []
    for position, value in enumerate(values):
        offset = address.base.offset + address.offset + position * size
        register = _parameter_register(address.base.name, offset, size, registers)
        pair: tuple[Operand, Operand] = (value, register) if item.opcode == "ld" else (register, value)
        mode = "get" if item.opcode == "ld" else "set"
        moves.append(Instruction("param", (mode, item.type.name), pair, item.guard, item.location))
    return moves


def _call_on_registers(
    call: Instruction, piece: Piece, registers: dict[str, ScalarType], parts: dict[str, dict[int, int]]
) -> Instruction:
    """Returns a call of a builtin with registers for its parameters: (result?, arguments…).

    A structure has one for each of its parts.
    """
    operands: list[Operand] = []
    for operand in call.operands:
        variable = piece.variables.get(operand.name) if isinstance(operand, Sym) else None
        if variable is None:
            operands.append(operand)
            continue
        whole = {0: variable.size}
        accessed = parts[variable.name] if variable.size > _MOST_OF_A_REGISTER else whole
        operands += [_parameter_register(variable.name, at, size, registers) for at, size in sorted(accessed.items())]
    target = next(o for o in operands if isinstance(o, Sym))
    position = operands.index(target)
    opcode = {"vprintf": "printf", "__assertfail": "assertfail"}.get(target.name, target.name)
    helper = helper_of(target.name)
    results = tuple(operands[:position])
    if (opcode == "printf" or helper) and not results:
        results = (Sink(),)
    name, modifiers = ("call_device", (helper,)) if helper else (f"call_{opcode}", ())
    return Instruction(name, modifiers, (*results, *operands[position + 1 :]), call.guard, call.location)
