"""Which loops end by an mbarrier alone."""

from __future__ import annotations

import pytest

from emulator.jit.waiting import waiting_blocks
from emulator.ptx.parser import parse_module
from emulator.ptx.program import build_program

_KERNEL = """.version 8.0
.target sm_90
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b32 %r<9>;
.reg .b64 %rd<9>;
.reg .pred %q<4>;
.shared .align 8 .b64 bar;
ld.param.u64 %rd1, [p];
mov.u32 %r1, 0;
mov.u32 %r2, bar;
BODY
st.global.u32 [%rd1], %r1;
ret;
}
"""
_TRY = "mbarrier.try_wait.parity.shared::cta.b64 %q1, [%r2], 0;"
_UNLESS_FOUND = "@%q2 bra B; @!%q1 bra A; B:"

WAITS = {
    "plain": f"A: {_TRY} @!%q1 bra A;",
    "as libraries write it": f"A: {_TRY} @%q1 bra B; bra A; B:",
    "sleeps": f"A: {_TRY} @%q1 bra B; nanosleep.u32 64; bra A; B:",
    "selects": f"A: {_TRY} selp.u32 %r3, 1, 0, %q1; setp.eq.u32 %q2, %r3, 0; @%q2 bra A;",
    "in a loop": f"P: xor.b32 %r1, %r1, 5; A: {_TRY} @!%q1 bra A; setp.lt.u32 %q2, %r1, 9; @%q2 bra P;",
}
MAY_GIVE_UP = {
    "counts": f"A: {_TRY} add.u32 %r1, %r1, 1; setp.gt.u32 %q2, %r1, 20000; {_UNLESS_FOUND}",
    "clock": f"A: {_TRY} mov.u64 %rd2, %clock64; setp.gt.u64 %q2, %rd2, %rd1; {_UNLESS_FOUND}",
    "flag": f"A: {_TRY} ld.volatile.global.u32 %r3, [%rd1]; setp.ne.u32 %q2, %r3, 0; {_UNLESS_FOUND}",
    "atomic": f"A: {_TRY} atom.global.add.u32 %r3, [%rd1], 1; @!%q1 bra A;",
    "may end before it looks": f"A: setp.eq.u32 %q2, %r1, 0; @%q2 bra B; {_TRY} @!%q1 bra A; B:",
    "begins where one that counts begins": (
        f"A: {_TRY} @!%q1 bra A; add.u32 %r1, %r1, 1; setp.lt.u32 %q2, %r1, 9; @%q2 bra A;"
    ),
    "no mbarrier": "A: add.u32 %r1, %r1, 1; setp.lt.u32 %q2, %r1, 9; @%q2 bra A;",
}


def _count(body: str) -> int:
    return len(waiting_blocks(build_program(parse_module(_KERNEL.replace("BODY", body)), "k")))


@pytest.mark.parametrize("body", WAITS.values(), ids=WAITS)
def test_loops_that_only_wait(body: str) -> None:
    assert _count(body) in (1, 2)


@pytest.mark.parametrize("body", MAY_GIVE_UP.values(), ids=MAY_GIVE_UP)
def test_loops_that_may_give_up(body: str) -> None:
    assert _count(body) == 0
