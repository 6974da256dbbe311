"""Threads of a launch, each run alone until it must wait for others: no vectors, no masks, no shapes."""

from __future__ import annotations

from collections.abc import Generator, Sequence

from tests.unit.emulator.scalar import integer
from tests.unit.emulator.scalar.integer import low
from tests.unit.emulator.scalar.text import Instruction, Kernel
from tests.unit.emulator.scalar.thread import Memory, Thread, execute

Request = tuple[Instruction, tuple[int, ...]]  # a collective instruction and its operands
COLLECTIVE = frozenset(("shfl", "vote", "match", "redux", "bar", "activemask"))


class Deadlock(Exception):
    """Threads wait for each other and none can go on."""


def collective(i: Instruction, lanes: dict[int, tuple[int, ...]]) -> dict[int, tuple[int, ...]]:
    """The result of each lane from an instruction that the given lanes execute together: a value, and a predicate."""
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
