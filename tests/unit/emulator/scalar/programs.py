"""Whole kernels made up at random: expressions over all types, branches, loops, switches, and threads that meet.

Every thread stores all of its registers in the end. Nothing in them depends on who runs first: shared memory is
exchanged between barriers, atomics commute, collective instructions stand where all lanes that they name come by.
"""

from __future__ import annotations

import functools
import random
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tests.unit.emulator.scalar import video
from tests.unit.emulator.scalar.batches import HEADER, bits_of, pool
from tests.unit.emulator.scalar.cases import CASES, Case
from tests.unit.emulator.scalar.machine import COLLECTIVE, run
from tests.unit.emulator.scalar.text import parse_kernels, parse_type
from tests.unit.emulator.scalar.thread import Memory

REGISTERS = {16: ("%hh", 6), 32: ("%rr", 8), 64: ("%dd", 6)}  # by width: name, how many
PREDICATES = 4
# Never written again: one value to a warp, or evenly spaced ones over its lanes.
STEADY = {32: ("%me", "%lane", "%block", "%size"), 64: ("%far",)}
INPUTS = 12  # 64-bit words of data to a thread
OUTPUTS = sum(count for _, count in REGISTERS.values()) + PREDICATES
ACCUMULATORS = 8
CONSTANTS = (1, 2, 3, 4, 5, 7, 8, 15, 16, 31, 32, 33, 63, 64, 100, 255, 256, 4095, 0x7FFF)
ALL = 0xFFFFFFFF
ON_GPU = 200  # programs that a GPU is tried with
VIDEO = {"vabsdiff2", "vabsdiff4", *video.OPCODES}  # ptxas takes no immediate operand of theirs


@functools.cache
def expressions() -> tuple[Case, ...]:
    """Returns the instructions that define every bit of their result for any operands.

    No constant shift by the width or more: ptxas (13.0) takes ``mul.wide`` and then ``shl.b64`` by 64 for one product.
    """
    return tuple(
        case
        for case in CASES
        if not case.opcodes & (COLLECTIVE | {"fns", "istypep"})
        and "[" not in case.body
        and not re.search(r"\.approx|\.full", case.body)
        and not re.fullmatch(r"sh[lr]\.\w(16|32|64) %d, %a, (\d{3,}|16|17|32|33|64|65);", case.body)
    )


@dataclass(frozen=True)
class Program:
    name: str
    text: str  # of the kernel, without the module's header
    grid: int
    block: int
    inputs: np.ndarray[Any, Any]  # (threads, INPUTS) of uint64

    @property
    def threads(self) -> int:
        return self.grid * self.block

    def expected(self) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        """(threads, OUTPUTS) registers and the accumulators."""
        areas = [bytearray(self.inputs.tobytes()), bytearray(8 * OUTPUTS * self.threads), bytearray(8 * ACCUMULATORS)]
        bases = [1 << 20, 2 << 20, 3 << 20]
        memory = Memory(list(zip(bases, areas, strict=True)))
        run(parse_kernels(self.text)[self.name], self.grid, self.block, bases, memory)
        out = np.frombuffer(bytes(areas[1]), np.uint64).reshape(self.threads, OUTPUTS)
        return out, np.frombuffer(bytes(areas[2]), np.uint64)

    def difference(self, out: np.ndarray[Any, Any], sums: np.ndarray[Any, Any]) -> str:
        """Returns where the results of a device are not what they must be; "" if nowhere."""
        wanted, wanted_sums = self.expected()
        wrong = np.argwhere(out != wanted)
        if len(wrong):
            thread, register = (int(v) for v in wrong[0])
            got, want = int(out[thread, register]), int(wanted[thread, register])
            where = f"{self.name}: thread {thread}, {_slots()[register][0]}"
            return f"{where}: expected {want:#x}, got {got:#x} ({len(wrong)} in all)"
        if not np.array_equal(sums, wanted_sums):
            return f"{self.name}: accumulators: expected {wanted_sums.tolist()}, got {sums.tolist()}"
        return ""


def _slots() -> list[tuple[str, int]]:
    found = [(f"{prefix}{n}", bits) for bits, (prefix, count) in REGISTERS.items() for n in range(count)]
    return [*found, *((f"%pp{n}", 1) for n in range(PREDICATES))]


@dataclass
class _Maker:
    draw: random.Random
    meets: bool  # threads meet in this kernel; otherwise some may leave early
    lines: list[str] = field(default_factory=list)
    labels: int = 0
    budget: int = 0  # statements still to be made

    def emit(self, text: str) -> None:
        self.lines.append(text)

    def register(self, bits: int) -> str:
        prefix, count = REGISTERS[bits]
        return f"{prefix}{self.draw.randrange(count)}"

    def predicate(self) -> str:
        return f"%pp{self.draw.randrange(PREDICATES)}"

    def label(self, name: str) -> str:
        self.labels += 1
        return f"{name}{self.labels}"

    # ------------------------------------------------------------------------------------------ straight-line code
    def expression(self) -> None:
        case = self.draw.choice(expressions())
        target = self.register(max(16, bits_of(case.output)))
        body = case.body
        only_registers = bool(case.opcodes & VIDEO)
        for letter, kind in zip("abce", case.inputs, strict=False):
            immediate = letter != "a" and not only_registers
            body = re.sub(rf"%{letter}\b", self.operand(kind, immediate=immediate), body)
        # Computed apart: the target may be an operand, and comes last.
        result = {16: "%nh", 32: "%nr", 64: "%nd"}[max(16, bits_of(case.output))]
        body = re.sub(r"%d\b", result, body)
        self.emit(body)
        self.canonical(case.output, result)
        guard = f"@{self.draw.choice(('', '!'))}{self.predicate()} " if self.draw.random() < 0.2 else ""
        self.emit(f"{guard}mov.b{max(16, bits_of(case.output))} {target}, {result};")

    def operand(self, kind: str, *, immediate: bool) -> str:
        bits = bits_of(kind)
        type_ = parse_type(kind)
        if (
            immediate
            and bits > 8
            and kind != "byte"
            and not (type_ is not None and type_.is_float)
            and self.draw.random() < 0.25
        ):
            return str(self.draw.choice(CONSTANTS if kind != "count" else CONSTANTS[:8]))
        register = self.register(max(16, bits))
        if kind not in ("f32", "f64") and bits in STEADY and self.draw.random() < 0.2:
            register = self.draw.choice(STEADY[bits])
        if kind == "byte":
            scratch = f"%byte{self.draw.randrange(2)}"
            self.emit(f"and.b32 {scratch}, {register}, 255;")
            return scratch
        return register

    def canonical(self, kind: str, name: str) -> None:
        """One pattern for all NaNs: PTX does not say which comes out."""
        kind = kind.replace("tf32", "f32")
        type_ = parse_type(kind)
        if type_ is None or not type_.is_float:
            return
        if type_.lanes == 2:
            self.emit(f"mov.b32 {{%h, %g}}, {name};")
            for part in ("%h", "%g"):
                self.canonical(kind.removesuffix("x2"), part)
            self.emit(f"mov.b32 {name}, {{%h, %g}};")
            return
        bits = type_.bits
        infinity = {"f16": 0x7C00, "bf16": 0x7F80, "f32": 0x7F800000, "f64": 0x7FF0000000000000}[kind]
        scratch, nan = {16: "%ch", 32: "%cr", 64: "%cd"}[bits], (1 << (bits - 1)) - 1
        self.emit(f"and.b{bits} {scratch}, {name}, {nan:#x}; setp.gt.u{bits} %p, {scratch}, {infinity:#x};")
        self.emit(f"selp.b{bits} {name}, {nan:#x}, {name}, %p;")

    def compare(self) -> str:
        """Sets a predicate, and names it."""
        target, other = self.predicate(), self.predicate()
        kind = self.draw.choice(("s32", "u32", "s64", "u16", "f32", "f64", "f16"))
        names = "eq ne lt le gt ge" if kind[0] != "f" else "eq ne lt le gt ge equ neu ltu geu num nan"
        bits = bits_of(kind)
        a, b = self.register(bits), self.operand(kind, immediate=True)
        combine = self.draw.choice(("", "", ".and", ".or", ".xor"))
        last = f", {self.draw.choice(('', '!'))}{self.predicate()}" if combine else ""
        both = f"|{other}" if other != target and kind != "f16" and self.draw.random() < 0.3 else ""
        self.emit(f"setp.{self.draw.choice(names.split())}{combine}.{kind} {target}{both}, {a}, {b}{last};")
        return target

    def local_memory(self) -> None:
        """A dynamically indexed array of the thread's own."""
        bits = self.draw.choice((16, 32, 64))
        value = self.register(bits)
        self.emit(f"and.b32 %t, {self.register(32)}, 7; mul.wide.u32 %w, %t, 8; add.u64 %w, %w, %mine;")
        self.emit(
            f"ld.local.b{bits} {value}, [%w];" if self.draw.random() < 0.5 else f"st.local.b{bits} [%w], {value};"
        )

    def accumulate(self) -> None:
        name, kind, cell = self.draw.choice(
            (
                ("add", "u32", 0),
                ("max", "s32", 1),
                ("min", "u64", 2),
                ("xor", "b32", 3),
                ("or", "b64", 4),
                ("add", "u64", 5),
            )
        )
        self.emit(f"red.global.{name}.{kind} [%sums+{8 * cell}], {self.register(bits_of(kind))};")

    # ------------------------------------------------------------------------------------------------ control flow
    def block(self, depth: int, together: int | None, count: int) -> None:
        """``together``: the lanes of each warp that run this in step with each other; None: not known."""
        for _ in range(count):
            if self.budget <= 0:
                return
            self.budget -= 1
            roll = self.draw.random()
            if depth < 3 and roll < 0.12:
                self.branch(depth, together)
            elif depth < 3 and roll < 0.20:
                self.loop(depth, together)
            elif depth < 3 and roll < 0.24:
                self.switch(depth)
            elif roll < 0.36 and self.meets and together is not None:
                self.meet(together, everyone=depth == 0)
            elif roll < 0.44:
                self.compare()
            elif roll < 0.49:
                self.local_memory()
            elif roll < 0.52:
                self.accumulate()
            elif roll < 0.53 and not self.meets:
                self.emit(f"@{self.predicate()} {self.draw.choice(('ret', 'exit', 'bra END'))};")
            else:
                self.expression()

    def branch(self, depth: int, together: int | None) -> None:
        """On data, which may part the lanes, or on the lane's number, which parts them in a known way."""
        inside, outside = None, None
        if together is not None and self.draw.random() < 0.4:
            bound = self.draw.randrange(1, 32)
            self.emit(f"setp.lt.u32 %p, %lane, {bound};")
            condition = "%p"
            inside, outside = together & (1 << bound) - 1, together & ~((1 << bound) - 1)
        else:
            condition = self.compare()
        other, end = self.label("ELSE"), self.label("JOIN")
        has_else = self.draw.random() < 0.6
        self.emit(f"@!{condition} bra {other if has_else else end};")
        self.block(depth + 1, inside or None, self.draw.randrange(1, 5))
        if has_else:
            self.emit(f"bra {end};")
            self.emit(f"{other}:")
            self.block(depth + 1, outside or None, self.draw.randrange(1, 5))
        self.emit(f"{end}:")

    def loop(self, depth: int, together: int | None) -> None:
        counter, head, end = f"%count{depth}", self.label("LOOP"), self.label("DONE")
        fixed = self.draw.random() < 0.4
        if fixed:
            self.emit(f"mov.u32 {counter}, {self.draw.randrange(1, 5)};")
        else:
            self.emit(f"and.b32 {counter}, {self.register(32)}, 7; add.u32 {counter}, {counter}, 1;")
        self.emit(f"{head}:")
        self.block(depth + 1, together if fixed else None, self.draw.randrange(1, 4))
        if not fixed and self.draw.random() < 0.5:
            self.emit(f"@{self.compare()} bra {end};")
            self.block(depth + 1, None, self.draw.randrange(1, 3))
        self.emit(f"sub.u32 {counter}, {counter}, 1; setp.ne.u32 %p, {counter}, 0; @%p bra {head};")
        self.emit(f"{end}:")

    def switch(self, depth: int) -> None:
        table, end = self.label("TABLE"), self.label("JOIN")
        ways = [self.label("CASE") for _ in range(4)]
        self.emit(f"{table}: .branchtargets {', '.join(ways)};")
        self.emit(f"and.b32 %t, {self.register(32)}, 3; brx.idx %t, {table};")
        for way in ways:
            self.emit(f"{way}:")
            self.block(depth + 1, None, self.draw.randrange(1, 3))
            if self.draw.random() < 0.7:
                self.emit(f"bra {end};")
        self.emit(f"{end}:")

    # ------------------------------------------------------------------------------------------------- between lanes
    def meet(self, lanes: int, *, everyone: bool) -> None:
        """``everyone``: all threads of the block come here."""
        target, value, mask = self.register(32), self.register(32), f"{lanes:#x}"
        kinds = ["vote", "ballot", "match", "redux", "broadcast", "sync"]
        if lanes == ALL:
            kinds += ["shuffle", "shuffle"]
        if everyone:
            kinds += ["exchange", "exchange"]
        match self.draw.choice(kinds):
            case "vote":
                mode = self.draw.choice(("all", "any", "uni"))
                self.emit(f"vote.sync.{mode}.pred {self.predicate()}, {self.predicate()}, {mask};")
            case "ballot":
                self.emit(f"vote.sync.ballot.b32 {target}, {self.predicate()}, {mask};")
            case "match":
                self.emit(f"and.b32 %t, {value}, 3; match.any.sync.b32 {target}, %t, {mask};")
            case "redux":
                operation = self.draw.choice(("add.u32", "min.s32", "max.u32", "and.b32", "or.b32", "xor.b32"))
                self.emit(f"redux.sync.{operation} {target}, {value}, {mask};")
            case "broadcast":
                source = self.draw.choice([n for n in range(32) if lanes >> n & 1])
                self.emit(f"shfl.sync.idx.b32 {target}, {value}, {source}, 31, {mask};")
            case "sync":
                self.emit(f"bar.warp.sync {mask};")
            case "shuffle":
                mode = self.draw.choice(("up", "down", "bfly", "idx"))
                distance = str(self.draw.randrange(32)) if self.draw.random() < 0.6 else self.register(32)
                control = 0 if mode == "up" else 31
                if self.draw.random() < 0.3:
                    control |= self.draw.choice((16, 24, 28)) << 8
                both = f"|{self.predicate()}" if self.draw.random() < 0.5 else ""
                self.emit(f"shfl.sync.{mode}.b32 {target}{both}, {value}, {distance}, {control}, {mask};")
            case _:
                self.emit("mul.lo.u32 %t, %me, 8; add.u32 %t, %t, %common;")
                self.emit(f"st.shared.b32 [%t], {value}; bar.sync 0;")
                self.emit(f"add.u32 %u, %me, {self.draw.randrange(1, 64)}; rem.u32 %u, %u, %size;")
                self.emit(f"mul.lo.u32 %u, %u, 8; add.u32 %u, %u, %common; ld.shared.b32 {target}, [%u]; bar.sync 0;")


def make(draw: random.Random, name: str = "k", statements: int = 40) -> Program:
    meets = draw.random() < 0.6
    grid, block = draw.choice((1, 2)), draw.choice((32, 64) if meets else (32, 64, 33, 45))
    maker = _Maker(draw, meets, budget=statements)
    lines = [f".reg .b{bits} {prefix}<{count}>;" for bits, (prefix, count) in REGISTERS.items()]
    lines += [
        f".reg .pred %p, %q, %pp<{PREDICATES}>; .reg .b16 %h, %g, %nh, %ch; .reg .b32 %t, %u, %nr, %cr, %count<3>;",
        ".reg .b32 %me, %size, %block, %lane, %common, %byte<2>;",
        ".reg .b64 %w, %z, %nd, %cd, %mine, %far, %in, %out, %sums;",
        f".shared .align 16 .b8 common[{8 * block}]; .local .align 16 .b8 mine[64];",
        "mov.u32 %me, %tid.x; mov.u32 %size, %ntid.x; mov.u32 %block, %ctaid.x; mov.u32 %lane, %laneid;",
        "mov.u32 %common, common; mov.u64 %mine, mine; mad.lo.u32 %t, %block, %size, %me;",
        f"ld.param.u64 %in, [in]; mul.wide.u32 %w, %t, {8 * INPUTS}; add.u64 %in, %in, %w;",
        f"ld.param.u64 %out, [out]; mul.wide.u32 %w, %t, {8 * OUTPUTS}; add.u64 %out, %out, %w;",
        "ld.param.u64 %sums, [sums]; mul.wide.u32 %far, %me, 24;",
    ]
    lines += [f"st.local.b64 [%mine+{8 * n}], %w;" for n in range(8)]
    sources = ["%me", "%block", "%lane", "%size"]  # one value per warp, or a pattern over its lanes
    for n in range(REGISTERS[32][1]):
        chosen = sources[n] if n < len(sources) else None
        lines.append(f"mov.u32 %rr{n}, {chosen};" if chosen else f"ld.global.b32 %rr{n}, [%in+{8 * (n - 4)}];")
    lines += [f"ld.global.b16 %hh{n}, [%in+{8 * (n % 4) + 32}];" for n in range(REGISTERS[16][1])]
    lines += [f"ld.global.b64 %dd{n}, [%in+{8 * (n % 4) + 64}];" for n in range(REGISTERS[64][1] - 2)]
    lines += ["mul.wide.s32 %dd4, %rr0, %rr1;", "cvt.u64.u32 %dd5, %rr4;"]
    lines += [f"setp.lt.s32 %pp{n}, %rr{n + 2}, {n};" for n in range(PREDICATES)]
    maker.block(0, ALL, statements)
    lines += maker.lines
    lines.append("END:")
    for n, (register, bits) in enumerate(_slots()):
        if bits == 1:
            lines.append(f"selp.b32 %t, 1, 0, {register}; st.global.b32 [%out+{8 * n}], %t;")
        else:
            lines.append(f"st.global.b{bits} [%out+{8 * n}], {register};")
    body = "\n    ".join(lines)
    text = f".visible .entry {name}(.param .u64 in, .param .u64 out, .param .u64 sums)\n{{\n    {body}\n    ret;\n}}\n"
    return Program(name, text, grid, block, _data(draw, grid * block))


def numbered(count: int) -> list[Program]:
    """The same ones each time."""
    return [make(random.Random(seed), f"k{seed}") for seed in range(count)]


def module(found: Sequence[Program]) -> str:
    return HEADER + "".join(program.text for program in found)


def _data(draw: random.Random, threads: int) -> np.ndarray[Any, Any]:
    """Edge values: of 32 bits, then 16, then 64."""
    words = [np.array(pool(k) * 2, np.uint64) for k in ("s32", "f32", "u32", "f32", "f16", "bf16", "u16", "f16")]
    words += [np.array(pool(k), np.uint64) for k in ("s64", "f64", "u64", "f64")]
    rng = np.random.default_rng(draw.randrange(1 << 30))
    return np.stack([rng.choice(column, threads) for column in words], 1)
