"""A kernel ready to be compiled: calls inlined, memory laid out, basic blocks made.

Direct calls are replaced by copies of the callee with names of their own, calls through pointers by a choice among
those (``indirect``). Call parameters whose every access has a constant offset become registers; the rest live in local
memory. What cannot be inlined (recursion) is ``Unsupported``.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from emulator.ptx.cfg import Cfg, build_cfg
from emulator.ptx.effects import CARRY
from emulator.ptx.errors import PtxError, Unsupported
from emulator.ptx.indirect import choices, with_function_addresses
from emulator.ptx.ir import (
    Address,
    Function,
    Guard,
    Imm,
    Instruction,
    Label,
    Module,
    Operand,
    Pair,
    Reg,
    Sym,
    Variable,
    Vec,
)
from emulator.ptx.parser import parse_body
from emulator.ptx.types import TYPES, ScalarType

# Functions of the CUDA device runtime: instructions of our own, done by helpers.
BUILTIN_CALLS = frozenset(("vprintf", "__assertfail", "malloc", "free"))
_MAX_INLINED = 200_000


@dataclass(frozen=True, slots=True)
class Program:
    """``parameters``: name → (offset, size).

    ``local``/``shared``: name → offset; dynamic shared variables begin at ``shared_bytes``.
    """

    entry: Function
    registers: dict[str, ScalarType]
    parameters: dict[str, tuple[int, int]]
    parameter_bytes: int
    local: dict[str, int]
    local_bytes: int
    shared: dict[str, int]
    shared_bytes: int
    cfg: Cfg
    branch_tables: dict[str, tuple[str, ...]]
    body: tuple[Instruction | Label, ...]

    def restartable_at(self, instructions: frozenset[int]) -> Program:
        """With blocks cut so that each can be begun anew at these instructions (ids); see ``build_cfg``."""
        return replace(self, cfg=build_cfg(self.body, self.branch_tables, instructions))


def build_program(module: Module, name: str) -> Program:
    """Raises ``PtxError`` when there is no such entry, ``Unsupported`` for calls that cannot be inlined."""
    function = module.functions.get(name)
    if function is None or not function.is_entry or not function.defined:
        raise PtxError(f"no kernel {name} in this module")
    flat = _Inliner(module).flatten(function)
    body, registers = _promote_call_parameters(flat)
    body = _split_barrier_reductions(body)
    registers.setdefault(CARRY, TYPES["pred"])
    parameters, parameter_bytes = _lay_out_parameters(function)
    local, local_bytes = _lay_out(v for v in flat.variables.values() if v.space in ("local", "param"))
    shared, shared_bytes = _lay_out_shared(module, flat, body)
    cfg = build_cfg(body, flat.branch_tables)
    return Program(
        function,
        registers,
        parameters,
        parameter_bytes,
        local,
        local_bytes,
        shared,
        shared_bytes,
        cfg,
        flat.branch_tables,
        tuple(body),
    )


class _Inliner:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._copies = 0
        self._size = 0

    def flatten(self, entry: Function) -> Function:
        parse_body(self._module, entry)
        flat = replace(
            entry,
            registers=dict(entry.registers),
            variables=dict(entry.variables),
            body=[],
            branch_tables=dict(entry.branch_tables),
        )
        self._expand(entry, flat, {}, (entry.name,), None)
        return flat

    def _expand(
        self, function: Function, flat: Function, names: dict[str, str], stack: tuple[str, ...], end: str | None
    ) -> None:
        """Append ``function``'s body to ``flat`` under ``names``; ``ret`` goes to the label ``end`` (None: it is the
        entry)."""
        for item in function.body:
            if isinstance(item, Label):
                flat.body.append(Label(names.get(item.name, item.name)))
                continue
            instruction = _renamed(item, names) if names else item
            if instruction.opcode == "ret" and end is not None:
                instruction = Instruction("bra", (), (Sym(end),), instruction.guard, instruction.location)
            if instruction.opcode == "call":
                self._call(instruction, flat, stack)
            else:
                flat.body.append(with_function_addresses(self._module, instruction))
                self._size += 1
                if self._size > _MAX_INLINED:
                    raise Unsupported("a kernel of this size", instruction.location.file, instruction.location.line)

    def _call(self, call: Instruction, flat: Function, stack: tuple[str, ...]) -> None:
        where = call.location
        results, target, arguments = call.operands
        assert isinstance(results, Vec)
        assert isinstance(arguments, Vec)
        if not isinstance(target, Sym):
            self._copies += 1
            for item in choices(self._module, call, flat.variables, f"c{self._copies}.", flat.registers):
                if isinstance(item, Instruction) and item.opcode == "call":
                    self._call(item, flat, stack)
                else:
                    flat.body.append(item)
            return
        if target.name in BUILTIN_CALLS:
            flat.body.append(replace(call, operands=(*results.items, target, *arguments.items)))
            return
        callee = self._module.functions.get(target.name)
        if callee is None or not callee.defined:
            raise Unsupported(f"the device function {target.name}", where.file, where.line)
        if target.name in stack:
            raise Unsupported(f"recursion (in {target.name})", where.file, where.line)
        parse_body(self._module, callee)
        self._copies += 1
        prefix = f"c{self._copies}."
        names = {name: prefix + name for name in callee.registers}
        names.update({name: prefix + name for name in callee.variables})
        names.update({item.name: prefix + item.name for item in callee.body if isinstance(item, Label)})
        names.update({name: prefix + name for name in callee.branch_tables})
        actual: list[Operand] = [*results.items, *arguments.items]
        for formal, given in zip((*callee.returns, *callee.parameters), actual, strict=True):
            assert isinstance(given, Sym)
            names[formal.name] = given.name
        flat.registers.update({prefix + name: scalar for name, scalar in callee.registers.items()})
        flat.variables.update({prefix + name: replace(v, name=prefix + name) for name, v in callee.variables.items()})
        flat.branch_tables.update(
            {prefix + name: tuple(names[t] for t in targets) for name, targets in callee.branch_tables.items()}
        )
        end = prefix + "end"
        skip = prefix + "skip"
        if call.guard is not None:
            flat.body.append(Instruction("bra", (), (Sym(skip),), Guard(call.guard.reg, not call.guard.negated), where))
        self._expand(callee, flat, names, (*stack, target.name), end)
        flat.body.append(Label(end))
        flat.body.append(Label(skip))


def _renamed(instruction: Instruction, names: dict[str, str]) -> Instruction:
    def operand(o: Operand) -> Operand:
        if isinstance(o, Reg):
            return Reg(names.get(o.name, o.name), o.negated)
        if isinstance(o, Sym):
            return Sym(names.get(o.name, o.name), o.offset)
        if isinstance(o, Address):
            base = operand(o.base)
            assert isinstance(base, Reg | Sym | Imm)
            return Address(base, o.offset)
        if isinstance(o, Vec):
            return Vec(tuple(operand(x) for x in o.items))
        if isinstance(o, Pair):
            return Pair(operand(o.first), operand(o.second))
        return o

    guard = instruction.guard
    if guard is not None:
        guard = Guard(names.get(guard.reg, guard.reg), guard.negated)
    return replace(instruction, operands=tuple(operand(o) for o in instruction.operands), guard=guard)


def _promote_call_parameters(flat: Function) -> tuple[list[Instruction | Label], dict[str, ScalarType]]:
    """``st.param``/``ld.param`` of call parameters at constant offsets become ``param.set``/``param.get`` of
    registers."""
    candidates = {name for name, v in flat.variables.items() if v.space == "param"}
    if not candidates:
        return flat.body, flat.registers
    parts: dict[str, dict[int, int]] = {name: {} for name in candidates}
    for instruction in flat.instructions():
        is_access = instruction.opcode in ("ld", "st") and instruction.has("param")
        for index, operand in enumerate(instruction.operands):
            if is_access and isinstance(operand, Address) and isinstance(operand.base, Sym):
                name = operand.base.name
                if name in candidates:
                    size = instruction.type.size_bytes
                    for position in range(_vector_width(instruction)):
                        offset = operand.base.offset + operand.offset + position * size
                        if parts[name].setdefault(offset, size) != size:
                            candidates.discard(name)
            elif (
                isinstance(operand, Sym)
                and operand.name in candidates
                and not (instruction.opcode == "call" and index >= 0)
            ):
                candidates.discard(operand.name)  # its address is taken
    for name in list(candidates):
        end = 0
        for offset, size in sorted(parts[name].items()):
            if offset < end:
                candidates.discard(name)
            end = offset + size
    for instruction in flat.instructions():
        if instruction.opcode == "call":
            for operand in instruction.operands:  # printf and its like take their arguments one register each
                if isinstance(operand, Sym) and operand.name in flat.variables and operand.name not in candidates:
                    raise Unsupported("this call", instruction.location.file, instruction.location.line)
    registers = dict(flat.registers)
    body: list[Instruction | Label] = []
    for item in flat.body:
        if isinstance(item, Instruction) and item.opcode in ("ld", "st") and item.has("param"):
            address = item.operands[1 if item.opcode == "ld" else 0]
            if isinstance(address, Address) and isinstance(address.base, Sym) and address.base.name in candidates:
                body.extend(_parameter_moves(item, address, registers))
                continue
        elif isinstance(item, Instruction) and item.opcode == "call":
            item = _call_on_registers(item, flat, registers)
        body.append(item)
    flat.variables = {name: v for name, v in flat.variables.items() if name not in candidates}
    return body, registers


def _vector_width(instruction: Instruction) -> int:
    return next((int(m[1]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)


def _parameter_register(name: str, offset: int, size: int, registers: dict[str, ScalarType]) -> Reg:
    register = f"{name}+{offset}"
    registers.setdefault(register, TYPES[f"b{8 * size}"])
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


def _call_on_registers(call: Instruction, flat: Function, registers: dict[str, ScalarType]) -> Instruction:
    """A call of a builtin with its parameters' registers in place: ``call`` (result?, function, arguments…)."""
    operands: list[Operand] = []
    for operand in call.operands:
        variable = flat.variables.get(operand.name) if isinstance(operand, Sym) else None
        operands.append(
            operand if variable is None else _parameter_register(variable.name, 0, variable.size, registers)
        )
    target = next(o for o in operands if isinstance(o, Sym))
    position = operands.index(target)
    opcode = {"vprintf": "printf", "__assertfail": "assertfail"}.get(target.name, target.name)
    results = tuple(operands[:position])
    return Instruction(f"call_{opcode}", (), (*results, *operands[position + 1 :]), call.guard, call.location)


def _split_barrier_reductions(body: list[Instruction | Label]) -> list[Instruction | Label]:
    """``bar.red`` becomes an arrival with a predicate, which ends a block, and ``barget``, which fetches the result."""
    split: list[Instruction | Label] = []
    for item in body:
        if isinstance(item, Instruction) and item.opcode in ("bar", "barrier") and item.has("red"):
            target, *rest = item.operands
            split.append(replace(item, operands=tuple(rest)))
            kind = tuple(m for m in item.modifiers if m in ("and", "or", "popc"))
            split.append(Instruction("barget", kind, (target, rest[0]), item.guard, item.location))
        else:
            split.append(item)
    return split


def _align(offset: int, align: int) -> int:
    return -(-offset // align) * align


def _lay_out_parameters(entry: Function) -> tuple[dict[str, tuple[int, int]], int]:
    offsets: dict[str, tuple[int, int]] = {}
    end = 0
    for parameter in entry.parameters:
        end = _align(end, max(1, parameter.align))
        offsets[parameter.name] = (end, parameter.size)
        end += parameter.size
    return offsets, end


def _lay_out(variables: Iterable[Variable]) -> tuple[dict[str, int], int]:
    offsets: dict[str, int] = {}
    end = 0
    for variable in variables:
        end = _align(end, max(1, variable.align))
        offsets[variable.name] = end
        end += variable.size
    return offsets, _align(end, 16)


def _lay_out_shared(module: Module, flat: Function, body: list[Instruction | Label]) -> tuple[dict[str, int], int]:
    """The function's own shared variables and the module's that it names; those of open size last, all at the same
    place."""
    named: dict[str, Variable] = {v.name: v for v in flat.variables.values() if v.space == "shared"}
    for item in body:
        if isinstance(item, Instruction):
            for operand in item.operands:
                symbol = operand.base if isinstance(operand, Address) else operand
                if isinstance(symbol, Sym):
                    variable = module.variables.get(symbol.name)
                    if variable is not None and variable.space == "shared":
                        named.setdefault(variable.name, variable)
    offsets, end = _lay_out(v for v in named.values() if v.size)
    align = max((v.align for v in named.values() if not v.size), default=16)
    end = _align(end, max(16, align))
    offsets.update({v.name: end for v in named.values() if not v.size})
    return offsets, end
