"""Shuffles, votes, matches and reductions: whole warps, part of a warp, and lanes that arrive apart."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import CudaError
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


#: Both branches of an ``if`` by lane: instructions for the lower and for the upper half, and what each lane gets.
_LOW, _HIGH = range(16), range(16, 32)
MEETINGS = {
    "shuffle": (
        "shfl.sync.bfly.b32 %y, %x, 16, 31, -1;",
        "add.u32 %x, %x, 1000; shfl.sync.bfly.b32 %y, %x, 16, 31, -1;",
        [1016 + i for i in _LOW] + [i - 16 for i in _HIGH],
    ),
    "shuffle by other lanes, with a predicate": (
        "shfl.sync.down.b32 %y|%q, %x, 15, 31, -1; @!%q mov.u32 %y, 99;",
        "mov.u32 %l, 9; shfl.sync.down.b32 %y|%q, %x, %l, 31, -1; @!%q mov.u32 %y, 99;",
        [i + 15 for i in _LOW] + [i + 9 if i < 23 else 99 for i in _HIGH],
    ),
    "several shuffles": (
        "shfl.sync.bfly.b32 %y, %x, 16, 31, -1; add.u32 %x, %x, %y; shfl.sync.bfly.b32 %y, %x, 1, 31, -1; "
        "add.u32 %x, %x, %y; shfl.sync.bfly.b32 %y, %x, 31, 31, -1; mad.lo.u32 %y, %y, 100, %x;",
        "shfl.sync.bfly.b32 %y, %x, 16, 31, -1; add.u32 %x, %x, %y; mul.lo.u32 %x, %x, 3; "
        "shfl.sync.bfly.b32 %y, %x, 1, 31, -1; add.u32 %x, %x, %y; shfl.sync.bfly.b32 %y, %x, 31, 31, -1;",
        [
            (lambda own, other: 3 * other * 100 + own)(4 * (i // 2 * 2) + 34, 4 * ((31 - i - 16) // 2 * 2) + 34)
            for i in _LOW
        ]
        + [4 * ((31 - i) // 2 * 2) + 34 for i in _HIGH],
    ),
    "votes": (
        "setp.gt.u32 %q, %x, 13; vote.sync.ballot.b32 %y, %q, -1;",
        "setp.lt.u32 %q, %x, 18; vote.sync.ballot.b32 %y, !%q, -1;",
        [0xFFFCC000] * 32,
    ),
    "a vote for a predicate": (
        "setp.gt.u32 %q, %x, 40; vote.sync.any.pred %q, %q, -1; selp.u32 %y, 1, 0, %q;",
        "setp.eq.u32 %q, %x, 20; vote.sync.any.pred %q, %q, -1; selp.u32 %y, 3, 2, %q;",
        [1] * 16 + [3] * 16,
    ),
    "matches": (
        "and.b32 %x, %x, 15; match.any.sync.b32 %y, %x, -1;",
        "and.b32 %x, %x, 15; match.any.sync.b32 %y, %x, -1;",
        [0x10001 << i % 16 for i in range(32)],
    ),
    "matches of 64 bits": (
        "mov.b64 %w, {%m, %m}; match.all.sync.b64 %y|%q, %w, -1; @!%q mov.u32 %y, 5;",
        "mov.b64 %w, {%m, %m}; match.all.sync.b64 %y|%q, %w, -1; @!%q mov.u32 %y, 6;",
        [0xFFFFFFFF] * 32,
    ),
    "reductions": (
        "redux.sync.add.u32 %y, %x, -1;",
        "mul.lo.u32 %x, %x, 2; redux.sync.add.u32 %y, %x, -1;",
        [120 + 2 * 376] * 32,
    ),
    "some lanes at neither": (
        "shfl.sync.bfly.b32 %y, %x, 16, 31, 0x00ff00ff;",
        "@%r bra OUT; shfl.sync.bfly.b32 %y, %x, 16, 31, 0x00ff00ff;",
        [i ^ 16 for i in range(8)] + [7] * 8 + [i ^ 16 for i in range(16, 24)] + [0] * 8,
    ),
    "a lane whose guard is false": (
        "@%r shfl.sync.bfly.b32 %y, %x, 16, 31, 0xff00ff00;",
        "@%r shfl.sync.bfly.b32 %y, %x, 16, 31, 0xff00ff00;",
        [i ^ 16 if i & 8 else 0 for i in range(32)],
    ),
    "barriers": (
        "st.shared.u32 [cell], %x; bar.warp.sync -1; ld.shared.u32 %y, [cell+4];",
        "st.shared.u32 [cell+4], %x; bar.warp.sync -1; ld.shared.u32 %y, [cell];",
        [31] * 16 + [15] * 16,
    ),
}


@pytest.mark.parametrize("what", MEETINGS)
def test_lanes_meet_in_both_branches(machine: Machine, what: str) -> None:
    """Whichever branch comes first, and also in a loop."""
    low, high, expected = MEETINGS[what]
    if what == "some lanes at neither":
        low = "@%r bra NOT; " + low + " bra OUT; NOT: mov.u32 %y, 7;"
    for first, second, condition in ((high, low, "lt"), (low, high, "ge")):
        body = f"""
            .reg .pred %r; .shared .align 8 .b8 cell[8];
            mov.u32 %m, 77; and.b32 %c, %i, 8; setp.ne.u32 %r, %c, 0; mov.u32 %c, 0;
            setp.{condition}.u32 %p, %i, 16; @%p bra SECOND;
            {first} bra OUT;
            SECOND: {second}
        """
        assert list(run(machine, body, np.arange(32, dtype=np.uint32))) == expected


def test_lanes_meet_round_by_round(machine: Machine) -> None:
    body = """
        setp.lt.u32 %p, %i, 16; mov.u32 %c, 0;
        AGAIN: @%p bra LOW;
        shfl.sync.idx.b32 %m, %x, %c, 31, -1; add.u32 %y, %y, %m; bra NEXT;
        LOW: add.u32 %l, %c, 16; shfl.sync.idx.b32 %m, %x, %l, 31, -1; add.u32 %y, %y, %m;
        NEXT: add.u32 %c, %c, 1; setp.lt.u32 %q, %c, 16; @%q bra AGAIN;
    """
    assert list(run(machine, body, np.arange(32, dtype=np.uint32))) == [376] * 16 + [120] * 16


def test_lanes_go_on_when_those_they_wait_for_have_ended(machine: Machine) -> None:
    body = """
        setp.lt.u32 %p, %i, 16; @%p bra LOW; st.global.u32 [%to], %i; ret;
        LOW: setp.lt.u32 %q, %x, 4; vote.sync.ballot.b32 %y, %q, -1;
    """
    assert list(run(machine, body, np.arange(32, dtype=np.uint32))) == [15] * 16 + list(_HIGH)


@pytest.mark.parametrize(
    ("low", "high"),
    [
        ("shfl.sync.up.b32 %y, %x, 1, 0, -1;", "shfl.sync.down.b32 %y, %x, 1, 31, -1;"),
        ("shfl.sync.up.b32 %y, %x, 1, 0, -1;", "vote.sync.ballot.b32 %y, %p, -1;"),
        ("vote.sync.any.pred %q, %p, -1;", "vote.sync.all.pred %q, %p, -1;"),
        ("bar.warp.sync -1;", "redux.sync.add.u32 %y, %x, -1;"),
        ("bar.sync 0;", "match.any.sync.b32 %y, %x, -1; bar.sync 0;"),
    ],
)
def test_lanes_that_wait_for_ever(machine: Machine, low: str, high: str) -> None:
    """As on an H100, which hangs."""
    body = f"setp.lt.u32 %p, %i, 16; @%p bra LOW; {high} bra OUT; LOW: {low}"

    with pytest.raises(CudaError, match="deadlock") as error:
        run(machine, body, np.arange(32, dtype=np.uint32))

    assert error.value.name == "cudaErrorLaunchTimeout"
    assert "for ever: its mask 0xffffffff names lanes that do not come" in error.value.message
    (finding,) = machine.runtime.take_report().findings
    assert finding.kind == "deadlock"


def test_reads_of_lanes_that_take_no_part_are_undefined(machine: Machine) -> None:
    """Large numbers, which another seed makes others; the first is reported."""
    body = "setp.ge.u32 %p, %i, 16; @%p bra OUT; shfl.sync.down.b32 %y, %x, 12, 31, 0xffff;"
    values = np.arange(32, dtype=np.uint32)
    seen = []
    for seed in (None, 1, 2, 2):
        machine.runtime.schedule(seed)
        got = run(machine, body, values)
        assert list(got[:4]) == [12, 13, 14, 15]
        assert list(got[16:]) == [0] * 16
        assert ((got[4:16] & 0x7F800000) >= 0x7E000000).all()
        seen.append(tuple(got))
        (finding,) = machine.runtime.take_report().findings
        assert (finding.kind, finding.thread, finding.count) == ("undefined shuffle", (4, 0, 0), 1)
        assert "lane 4 reads lane 16, which takes no part (which the mask 0x0000ffff does not name)" in finding.message
    machine.runtime.schedule(None)
    assert len(set(seen)) == 3
    assert seen[2] == seen[3]


def test_a_whole_warp_that_its_mask_does_not_name(machine: Machine) -> None:
    """All lanes are there, but those of the upper half take no part."""
    got = run(machine, "shfl.sync.down.b32 %y, %x, 12, 31, 0xffff;", np.arange(32, dtype=np.uint32))
    assert list(got[:4]) == [12, 13, 14, 15]
    assert ((got[4:16] & 0x7F800000) >= 0x7E000000).all()
    kinds = {finding.kind for finding in machine.runtime.take_report().findings}
    assert kinds == {"illegal warp-sync mask", "undefined shuffle"}


def test_halves_that_name_themselves(machine: Machine) -> None:
    """As tiles of 16 threads do."""
    body = """
        setp.lt.u32 %p, %i, 16; mov.u32 %y, 0xffff0000; @%p mov.u32 %y, 0xffff;
        shfl.sync.down.b32 %y, %x, 12, 0x101f, %y;
    """
    expected = [12, 13, 14, 15, *range(4, 16), 28, 29, 30, 31, *range(20, 32)]
    assert list(run(machine, body, np.arange(32, dtype=np.uint32))) == expected
    assert machine.runtime.take_report().findings == ()


def test_why_a_lane_takes_no_part(machine: Machine) -> None:
    run(machine, "setp.ge.u32 %p, %i, 16; @%p exit; shfl.sync.bfly.b32 %y, %x, 16, 31, -1;", np.arange(32))
    (finding,) = machine.runtime.take_report().findings
    assert "lane 0 reads lane 16, which takes no part (which has ended)" in finding.message
    run(machine, "shfl.sync.down.b32 %y, %x, 8, 31, -1;", np.arange(20))
    (finding,) = machine.runtime.take_report().findings
    assert "lane 12 reads lane 20, which takes no part (which the block does not have)" in finding.message


def test_reads_out_of_range_are_a_lanes_own(machine: Machine) -> None:
    """They are defined: nothing is reported."""
    body = "setp.ge.u32 %p, %i, 16; @%p bra OUT; shfl.sync.down.b32 %y, %x, 12, 0x101f, 0xffff;"
    assert list(run(machine, body, np.arange(32)))[:16] == [12, 13, 14, 15, *range(4, 16)]
    assert machine.runtime.take_report().findings == ()


def test_a_barrier_for_other_warps_lets_lanes_come(machine: Machine) -> None:
    """A barrier of 64 threads, of which 16 wait, is completed by arrivals of two other warps."""
    body = """
        setp.ge.u32 %p, %i, 32; @%p bra OTHER; setp.lt.u32 %p, %i, 16; @%p bra LOW;
        barrier.sync 1, 64; shfl.sync.bfly.b32 %y, %x, 16, 31, -1; bra OUT;
        LOW: shfl.sync.bfly.b32 %y, %x, 16, 31, -1; bra OUT;
        OTHER: setp.ge.u32 %p, %i, 80; @%p bra OUT; barrier.arrive 1, 64;
    """
    assert list(run(machine, body, np.arange(96, dtype=np.uint32)))[:32] == [i ^ 16 for i in range(32)]


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
