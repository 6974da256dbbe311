"""Random integer expressions over thread indices, against the same arithmetic in Python.

What the JIT knows of such values (uniform, or a base and an offset per lane) must never show: wrapping, widening,
shifts and masks have to come out as if each thread were computed alone.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np
import pytest

from tests.unit.emulator.jit.conftest import Machine

CONSTANTS = (
    0,
    1,
    2,
    3,
    4,
    5,
    7,
    8,
    16,
    31,
    32,
    33,
    63,
    64,
    100,
    255,
    256,
    1000,
    4095,
    0x9E3779B1,
    0x7FFFFFFF,
    0x80000000,
)
CONSTANTS = (*CONSTANTS, 0xFFFFFFFF, 0xFFFFFFF0, 0xFFFF0000)
SOURCES = ("%tid.x", "%tid.y", "%ctaid.x", "%ntid.x", "%laneid", "%warpid")


@dataclass
class Program:
    """Instructions, and what each register holds for each thread."""

    lines: list[str]
    words: list[list[int]]  # 32-bit registers
    longs: list[list[int]]  # 64-bit registers


def low(value: int, bits: int) -> int:
    return value & ((1 << bits) - 1)


def signed(value: int, bits: int) -> int:
    return value - (1 << bits) if value >> (bits - 1) else value


def generate(seed: int, threads: list[dict[str, int]], length: int) -> Program:
    draw = random.Random(seed)
    program = Program([], [], [])

    def emit(text: str, values: list[int], wide: bool) -> None:
        registers, prefix = (program.longs, "%rd") if wide else (program.words, "%r")
        program.lines.append(text.replace("DEST", f"{prefix}{len(registers)}"))
        registers.append([low(v, 64 if wide else 32) for v in values])

    for source in SOURCES:
        emit(f"mov.u32 DEST, {source};", [t[source] for t in threads], False)
    emit("ld.param.u32 DEST, [seed];", [seed] * len(threads), False)
    for _ in range(length):
        wide = bool(program.longs) and draw.random() < 0.3
        bits = 64 if wide else 32
        registers, prefix = (program.longs, "%rd") if wide else (program.words, "%r")

        def operand(prefix: str = prefix, registers: list[list[int]] = registers) -> tuple[str, list[int]]:
            if draw.random() < 0.35:
                constant = draw.choice(CONSTANTS)
                return str(constant), [constant] * len(threads)
            index = draw.randrange(len(registers))
            return f"{prefix}{index}", registers[index]

        index = draw.randrange(len(registers))
        name, values = f"{prefix}{index}", registers[index]
        kind = draw.choice(
            ("add", "sub", "mul", "mad", "shl", "shr", "sar", "and", "or", "xor", "widen", "wide", "narrow")
        )
        text, other = operand()
        pairs = list(zip(values, other, strict=True))
        count = draw.randrange(bits + 2)
        match kind:
            case "add" | "sub":
                sign = 1 if kind == "add" else -1
                emit(f"{kind}.{draw.choice('us')}{bits} DEST, {name}, {text};", [a + sign * b for a, b in pairs], wide)
            case "mul":
                emit(f"mul.lo.{draw.choice('us')}{bits} DEST, {name}, {text};", [a * b for a, b in pairs], wide)
            case "mad":
                last, addend = operand()
                results = [a * b + c for (a, b), c in zip(pairs, addend, strict=True)]
                emit(f"mad.lo.s{bits} DEST, {name}, {text}, {last};", results, wide)
            case "shl":
                emit(f"shl.b{bits} DEST, {name}, {count};", [a << count if count < bits else 0 for a in values], wide)
            case "shr":
                emit(f"shr.u{bits} DEST, {name}, {count};", [a >> count for a in values], wide)
            case "sar":
                emit(f"shr.s{bits} DEST, {name}, {count};", [signed(a, bits) >> count for a in values], wide)
            case "and" | "or" | "xor":
                results = [{"and": a & b, "or": a | b, "xor": a ^ b}[kind] for a, b in pairs]
                emit(f"{kind}.b{bits} DEST, {name}, {text};", results, wide)
            case "widen" if not wide:
                if draw.random() < 0.5:
                    emit(f"cvt.u64.u32 DEST, {name};", values, True)
                else:
                    emit(f"cvt.s64.s32 DEST, {name};", [signed(a, 32) for a in values], True)
            case "wide" if not wide:
                if draw.random() < 0.5:
                    emit(f"mul.wide.u32 DEST, {name}, {text};", [a * b for a, b in pairs], True)
                else:
                    emit(f"mul.wide.s32 DEST, {name}, {text};", [signed(a, 32) * signed(b, 32) for a, b in pairs], True)
            case "narrow" if wide:
                emit(f"cvt.u32.u64 DEST, {name};", values, False)
    return program


@pytest.mark.parametrize("block", [(64, 1, 1), (16, 4, 1), (8, 8, 1), (24, 2, 1)])
@pytest.mark.parametrize("seed", range(10))
def test_expressions(machine: Machine, seed: int, block: tuple[int, int, int]) -> None:
    grid = 3
    per_block = block[0] * block[1]
    threads = [
        {
            "%tid.x": t % block[0],
            "%tid.y": t // block[0],
            "%ctaid.x": b,
            "%ntid.x": block[0],
            "%laneid": t % 32,
            "%warpid": t // 32,
        }
        for b in range(grid)
        for t in range(per_block)
    ]
    program = generate(seed, threads, 40)
    count = len(program.words) + len(program.longs)
    stores = "".join(f"st.global.u32 [%to+{8 * n}], %r{n};" for n in range(len(program.words)))
    stores += "".join(
        f"st.global.u64 [%to+{8 * n}], %rd{n - len(program.words)};" for n in range(len(program.words), count)
    )
    text = f"""
    .visible .entry k(.param .u64 out, .param .u32 seed) {{
        .reg .u32 %r<{len(program.words)}>, %x, %y; .reg .u64 %rd<{len(program.longs) + 1}>, %to, %o;
        {" ".join(program.lines)}
        mov.u32 %x, %ntid.x; mov.u32 %y, %tid.y; mad.lo.u32 %x, %x, %y, 0; mov.u32 %y, %tid.x; add.u32 %x, %x, %y;
        mov.u32 %y, %ctaid.x; mad.lo.u32 %x, %y, {per_block}, %x; ld.param.u64 %to, [out];
        mul.wide.u32 %o, %x, {8 * count}; add.u64 %to, %to, %o;
        {stores} ret;
    }}"""
    out = np.zeros((len(threads), count), np.uint64)
    machine.run(text, "k", grid, block, out, seed)
    expected = np.array([*program.words, *program.longs], np.uint64).T
    wrong = np.argwhere(out != expected)
    if len(wrong):
        thread, register = wrong[np.argmin(wrong[:, 1])]
        line = program.lines[register] if register < len(program.words) else register
        raise AssertionError((line, threads[thread], hex(out[thread, register]), hex(expected[thread, register])))
