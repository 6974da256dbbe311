"""Shuffles, votes, matches and reductions: whole warps, part of a warp, and lanes that arrive apart."""

from __future__ import annotations

import numpy as np
import pytest

from tests.unit.emulator.jit.conftest import Machine

TEMPLATE = """
.visible .entry k(.param .u64 data, .param .u64 out) {{
    .reg .u64 %at, %to, %offset; .reg .u32 %i, %x, %y, %m, %l, %c; .reg .pred %p, %q; .reg .b64 %w;
    mov.u32 %i, %tid.x; mul.wide.u32 %offset, %i, 4;
    ld.param.u64 %at, [data]; add.u64 %at, %at, %offset; ld.param.u64 %to, [out]; add.u64 %to, %to, %offset;
    ld.global.u32 %x, [%at]; mov.u32 %y, 0;
    {body}
    OUT: st.global.u32 [%to], %y; ret;
}}
"""


def run(machine: Machine, body: str, values: np.ndarray) -> np.ndarray:
    out = np.zeros(len(values), np.uint32)
    machine.run(TEMPLATE.format(body=body), "k", 1, len(values), values.astype(np.uint32), out)
    return out


def source_lane(mode: str, lane: int, b: int, control: int) -> tuple[int, bool]:
    """As the PTX manual's pseudocode."""
    segment, clamp = control >> 8 & 31, control & 31
    most = (lane & segment) | (clamp & ~segment & 31)
    least = lane & segment
    b &= 31
    if mode == "up":
        source = lane - b
        inside = source >= most
    elif mode == "down":
        source = lane + b
        inside = source <= most
    elif mode == "bfly":
        source = lane ^ b
        inside = source <= most
    else:
        source = least | (b & ~segment & 31)
        inside = source <= most
    return (source if inside else lane), inside


CONTROLS = [
    ("up", 0),
    ("down", 31),
    ("bfly", 31),
    ("idx", 31),
    ("down", 31 | 24 << 8),
    ("up", 16 << 8),
    ("bfly", 31 | 28 << 8),
    ("idx", 31 | 24 << 8),
    ("idx", 7),
]


@pytest.mark.parametrize("constant", [True, False])
@pytest.mark.parametrize(("mode", "control"), CONTROLS)
def test_shuffles(machine: Machine, mode: str, control: int, constant: bool) -> None:
    values = np.random.default_rng(0).integers(0, 1 << 32, 32, dtype=np.uint32)
    for b in (0, 1, 5, 16, 31):
        lane = str(b) if constant else "%l"
        body = f"sub.u32 %l, %i, %i; add.u32 %l, %l, {b}; "
        body += f"shfl.sync.{mode}.b32 %y|%p, %x, {lane}, {control}, -1; @!%p not.b32 %y, %y;"
        got = run(machine, body, values)
        for index in range(32):
            source, inside = source_lane(mode, index, b, control)
            expected = int(values[source])
            assert got[index] == (expected if inside else expected ^ 0xFFFFFFFF), (b, index)


def test_shuffle_by_registers(machine: Machine) -> None:
    """A distance that is the same number wherever it is written, and one that is not."""
    values = np.arange(100, 132)
    always = run(
        machine, "mov.u32 %l, 4; mov.u32 %c, 31; mov.u32 %m, -1; shfl.sync.bfly.b32 %y, %x, %l, %c, %m;", values
    )
    assert list(always) == [100 + (lane ^ 4) for lane in range(32)]

    twice = "mov.u32 %l, 4; setp.ge.u32 %p, %x, 100; @%p mov.u32 %l, 2; shfl.sync.bfly.b32 %y, %x, %l, 31, -1;"
    assert list(run(machine, twice, values)) == [100 + (lane ^ 2) for lane in range(32)]


def test_a_shuffle_with_an_index_per_lane(machine: Machine) -> None:
    values = np.arange(100, 132, dtype=np.uint32)
    got = run(machine, "mul.lo.u32 %l, %i, 7; shfl.sync.idx.b32 %y, %x, %l, 31, -1;", values)
    assert list(got) == [100 + i * 7 % 32 for i in range(32)]


def test_votes(machine: Machine) -> None:
    values = np.arange(32, dtype=np.uint32)
    assert set(run(machine, "setp.lt.u32 %p, %x, 9; vote.sync.ballot.b32 %y, %p, -1;", values)) == {0x1FF}
    for mode, bound, expected in (
        ("any", 1, 1),
        ("any", 0, 0),
        ("all", 32, 1),
        ("all", 31, 0),
        ("uni", 32, 1),
        ("uni", 5, 0),
    ):
        body = f"setp.lt.u32 %p, %x, {bound}; vote.sync.{mode}.pred %q, %p, -1; selp.u32 %y, 1, 0, %q;"
        assert set(run(machine, body, values)) == {expected}, (mode, bound)


def test_votes_of_part_of_a_warp(machine: Machine) -> None:
    """Each quarter votes by itself, and a last warp has 20 lanes."""
    values = np.arange(52, dtype=np.uint32)
    body = "and.b32 %l, %i, 24; mov.u32 %m, 255; shl.b32 %m, %m, %l; setp.ne.u32 %p, %x, 11; "
    body += "vote.sync.all.pred %q, %p, %m; selp.u32 %y, 1, 0, %q;"
    assert list(run(machine, body, values)) == [0 if 8 <= i < 16 else 1 for i in range(52)]
    body = "setp.ge.u32 %p, %x, 40; vote.sync.ballot.b32 %y, %p, -1;"
    assert list(run(machine, body, values)) == [0] * 32 + [0xFFF00] * 20


def test_lanes_that_arrive_apart_meet(machine: Machine) -> None:
    """Odd lanes take a longer way to the same shuffle, which exchanges values between them and the even ones."""
    body = """
        and.b32 %l, %i, 1; setp.ne.u32 %p, %l, 0; @%p bra ODD;
        add.u32 %x, %x, 100; bra MEET;
        ODD: mov.u32 %c, 0; AGAIN: add.u32 %c, %c, 1; setp.lt.u32 %q, %c, %i; @%q bra AGAIN; add.u32 %x, %x, 200;
        MEET: shfl.sync.bfly.b32 %y, %x, 1, 31, -1;
    """
    got = run(machine, body, np.arange(32, dtype=np.uint32))
    assert list(got) == [(i ^ 1) + (100 if i & 1 else 200) for i in range(32)]


def test_two_halves_shuffle_in_different_places(machine: Machine) -> None:
    body = """
        setp.lt.u32 %p, %i, 16; @%p bra LOW;
        shfl.sync.bfly.b32 %y, %x, 2, 31, 0xffff0000; bra OUT;
        LOW: shfl.sync.bfly.b32 %y, %x, 1, 31, 0xffff;
    """
    got = run(machine, body, np.arange(32, dtype=np.uint32))
    assert list(got) == [i ^ 1 if i < 16 else i ^ 2 for i in range(32)]


def test_a_warp_barrier_orders_what_diverged(machine: Machine) -> None:
    body = """
        .shared .align 4 .b8 cell[4];
        setp.ne.u32 %p, %i, 31; @%p bra WAIT; st.shared.u32 [cell], %x;
        WAIT: bar.warp.sync -1; ld.shared.u32 %y, [cell];
    """
    assert set(run(machine, body, np.arange(7, 39, dtype=np.uint32))) == {38}


def test_active_mask(machine: Machine) -> None:
    assert set(run(machine, "activemask.b32 %y;", np.arange(32, dtype=np.uint32))) == {0xFFFFFFFF}
    got = run(machine, "setp.lt.u32 %p, %i, 5; @!%p bra OUT; activemask.b32 %y;", np.arange(32, dtype=np.uint32))
    assert list(got) == [31] * 5 + [0] * 27
    assert list(run(machine, "activemask.b32 %y;", np.arange(40, dtype=np.uint32)))[32:] == [255] * 8


def test_matches(machine: Machine) -> None:
    values = np.random.default_rng(1).integers(0, 5, 32).astype(np.uint32)
    got = run(machine, "match.any.sync.b32 %y, %x, -1;", values)
    assert list(got) == [sum(1 << k for k in range(32) if values[k] == v) for v in values]
    assert set(run(machine, "match.all.sync.b32 %y|%p, %x, -1; @!%p mov.u32 %y, 77;", values)) == {77}
    same = np.full(32, 3, np.uint32)
    assert set(run(machine, "match.all.sync.b32 %y|%p, %x, -1; @!%p mov.u32 %y, 77;", same)) == {0xFFFFFFFF}
    wide = run(machine, "mov.b64 %w, {%x, %x}; match.any.sync.b64 %y, %w, -1;", values)
    assert np.array_equal(wide, got)


@pytest.mark.parametrize("mask", ["-1", "%m"])
@pytest.mark.parametrize(
    "operation", ["add.u32", "add.s32", "min.u32", "min.s32", "max.u32", "max.s32", "and.b32", "or.b32", "xor.b32"]
)
def test_reductions(machine: Machine, operation: str, mask: str) -> None:
    values = np.random.default_rng(2).integers(0, 1 << 32, 32, dtype=np.uint32)
    body = f"and.b32 %l, %i, 16; mov.u32 %m, 65535; shl.b32 %m, %m, %l; redux.sync.{operation} %y, %x, {mask};"
    got = run(machine, body, values)
    name, kind = operation.split(".")
    typed = values.view(np.int32) if kind == "s32" else values
    function = {
        "add": np.add,
        "min": np.minimum,
        "max": np.maximum,
        "and": np.bitwise_and,
        "or": np.bitwise_or,
        "xor": np.bitwise_xor,
    }[name]
    groups = [typed] if mask == "-1" else [typed[:16], typed[16:]]
    expected = np.concatenate([np.repeat(function.reduce(g, dtype=g.dtype), len(g)) for g in groups])
    assert np.array_equal(got, expected.view(np.uint32))


def test_special_registers(machine: Machine) -> None:
    text = (
        """
    .visible .entry k(.param .u64 out) {
        .reg .u64 %at, %offset; .reg .u32 %r<20>;
        mov.u32 %r0, %tid.x; mov.u32 %r1, %tid.y; mov.u32 %r2, %tid.z;
        mov.u32 %r3, %ntid.x; mov.u32 %r4, %ntid.y; mov.u32 %r5, %ctaid.x; mov.u32 %r6, %ctaid.y;
        mov.u32 %r7, %nctaid.x;
        mov.u32 %r8, %laneid; mov.u32 %r9, %warpid; mov.u32 %r10, %lanemask_lt; mov.u32 %r11, %lanemask_ge;
        mov.u32 %r12, %ctaid.z;
        mad.lo.u32 %r13, %r2, %r4, %r1; mad.lo.u32 %r13, %r13, %r3, %r0;
        mad.lo.u32 %r14, %r12, 2, %r6; mad.lo.u32 %r14, %r14, %r7, %r5; mad.lo.u32 %r14, %r14, 60, %r13;
        ld.param.u64 %at, [out]; mul.wide.u32 %offset, %r14, 52; add.u64 %at, %at, %offset;
        """
        + "".join(f"st.global.u32 [%at+{4 * n}], %r{n};" for n in range(13))
        + " ret; }"
    )
    out = np.zeros((2, 2, 3, 3, 4, 5, 13), np.uint32)
    machine.run(text, "k", (3, 2, 2), (5, 4, 3), out)
    for z, y, x in np.ndindex(3, 4, 5):
        thread = (z * 4 + y) * 5 + x
        lane = thread % 32
        got = out[1, 1, 2, z, y, x].tolist()
        lanes = [(1 << lane) - 1, 0xFFFFFFFF & ~((1 << lane) - 1)]
        assert got == [x, y, z, 5, 4, 2, 1, 3, lane, thread // 32, *lanes, 1]


def test_multiprocessors_and_clocks(machine: Machine) -> None:
    """Blocks are spread over the multiprocessors; time goes on, and its halves are halves of it."""
    text = """
    .visible .entry k(.param .u64 out) {
        .reg .u64 %at, %offset, %t<3>; .reg .u32 %r<6>;
        mov.u32 %r0, %ctaid.x; mul.wide.u32 %offset, %r0, 32; ld.param.u64 %at, [out]; add.u64 %at, %at, %offset;
        mov.u32 %r1, %smid; mov.u32 %r2, %nsmid; mov.u64 %t0, %clock64; mov.u32 %r3, %clock_hi;
        mov.u64 %t1, %globaltimer; mov.u32 %r4, %globaltimer_hi; mov.u64 %t2, %globaltimer;
        st.global.v2.u32 [%at], {%r1, %r2}; sub.u64 %t2, %t2, %t1; st.global.u64 [%at+8], %t2;
        shr.u64 %t1, %t1, 32; cvt.u32.u64 %r5, %t1; sub.u32 %r5, %r5, %r4; st.global.v2.u32 [%at+16], {%r5, %r3}; ret;
    }"""
    out = np.zeros((300, 8), np.uint32)
    machine.run(text, "k", 300, 1, out)
    assert list(out[:, 0]) == [block % 132 for block in range(300)]
    assert set(out[:, 1]) == {132}
    assert out[:, 2:4].copy().view(np.uint64).max() < 10**10  # nanoseconds between two looks
    assert out[:, 4:6].max() == 0
