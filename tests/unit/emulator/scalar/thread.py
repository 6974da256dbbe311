"""One thread: its registers and memory, and what instructions make of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tests.unit.emulator.scalar import conversion, floating, integer, video
from tests.unit.emulator.scalar.floating import Result
from tests.unit.emulator.scalar.integer import low, number, signed
from tests.unit.emulator.scalar.text import Address, Instruction, Operand, Type

FLOAT_OPCODES = frozenset(
    (
        *("add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt", "min", "max", "neg", "abs", "copysign"),
        *("ex2", "lg2", "sin", "cos", "tanh"),
    )
)


@dataclass
class Memory:
    """Byte arrays by base address."""

    areas: list[tuple[int, bytearray]] = field(default_factory=list)

    def _find(self, address: int, size: int) -> tuple[bytearray, int]:
        for base, area in self.areas:
            if base <= address and address + size <= base + len(area):
                assert address % size == 0, f"misaligned: {address:#x}"
                return area, address - base
        raise IndexError(f"no memory at {address:#x}")

    def load(self, address: int, size: int) -> int:
        area, at = self._find(address, size)
        return int.from_bytes(area[at : at + size], "little")

    def store(self, address: int, size: int, value: int) -> None:
        area, at = self._find(address, size)
        area[at : at + size] = low(value, 8 * size).to_bytes(size, "little")


@dataclass
class Thread:
    registers: dict[str, int]
    widths: dict[str, int]
    lane: int = 0
    carry: int = 0
    special: dict[str, int] = field(default_factory=dict)
    parameters: dict[str, int] = field(default_factory=dict)
    symbols: dict[str, int] = field(default_factory=dict)
    spaces: dict[str, Memory] = field(default_factory=dict)

    def value(self, operand: Operand, bits: int = 64) -> int:
        """Bits of a register, immediate, special register or symbol."""
        if isinstance(operand, int):
            return low(operand, bits)
        assert isinstance(operand, str), operand
        for table in (self.registers, self.special, self.symbols):
            if operand in table:
                return table[operand]
        if operand.startswith("!"):
            return 1 - self.value(operand[1:])
        if operand == "WARP_SZ":
            return 32
        raise KeyError(operand)

    def write(self, target: Operand, value: Result) -> None:
        assert isinstance(target, str)
        if target != "_":
            self.registers[target] = low(value, self.widths[target]) if isinstance(value, int) else value  # type: ignore[assignment]

    def allows(self, i: Instruction) -> bool:
        return not i.guard or bool(self.value(i.guard))


def _is_float(i: Instruction) -> bool:
    return bool(i.types) and i.type.is_float and i.opcode in FLOAT_OPCODES


def evaluate(i: Instruction, values: Sequence[int]) -> Result:
    """An instruction without a state of its own."""
    if i.opcode == "cvt":
        return conversion.convert(i, values)
    if i.opcode == "testp":
        return floating.test_property(i, values)
    return floating.arithmetic(i, values) if _is_float(i) else integer.SEMANTICS[i.opcode](i, values)


def execute(thread: Thread, i: Instruction) -> None:
    """Anything but control flow and what needs other threads."""
    special = SPECIAL.get(i.opcode) if i.opcode != "lop3" or i.modifiers else None
    if special is not None:
        special(thread, i)
        return
    values = [thread.value(o) for o in i.operands[1:]]
    if i.has("cc") or i.opcode in ("addc", "subc", "madc"):
        result, carry = integer.with_carry(i, values, thread.carry)
        thread.carry = carry if i.has("cc") else thread.carry
        thread.write(i.operands[0], result)
        return
    result = evaluate(i, values)
    if i.opcode == "cvt" and i.types[0].kind == "s" and not i.has("pack"):
        assert isinstance(result, int)
        result = signed(result, i.types[0].bits)  # a narrow signed result fills a wider register with its sign
    thread.write(i.operands[0], result)


def _move(thread: Thread, i: Instruction) -> None:
    target, source = i.operands
    value = 0
    if isinstance(source, tuple):
        part = i.type.bits // len(source)
        for n, item in enumerate(source):
            value |= low(thread.value(item), part) << part * n
    else:
        value = thread.value(source)
    if isinstance(target, tuple):
        part = i.type.bits // len(target)
        for n, item in enumerate(target):
            thread.write(item, value >> part * n)
    else:
        thread.write(target, value)


def _combine(thread: Thread, i: Instruction, result: bool) -> bool:
    logic = i.one_of("and", "or", "xor")
    if logic is None:
        return result
    other = bool(thread.value(i.operands[3]))
    return {"and": result and other, "or": result or other, "xor": result != other}[logic]


def _comparisons(thread: Thread, i: Instruction) -> list[bool]:
    a, b = (thread.value(o) for o in i.operands[1:3])
    part = i.type.part
    return [
        floating.compare(
            i, i.modifiers[0], low(a >> part.bits * n, part.bits), low(b >> part.bits * n, part.bits), part
        )
        for n in range(i.type.lanes)
    ]


def _set_predicate(thread: Thread, i: Instruction) -> None:
    results = _comparisons(thread, i)
    target = i.operands[0]
    if isinstance(target, tuple):
        second = results[1] if len(results) == 2 else not results[0]
        both = (_combine(thread, i, results[0]), _combine(thread, i, second))
        thread.write(target[0], int(both[0]))
        thread.write(target[1], int(both[1]))
    else:
        thread.write(target, int(_combine(thread, i, results[0])))


def _set(thread: Thread, i: Instruction) -> None:
    results = [_combine(thread, i, r) for r in _comparisons(thread, i)]
    to = i.types[0].part
    true = {"f32": 0x3F800000, "f16": 0x3C00, "bf16": 0x3F80}.get(f"{to.kind}{to.bits}", (1 << to.bits) - 1)
    thread.write(i.operands[0], sum(true * r << to.bits * n for n, r in enumerate(results)))


def _select(thread: Thread, i: Instruction) -> None:
    first, second, key = i.operands[1:]
    if i.opcode == "selp":
        chosen = bool(thread.value(key))
    else:
        chosen = floating.compare(i, "ge", thread.value(key, i.types[1].bits), 0, i.types[1])
    thread.write(i.operands[0], low(thread.value(first if chosen else second), i.types[0].bits))


def _address(thread: Thread, operand: Operand) -> int:
    assert isinstance(operand, Address)
    return thread.value(operand.base) + operand.offset


def _space(thread: Thread, i: Instruction) -> Memory:
    return thread.spaces[i.one_of("global", "shared", "local") or "global"]


def _load(thread: Thread, i: Instruction) -> None:
    targets, address = i.operands
    items = targets if isinstance(targets, tuple) else (targets,)
    size = i.type.bits // 8
    for n, item in enumerate(items):
        if i.has("param"):
            assert isinstance(address, Address)
            value = thread.parameters[address.base]
        else:
            value = _space(thread, i).load(_address(thread, address) + n * size, size)
        thread.write(item, number(value, i.type))


def _store(thread: Thread, i: Instruction) -> None:
    address, sources = i.operands
    items = sources if isinstance(sources, tuple) else (sources,)
    size = i.type.bits // 8
    for n, item in enumerate(items):
        _space(thread, i).store(_address(thread, address) + n * size, size, thread.value(item))


def _atomic(thread: Thread, i: Instruction) -> None:
    operands = i.operands if i.opcode == "atom" else ("_", *i.operands)
    size, width = i.type.bits // 8, i.type.bits
    memory, address = _space(thread, i), _address(thread, operands[1])
    old = memory.load(address, size)
    given = [low(thread.value(o, width), width) for o in operands[2:]]
    name = i.one_of("add", "min", "max", "and", "or", "xor", "exch", "cas", "inc", "dec")
    assert name is not None
    if name == "cas":
        new: Result = given[1] if old == given[0] else old
    elif name == "exch":
        new = given[0]
    elif name == "inc":
        new = 0 if old >= given[0] else old + 1
    elif name == "dec":
        new = given[0] if old == 0 or old > given[0] else old - 1
    else:
        # Global memory adds f32 as with .ftz.
        modifiers = ("ftz",) if i.type == Type("f", 32) and not i.has("shared") else ()
        new = evaluate(Instruction(name, modifiers, (i.type,), ()), [old, given[0]])
    assert isinstance(new, int)
    memory.store(address, size, new)
    thread.write(operands[0], old)


def _video(thread: Thread, i: Instruction) -> None:
    thread.write(video.register(i.operands[0]), video.evaluate(i, thread.value))


def _lop3(thread: Thread, i: Instruction) -> None:
    *values, other = (thread.value(o) for o in i.operands[1:])
    result = integer.lop3(i, values)
    target = i.operands[0]
    assert isinstance(target, tuple)
    thread.write(target[0], result)
    thread.write(target[1], int(result != 0 and other) if i.has("and") else int(result != 0 or other))


SPECIAL: dict[str, Callable[[Thread, Instruction], None]] = {
    "mov": _move,
    "setp": _set_predicate,
    "set": _set,
    "selp": _select,
    "slct": _select,
    "ld": _load,
    "st": _store,
    "atom": _atomic,
    "red": _atomic,
    "lop3": _lop3,
    **dict.fromkeys(video.OPCODES, _video),
    "istypep": lambda thread, i: thread.write(i.operands[0], 0),  # no module here has opaque variables
    "membar": lambda _thread, _i: None,
    "fence": lambda _thread, _i: None,
}
