"""Threads of a launch, each run alone until it must wait for others: no vectors, no masks, no shapes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass, field

from tests.unit.emulator.scalar import conversion, floating, integer
from tests.unit.emulator.scalar.floating import Result
from tests.unit.emulator.scalar.integer import low, number, signed
from tests.unit.emulator.scalar.text import Address, Instruction, Kernel, Operand

Request = tuple[Instruction, tuple[int, ...]]  # a collective instruction and its operands
FLOAT_OPCODES = frozenset(
    (
        *("add", "sub", "mul", "mad", "fma", "div", "rcp", "sqrt", "rsqrt", "min", "max", "neg", "abs", "copysign"),
        *("ex2", "lg2", "sin", "cos", "tanh"),
    )
)
COLLECTIVE = frozenset(("shfl", "vote", "match", "redux", "bar", "activemask"))


class Deadlock(Exception):
    """Threads wait for each other and none can go on."""


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
        new = evaluate(Instruction(name, (), (i.type,), ()), [old, given[0]])
    assert isinstance(new, int)
    memory.store(address, size, new)
    thread.write(operands[0], old)


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
    "membar": lambda _thread, _i: None,
    "fence": lambda _thread, _i: None,
}


# ------------------------------------------------------------------------------------------------------ many threads
def collective(i: Instruction, lanes: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """What each lane gets from an instruction that the given lanes execute together: a result, and a predicate."""
    match i.opcode:
        case "shfl":
            return _shuffle(i, lanes)
        case "bar":
            return dict.fromkeys(lanes, ())
        case "activemask":
            return dict.fromkeys(lanes, (sum(1 << lane for lane in lanes),))
        case "match":
            masks = {n: sum(1 << k for k, other in lanes.items() if other[0] == v[0]) for n, v in lanes.items()}
            if i.has("any"):
                return {n: (m,) for n, m in masks.items()}
            everyone = sum(1 << lane for lane in lanes)
            return {n: (m if m == everyone else 0, int(m == everyone)) for n, m in masks.items()}
        case "vote":
            votes = {n: v[0] for n, v in lanes.items()}
            ballot = sum(v << n for n, v in votes.items())
            result = {
                "ballot": ballot,
                "any": int(any(votes.values())),
                "all": int(all(votes.values())),
                "uni": int(len(set(votes.values())) == 1),
            }[i.modifiers[-1] if i.modifiers[-1] != "sync" else i.modifiers[0]]
            return dict.fromkeys(lanes, (result,))
    name = i.one_of("add", "min", "max", "and", "or", "xor")
    assert name is not None, i
    values = [v[0] for v in lanes.values()]
    total = values[0]
    for value in values[1:]:
        total = integer.SEMANTICS[name](Instruction(name, (), i.types, ()), [total, value])
    return dict.fromkeys(lanes, (total,))


def _shuffle(i: Instruction, lanes: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """The manual's pseudocode."""
    results = {}
    for lane, (value, b, control, *_) in lanes.items():
        segment, clamp, b = control >> 8 & 31, control & 31, b & 31
        limit = lane & segment | clamp & ~segment
        match i.one_of("up", "down", "bfly", "idx"):
            case "up":
                source = lane - b
                inside = source >= limit
            case "down":
                source = lane + b
                inside = source <= limit
            case "bfly":
                source = lane ^ b
                inside = source <= limit
            case _:
                source = lane & segment | b & ~segment & 31
                inside = source <= limit
        # From a lane that takes no part the value is undefined: the tests look at none.
        results[lane] = (lanes[source][0] if source in lanes else 0, 1) if inside else (value, 0)
    return results


def _collective_operands(thread: Thread, i: Instruction) -> tuple[int, ...]:
    sources = i.operands if i.opcode == "bar" else i.operands[1:]
    return tuple(low(thread.value(o), 64 if i.opcode == "match" else 32) for o in sources)


def _write_results(thread: Thread, i: Instruction, results: tuple[int, ...]) -> None:
    """The result, and the predicate where one is asked for."""
    target = i.operands[0] if results else ()
    for name, value in zip(target if isinstance(target, tuple) else (target,), results, strict=False):
        thread.write(name, value)


MASK_OPERAND = {"shfl": 4, "vote": 2, "match": 2, "redux": 2}


def run_thread(kernel: Kernel, thread: Thread, budget: int) -> Generator[Request, tuple[int, ...], None]:
    """Yields each collective instruction with its operands; is sent what it gives this thread."""
    at = 0
    for _ in range(budget):
        if at == len(kernel.code):
            return
        i = kernel.code[at]
        at += 1
        if not thread.allows(i):
            continue
        if i.opcode in ("ret", "exit"):
            return
        if i.opcode == "bra":
            at = kernel.labels[str(i.operands[0])]
        elif i.opcode == "brx":
            index = low(thread.value(i.operands[0]), 32)
            at = kernel.labels[kernel.targets[str(i.operands[1])][index]]
        elif i.opcode in COLLECTIVE:
            results = yield i, _collective_operands(thread, i)
            _write_results(thread, i, results)
        else:
            execute(thread, i)
    raise Deadlock("a thread never ends")


def _mask(request: Request) -> int:
    i, values = request
    if i.opcode == "bar":
        return values[0]  # bar.warp.sync
    if i.opcode == "activemask":
        return 0
    return values[MASK_OPERAND[i.opcode] - 1]


def run_block(threads: Sequence[Generator[Request, tuple[int, ...], None]]) -> None:
    """Threads meet at collective instructions: those of a warp that a mask names, or, at ``bar.sync``, all."""
    waiting: dict[int, Request] = {}
    running: list[tuple[int, tuple[int, ...] | None]] = [(n, None) for n in range(len(threads))]
    alive = set(range(len(threads)))
    while alive:
        for n, gift in running:
            try:
                waiting[n] = next(threads[n]) if gift is None else threads[n].send(gift)
            except StopIteration:
                alive.discard(n)
                waiting.pop(n, None)
        running = []
        if len(waiting) == len(alive) and all(r[0].opcode == "bar" and not r[0].has("warp") for r in waiting.values()):
            running = [(n, ()) for n in waiting]
        else:
            for warp in {n // 32 for n in waiting}:
                running += _meet(warp, waiting, alive)
        if alive and not running:
            raise Deadlock(str(next(iter(waiting.values()))[0]))
        for n, _ in running:
            del waiting[n]


def _meet(warp: int, waiting: dict[int, Request], alive: set[int]) -> list[tuple[int, tuple[int, ...]]]:
    """The first set of lanes of this warp that is complete, and what they get."""
    here = {n % 32: waiting[n] for n in waiting if n // 32 == warp}
    present = {n % 32 for n in alive if n // 32 == warp}
    for lane, (i, _) in here.items():
        if i.opcode == "bar" and not i.has("warp"):
            continue
        mask = _mask(here[lane])
        named = {k for k in present if mask >> k & 1} if i.opcode != "activemask" else present
        same = {k for k in named if k in here and here[k][0] is i and _mask(here[k]) == mask}
        if same == named:
            results = collective(i, {k: here[k][1] for k in sorted(same)})
            return [(32 * warp + k, results[k]) for k in same]
    return []


def run(
    kernel: Kernel,
    grid: int,
    block: int,
    parameters: Sequence[int],
    memory: Memory,
    budget: int = 20_000,
) -> None:
    """All blocks, one after another; ``budget`` instructions to a thread."""
    names = [name for name, _ in kernel.parameters]
    widths = {name: type_.bits for name, type_ in kernel.registers.items()}
    for number_ in range(grid):
        shared = Memory([(0, bytearray(kernel.space_bytes["shared"]))])
        threads = []
        for t in range(block):
            special = {"%tid.x": t, "%ntid.x": block, "%ctaid.x": number_, "%nctaid.x": grid, "%laneid": t % 32}
            special |= {"%tid.y": 0, "%tid.z": 0, "%warpid": t // 32, "%lanemask_lt": (1 << t % 32) - 1}
            thread = Thread(dict.fromkeys(widths, 0), widths, t % 32, special=special)
            thread.parameters = dict(zip(names, parameters, strict=True))
            local = Memory([(0, bytearray(kernel.space_bytes["local"]))])
            thread.symbols, thread.spaces = kernel.symbols, {"global": memory, "shared": shared, "local": local}
            threads.append(run_thread(kernel, thread, budget))
        run_block(threads)


def run_row(code: Sequence[Instruction], thread: Thread) -> None:
    """Straight-line code of one thread."""
    for i in code:
        if thread.allows(i):
            execute(thread, i)


def run_warp(code: Sequence[Instruction], threads: Sequence[Thread]) -> None:
    """Straight-line code of a warp."""
    for i in code:
        if i.opcode not in COLLECTIVE:
            for thread in threads:
                if thread.allows(i):
                    execute(thread, i)
            continue
        groups: dict[int, dict[int, tuple[int, ...]]] = {}
        for thread in threads:
            values = _collective_operands(thread, i)
            groups.setdefault(_mask((i, values)), {})[thread.lane] = values
        for members in groups.values():
            for lane, results in collective(i, members).items():
                _write_results(threads[lane], i, results)
