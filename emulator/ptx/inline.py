"""A kernel and what it calls, as few pieces of straight code as can be: calls inlined.

Direct calls are replaced by copies of the callee with names of their own, calls through pointers by a choice among
those (``indirect``). Functions that may call themselves, by whatever way, cannot be copied for ever: each becomes a
``Piece`` of its own, and its calls become ``enter`` instructions (results, function, arguments) for ``frames``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace

from emulator.ptx.device_runtime import helper_of, is_refused
from emulator.ptx.errors import PtxError, Unsupported
from emulator.ptx.indirect import address_taken, choices, fitting, with_function_addresses
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
from records import dataclass

# Functions of the CUDA device runtime: instructions of our own, done by helpers.
BUILTIN_CALLS = frozenset(("vprintf", "__assertfail", "malloc", "free"))
STACK_TOP = "%stack.top"  # no name of PTX has a dot
_MAX_INLINED = 200_000


@dataclass(slots=True)
class Piece:
    """A function with everything inlined into it but recursive functions. Names are unique among all pieces.

    ``formals`` are the names of its results and parameters, in that order; none for the kernel itself.
    """

    function: Function
    formals: tuple[Variable, ...] = ()
    cycle: frozenset[str] = frozenset()  # the functions that it calls and that call it, itself included
    registers: dict[str, ScalarType] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    branch_tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    body: list[Instruction | Label] = field(default_factory=list)

    def instructions(self) -> Iterable[Instruction]:
        return (item for item in self.body if isinstance(item, Instruction))


def inline_calls(module: Module, entry: Function) -> tuple[Piece, dict[str, Piece]]:
    """(the kernel, the recursive functions that it reaches by name). Raises ``Unsupported``."""
    return _Inliner(module).expand(entry)


class _Inliner:
    def __init__(self, module: Module) -> None:
        self._module = module
        self._candidates = address_taken(module)
        self._copies = 0
        self._size = 0
        self._cycles: dict[str, frozenset[str]] = {}
        self._pieces: dict[str, Piece] = {}

    def expand(self, entry: Function) -> tuple[Piece, dict[str, Piece]]:
        self._cycles = _cycles(self._calls_from(entry))
        parse_body(self._module, entry)
        kernel = Piece(entry, (), frozenset(), dict(entry.registers), dict(entry.variables), dict(entry.branch_tables))
        self._append(entry, kernel, {}, None)
        return kernel, self._pieces

    # ----------------------------------------------------------------------------------------------------- who calls
    def _calls_from(self, entry: Function) -> dict[str, set[str]]:
        """Returns, for each reachable function, the functions that it may call."""
        graph: dict[str, set[str]] = {}
        work = [entry]
        while work:
            function = work.pop()
            if function.name in graph:
                continue
            parse_body(self._module, function)
            callees: set[str] = set()
            for instruction in function.instructions():
                if instruction.opcode == "call":
                    target = instruction.operands[1]
                    if isinstance(target, Sym):
                        callees.add(target.name)
                    else:
                        callees.update(f.name for f in fitting(self._candidates, instruction, function.variables))
            known = [self._module.functions[name] for name in callees if name in self._module.functions]
            graph[function.name] = {f.name for f in known if f.defined}
            work += [f for f in known if f.defined]
        return graph

    # ------------------------------------------------------------------------------------------------------- copying
    def _append(self, function: Function, piece: Piece, names: dict[str, str], end: str | None) -> None:
        """Appends ``function``'s body under ``names``; ``ret`` becomes a jump to ``end``, if that is not None."""
        for item in function.body:
            if isinstance(item, Label):
                piece.body.append(Label(names.get(item.name, item.name)))
                continue
            instruction = _renamed(item, names) if names else item
            if instruction.opcode == "ret" and end is not None:
                instruction = Instruction("bra", (), (Sym(end),), instruction.guard, instruction.location)
            if instruction.opcode == "call":
                self._call(instruction, piece)
            else:
                piece.body.append(with_function_addresses(self._module, instruction))
                self._size += 1
                if self._size > _MAX_INLINED:
                    raise Unsupported("a kernel of this size", instruction.location.file, instruction.location.line)

    def _call(self, call: Instruction, piece: Piece) -> None:
        where = call.location
        results, target, arguments = call.operands
        assert isinstance(results, Vec)
        assert isinstance(arguments, Vec)
        if not isinstance(target, Sym):
            self._copies += 1
            prefix = f"c{self._copies}."
            for item in choices(self._module, self._candidates, call, piece.variables, prefix, piece.registers):
                if isinstance(item, Instruction) and item.opcode == "call":
                    self._call(item, piece)
                else:
                    piece.body.append(item)
            return
        if target.name in BUILTIN_CALLS or helper_of(target.name):
            piece.body.append(replace(call, operands=(*results.items, target, *arguments.items)))
            return
        if is_refused(target.name):
            raise Unsupported(f"a function of the device runtime ({target.name})", where.file, where.line)
        callee = self._module.functions.get(target.name)
        if callee is None or not callee.defined:
            raise Unsupported(f"the device function {target.name}", where.file, where.line)
        self._copies += 1
        prefix = f"c{self._copies}."
        skip = f"{prefix}skip"
        if call.guard is not None:
            piece.body.append(
                Instruction("bra", (), (Sym(skip),), Guard(call.guard.reg, not call.guard.negated), where)
            )
        if callee.name in self._cycles:
            self._piece_of(callee)
            piece.body.append(replace(call, opcode="enter", modifiers=(), guard=None))
        else:
            self._inline(callee, piece, prefix, [*results.items, *arguments.items], call)
        piece.body.append(Label(skip))

    def _inline(self, callee: Function, piece: Piece, prefix: str, actual: list[Operand], call: Instruction) -> None:
        names = self._declare(callee, piece, prefix)
        for formal, given in zip((*callee.returns, *callee.parameters), actual, strict=True):
            if not isinstance(given, Sym):
                raise PtxError(f"a call passes {given}, which is not a parameter")
            names[formal.name] = given.name
        end, top = f"{prefix}end", f"{prefix}top"
        allocates = any(i.opcode == "alloca" for i in callee.instructions())
        if allocates:  # what it takes of the stack goes back when it returns
            piece.registers[top] = TYPES["b64"]
            piece.body.append(Instruction("mov", ("b64",), (Reg(top), Reg(STACK_TOP)), None, call.location))
        self._append(callee, piece, names, end)
        piece.body.append(Label(end))
        if allocates:
            piece.body.append(Instruction("mov", ("b64",), (Reg(STACK_TOP), Reg(top)), None, call.location))

    def _piece_of(self, function: Function) -> None:
        if function.name in self._pieces:
            return
        self._copies += 1
        prefix = f"c{self._copies}."
        formals = tuple(replace(v, name=prefix + v.name) for v in (*function.returns, *function.parameters))
        piece = self._pieces[function.name] = Piece(function, formals, self._cycles[function.name])
        names = self._declare(function, piece, prefix)
        names.update((v.name, prefix + v.name) for v in (*function.returns, *function.parameters))
        self._append(function, piece, names, None)
        piece.body.append(Instruction("ret", (), ()))  # the end of a body returns

    def _declare(self, function: Function, piece: Piece, prefix: str) -> dict[str, str]:
        """Declares its registers, variables and tables in ``piece``. Returns their new names and its labels'."""
        parse_body(self._module, function)
        names = {name: prefix + name for name in (*function.registers, *function.variables, *function.branch_tables)}
        names.update({item.name: prefix + item.name for item in function.body if isinstance(item, Label)})
        piece.registers.update({prefix + name: scalar for name, scalar in function.registers.items()})
        piece.variables.update({prefix + n: replace(v, name=prefix + n) for n, v in function.variables.items()})
        piece.branch_tables.update(
            {prefix + name: tuple(names[t] for t in targets) for name, targets in function.branch_tables.items()}
        )
        return names


def _cycles(graph: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    """Returns, for each function that may call itself, all functions that it reaches and that reach it."""
    left = {name: set(callees) for name, callees in graph.items()}
    leaves = [name for name, callees in left.items() if not callees]
    callers: dict[str, set[str]] = {}
    for name, callees in graph.items():
        for callee in callees:
            callers.setdefault(callee, set()).add(name)
    while leaves:
        leaf = leaves.pop()
        del left[leaf]
        for caller in callers.get(leaf, ()):
            left[caller].discard(leaf)
            if not left[caller]:
                leaves.append(caller)
    reached = {name: _reached(left, name) for name in left}
    return {
        name: frozenset(other for other in reached[name] if name in reached[other])
        for name in left
        if name in reached[name]
    }


def _reached(graph: dict[str, set[str]], start: str) -> set[str]:
    found: set[str] = set()
    work = list(graph[start])
    while work:
        name = work.pop()
        if name not in found:
            found.add(name)
            work += graph[name]
    return found


def _renamed(instruction: Instruction, names: Mapping[str, str]) -> Instruction:
    """Returns the instruction with its registers and symbols under their new ``names``; others keep theirs.

    A copy of a function must not share registers with the original.
    """

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
