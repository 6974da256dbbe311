"""Divergence, loops, exits, barriers, and turns: the same results as one thread at a time."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import CudaError
from emulator.jit.ops.barrier import touches_memory_first
from emulator.ptx import parse_module
from emulator.ptx.cfg import is_barrier
from emulator.ptx.program import build_program
from tests.unit.emulator.jit.conftest import HEADER, Machine

PROLOGUE = """
    .reg .u64 %at, %offset; .reg .u32 %i, %n, %x, %y, %c, %t, %one; .reg .pred %p, %q;
    mad.lo.u32 %i, %ctaid.x, %ntid.x, %tid.x;
    ld.param.u64 %at, [data]; mul.wide.u32 %offset, %i, 4; add.u64 %at, %at, %offset;
    ld.global.u32 %x, [%at];
"""


def entry(body: str, declarations: str = "") -> str:
    return f"{declarations}\n.visible .entry k(.param .u64 data) {{ {PROLOGUE} {body} }}"


def run(machine: Machine, text: str, values: np.ndarray, block: int) -> np.ndarray:
    data = values.copy()
    assert len(data) % block == 0
    machine.run(text, "k", len(data) // block, block, data)
    return data


COLLATZ = entry("""
    mov.u32 %c, 0;
    LOOP:
    setp.le.u32 %p, %x, 1; @%p bra DONE;
    and.b32 %y, %x, 1; setp.eq.u32 %q, %y, 0; @%q bra EVEN;
    mad.lo.u32 %x, %x, 3, 1; bra NEXT;
    EVEN: shr.u32 %x, %x, 1;
    NEXT: add.u32 %c, %c, 1; bra LOOP;
    DONE: st.global.u32 [%at], %c; ret;
""")


def collatz(x: int) -> int:
    count = 0
    while x > 1:
        x = 3 * x + 1 if x & 1 else x >> 1
        count += 1
    return count


@pytest.mark.parametrize("block", [1, 16, 32, 33, 96, 128])
def test_loops_of_different_lengths(machine: Machine, block: int) -> None:
    values = np.random.default_rng(0).integers(1, 5000, 2 * block).astype(np.uint32)
    assert list(run(machine, COLLATZ, values, block)) == [collatz(int(v)) for v in values]


def test_nested_branches_and_early_exits(machine: Machine) -> None:
    text = entry("""
        setp.gt.u32 %p, %x, 90; @%p exit;
        setp.gt.u32 %p, %x, 50; @%p bra HIGH;
        setp.gt.u32 %q, %x, 20; @%q bra MIDDLE;
        add.u32 %x, %x, 1000; bra OUT;
        MIDDLE: add.u32 %x, %x, 2000; bra OUT;
        HIGH: setp.lt.u32 %q, %x, 60; @!%q bra VERY; add.u32 %x, %x, 3000; bra OUT;
        VERY: add.u32 %x, %x, 4000;
        OUT: st.global.u32 [%at], %x; ret;
    """)
    values = np.arange(128, dtype=np.uint32)

    def expected(x: int) -> int:
        if x > 90:
            return x
        if x > 50:
            return x + (3000 if x < 60 else 4000)
        return x + (2000 if x > 20 else 1000)

    assert list(run(machine, text, values, 64)) == [expected(x) for x in range(128)]


@pytest.mark.parametrize("uniform", [True, False])
def test_branch_tables(machine: Machine, uniform: bool) -> None:
    index = "rem.u32 %y, %ctaid.x, 3;" if uniform else "rem.u32 %y, %x, 3;"
    text = entry(f"""
        {index}
        TABLE: .branchtargets A, B, C;
        brx.idx %y, TABLE;
        A: mov.u32 %c, 10; bra OUT;
        B: mov.u32 %c, 20; bra OUT;
        C: mov.u32 %c, 30;
        OUT: st.global.u32 [%at], %c; ret;
    """)
    values = np.arange(192, dtype=np.uint32)
    expected = [10 + 10 * ((i // 32 if uniform else i) % 3) for i in range(192)]
    assert list(run(machine, text, values, 32)) == expected


def test_guards_keep_the_old_value(machine: Machine) -> None:
    text = entry("""
        and.b32 %y, %x, 1; setp.ne.u32 %p, %y, 0; mov.u32 %c, 7;
        @%p mov.u32 %c, 8; @!%p add.u32 %c, %c, 100; @%p st.global.u32 [%at], %c; ret;
    """)
    values = np.arange(64, dtype=np.uint32)
    assert list(run(machine, text, values, 64)) == [8 if v & 1 else v for v in range(64)]


REVERSE = entry(
    """
    mov.u32 %t, %tid.x; shl.b32 %y, %t, 2; mov.u32 %c, buffer; add.u32 %y, %y, %c; st.shared.u32 [%y], %x;
    bar.sync 0;
    mov.u32 %n, %ntid.x; sub.u32 %n, %n, 1; sub.u32 %n, %n, %t; shl.b32 %n, %n, 2; add.u32 %n, %n, %c;
    ld.shared.u32 %x, [%n]; st.global.u32 [%at], %x; ret;
    """,
    ".shared .align 4 .b8 buffer[4096];",
)


@pytest.mark.parametrize("block", [1, 31, 32, 64, 100, 1024])
def test_barriers(machine: Machine, block: int) -> None:
    values = np.arange(2 * block, dtype=np.uint32)
    assert list(run(machine, REVERSE, values, block)) == list(values.reshape(2, -1)[:, ::-1].ravel())


def test_a_barrier_in_a_loop_with_diverging_work(machine: Machine) -> None:
    """Each round, threads below a shrinking bound add; all meet before the next."""
    text = entry(
        """
        mov.u32 %t, %tid.x; shl.b32 %y, %t, 2; mov.u32 %c, buffer; add.u32 %y, %y, %c; st.shared.u32 [%y], %x;
        mov.u32 %n, 64;
        LOOP: bar.sync 0; setp.ge.u32 %p, %t, %n; @%p bra SKIP;
        shl.b32 %i, %n, 2; add.u32 %i, %i, %y; ld.shared.u32 %x, [%i]; ld.shared.u32 %one, [%y];
        add.u32 %x, %x, %one; st.shared.u32 [%y], %x;
        SKIP: shr.u32 %n, %n, 1; setp.ne.u32 %p, %n, 0; @%p bra LOOP;
        bar.sync 0; ld.shared.u32 %x, [buffer]; st.global.u32 [%at], %x; ret;
        """,
        ".shared .align 4 .b8 buffer[512];",
    )
    values = np.random.default_rng(1).integers(0, 1000, 256).astype(np.uint32)
    expected = np.repeat(values.reshape(2, 128).sum(1), 128)
    assert list(run(machine, text, values, 128)) == list(expected)


@pytest.mark.parametrize(("operation", "expected"), [("popc.u32", 35), ("and.pred", 0), ("or.pred", 1)])
def test_barrier_reductions(machine: Machine, operation: str, expected: int) -> None:
    store = "mov.u32 %c, %y;" if operation.startswith("popc") else "selp.u32 %c, 1, 0, %q;"
    target = "%y" if operation.startswith("popc") else "%q"
    text = entry(f"setp.lt.u32 %p, %x, 35; bar.red.{operation} {target}, 0, %p; {store} st.global.u32 [%at], %c; ret;")
    values = np.arange(96, dtype=np.uint32)
    assert set(run(machine, text, values, 96)) == {expected}


def test_named_barriers_of_part_of_a_block(machine: Machine) -> None:
    """Warps 0 and 1 meet at barrier 1 as producer and consumer; warp 2 does not take part."""
    text = entry(
        """
        mov.u32 %t, %tid.x; mov.u32 %c, buffer; shr.u32 %n, %t, 5;
        setp.eq.u32 %p, %n, 2; @%p bra OUT;
        setp.eq.u32 %q, %n, 0; @%q bra CONSUMER;
        sub.u32 %y, %t, 32; shl.b32 %y, %y, 2; add.u32 %y, %y, %c; st.shared.u32 [%y], %x; bar.arrive 1, 64; bra OUT;
        CONSUMER: bar.sync 1, 64; shl.b32 %y, %t, 2; add.u32 %y, %y, %c; ld.shared.u32 %x, [%y];
        st.global.u32 [%at], %x;
        OUT: ret;
        """,
        ".shared .align 4 .b8 buffer[128];",
    )
    values = np.arange(96, dtype=np.uint32)
    got = run(machine, text, values, 96)
    assert list(got) == [*range(32, 64), *range(32, 96)]


SPIN = entry("""
    LOOP: atom.global.cas.b32 %y, [%at], 0, 1; setp.ne.u32 %p, %y, 0; @%p bra LOOP;
    ld.volatile.global.u32 %c, [%at+4]; add.u32 %c, %c, 1; st.volatile.global.u32 [%at+4], %c;
    membar.gl; atom.global.exch.b32 %y, [%at], 0; ret;
""").replace("mul.wide.u32 %offset, %i, 4; add.u64 %at, %at, %offset;", "")


@pytest.mark.parametrize(("grid", "block"), [(1, 32), (1, 48), (3, 64)])
def test_lanes_that_wait_for_a_lock_let_its_holder_go_on(machine: Machine, grid: int, block: int) -> None:
    data = np.zeros(2, np.uint32)
    machine.run(SPIN, "k", grid, block, data)
    assert list(data) == [0, grid * block]


def test_an_endless_loop_ends_at_the_instruction_limit(machine: Machine) -> None:
    machine.limit(warp_instructions=100_000)
    with pytest.raises(CudaError):
        run(machine, entry("LOOP: bra LOOP;"), np.zeros(64, np.uint32), 64)
    assert machine.runtime.take_report().limit == "instructions"


def test_traps(machine: Machine) -> None:
    with pytest.raises(CudaError, match="trap"):
        run(machine, entry("setp.eq.u32 %p, %x, 40; @%p trap; ret;"), np.arange(64, dtype=np.uint32), 64)


def count(machine: Machine, text: str, values: np.ndarray, block: int) -> int:
    machine.runtime.take_report()
    run(machine, text, values, block)
    return machine.runtime.take_report().warp_instructions


def test_instructions_are_counted_by_warp_and_the_same_each_time(machine: Machine) -> None:
    straight = entry("add.u32 %x, %x, 1; st.global.u32 [%at], %x; ret;")
    assert count(machine, straight, np.zeros(96, np.uint32), 96) == 3 * 8
    values = np.random.default_rng(2).integers(1, 999, 128).astype(np.uint32)
    assert count(machine, COLLATZ, values, 64) == count(machine, COLLATZ, values, 64)


def test_both_sides_of_a_divergent_branch_are_counted(machine: Machine) -> None:
    text = entry("""
        setp.lt.u32 %p, %x, 16; @%p bra LOW; add.u32 %x, %x, 1; bra OUT;
        LOW: add.u32 %x, %x, 2; OUT: st.global.u32 [%at], %x; ret;
    """)
    apart = count(machine, text, np.arange(32, dtype=np.uint32), 32)
    together = count(machine, text, np.zeros(32, np.uint32), 32)
    assert apart == together + 2


def test_wrapping_indices_are_not_taken_for_consecutive_ones(machine: Machine) -> None:
    """Widens tid + x after it wraps in 32 bits in the middle of a warp."""
    text = entry("""
        mov.u32 %t, %tid.x; ld.global.u32 %n, [%at+0]; mov.u32 %n, 4294967280; sub.u32 %n, %n, %ctaid.x;
        add.u32 %n, %n, %t; mul.wide.u32 %offset, %n, 1; cvt.u32.u64 %c, %offset; shr.u64 %offset, %offset, 32;
        cvt.u32.u64 %y, %offset; mad.lo.u32 %c, %y, 1000, %c; st.global.u32 [%at], %c; ret;
    """)
    got = run(machine, text, np.zeros(64, np.uint32), 32)
    expected = [(4294967280 - block + lane) % 2**32 for block in range(2) for lane in range(32)]
    assert list(got) == expected
    signed = text.replace("mul.wide.u32", "mul.wide.s32").replace("4294967280", "2147483632")
    got = run(machine, signed, np.zeros(64, np.uint32), 32)
    for lane, value in enumerate(got.tolist()):
        number = (2147483632 - lane // 32 + lane % 32) % 2**32
        upper = 0xFFFFFFFF if number >= 2**31 else 0
        assert value == (upper * 1000 + number) % 2**32, lane


def test_a_copy_of_a_register_that_changes_later_is_no_constant(machine: Machine) -> None:
    """A value that is 1 in the first round only must not be taken for 1 in the others."""
    text = """
    .visible .entry k(.param .u64 out) {
        .reg .u64 %at, %offset; .reg .u32 %i, %n, %round, %copy, %total, %c; .reg .pred %p;
        mov.u32 %i, %tid.x; mul.wide.u32 %offset, %i, 4; ld.param.u64 %at, [out]; add.u64 %at, %at, %offset;
        ld.global.u32 %total, [%at]; mov.u32 %round, 1;
        AGAIN: mov.u32 %copy, %round; add.u32 %n, %i, 1; mul.lo.u32 %n, %n, %copy; mov.u32 %c, 0;
        STEP: setp.ge.u32 %p, %c, %n; @%p bra NEXT; add.u32 %total, %total, 1; add.u32 %c, %c, 1; bra STEP;
        NEXT: add.u32 %round, %copy, 1; setp.lt.u32 %p, %round, 4; @%p bra AGAIN;
        st.global.u32 [%at], %total; ret;
    }"""
    out = np.zeros(64, np.uint32)
    machine.run(text, "k", 1, 64, out)
    assert list(out) == [6 * (i + 1) for i in range(64)]


def test_warps_read_a_flag_before_one_of_them_sets_it_for_the_next_round(machine: Machine) -> None:
    """Nothing but hardware's order of warps keeps thread 0's store behind the others' loads."""
    text = entry(
        """
        ld.global.u32 %n, [%at]; mov.u32 %c, 0; mov.u32 %one, 1; mov.u32 %t, 0; setp.eq.u32 %p, %tid.x, 0;
        LOOP: @%p st.shared.u32 [flag], %one; bar.sync 0;
        add.u32 %c, %c, 1; setp.lt.u32 %q, %c, %n; @%q st.shared.u32 [flag], %t; bar.sync 0;
        ld.shared.u32 %y, [flag]; setp.eq.u32 %q, %y, 0; @%q bra LOOP;
        st.global.u32 [%at], %c; ret;
        """,
        ".shared .align 4 .b8 flag[4];",
    )
    rounds = np.ones(128, np.uint32)
    rounds[100] = 5
    assert set(run(machine, text, rounds, 128)) == {5}


@pytest.mark.parametrize(
    ("behind", "touches"),
    [
        ("setp.lt.u32 %p, %c, 9; @%p bra LOOP; st.global.u32 [%at], %c; ret;", False),
        ("ld.param.u64 %at, [data]; setp.lt.u32 %p, %c, 9; @%p bra LOOP; ret;", False),
        ("bra LOOP;", False),
        ("bar.sync 0; ld.global.u32 %x, [%at]; bra LOOP;", False),
        ("ld.global.u32 %x, [%at]; st.global.u32 [%at], %c; ret;", False),
        ("ld.global.u32 %x, [%at]; setp.lt.u32 %p, %c, 9; @%p bra LOOP; ret;", True),
        ("setp.lt.u32 %p, %c, 9; @%p bra SKIP; st.global.u32 [%at], %c; SKIP: bra LOOP;", True),
        ("bar.arrive 1, 64; bra LOOP;", True),
        ("cp.async.wait_all; bra LOOP;", True),
        ("atom.global.add.u32 %x, [%at], 1; bra LOOP;", True),
    ],
)
def test_what_is_known_of_the_way_from_a_barrier_to_a_loop(behind: str, touches: bool) -> None:
    text = HEADER + entry(f"LOOP: add.u32 %c, %c, 1; bar.sync 0; {behind}")
    cfg = build_program(parse_module(text), "k").cfg
    first = next(block.index for block in cfg.blocks if is_barrier(block.instructions[-1]))
    assert touches_memory_first(cfg, first + 1) == touches
