"""Rounds of a loop in which a warp only looks whether others have got on do not count; work does."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from emulator import Limits, Runtime
from emulator.profile import LaunchProfile
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.profile.conftest import FRAME, Profiled

FLAGS = 1024

# Block 0 waits until block 1, which does something else first, has set the flags.
WAITING = """
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra SET;
  {wait}
  bra END;
SET:
  mov.u32 %r2, 4000000;
LOOP:
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra LOOP;
  {set}
END:"""

SET_ALL = "st.volatile.global.u32 [%a], 1;"

WAITS = {
    "one block": """
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;""",
    "several blocks": """
WAIT:
  ld.acquire.gpu.global.u32 %r3, [%data];
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra OUT;
  nanosleep.u32 100;
  bra WAIT;
OUT:""",
    "a flag for each lane, and a vote": """
WAIT:
  ld.volatile.global.u32 %r3, [%a];
  setp.eq.u32 %p1, %r3, 0;
  vote.sync.any.pred %p2, %p1, -1;
  @%p2 bra WAIT;""",
    "two flags in turn": """
WAIT:
  ld.relaxed.gpu.global.u32 %r3, [%data];
FIRST:
  ld.volatile.global.u32 %r4, [%data + 4];
  and.b32 %r3, %r3, %r4;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;""",
    "loops in the loop": """
WAIT:
  mov.u32 %r5, 0;
INNER:
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, 5;
  @%p1 bra INNER;
  ld.volatile.global.u32 %r3, [%data];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;""",
    "a limit that is a register": """
  mov.u32 %r5, 0;
  mad.lo.u32 %r7, %t, 0, 100000000;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra OUT;
  add.u32 %r5, %r5, 1;
  setp.lt.u32 %p1, %r5, %r7;
  @%p1 bra WAIT;
OUT:""",
    "rounds that are counted from a register": """
  mov.u32 %r6, 0;
  mov.u32 %r5, %r6;
  st.global.u32 [%a + 2048], %r6;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  add.u32 %r5, %r5, 1;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
  setp.eq.u32 %p1, %r5, -1;
  @%p1 trap;""",
    "a limit": """
  mov.u32 %r5, 0;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra OUT;
  add.u32 %r6, %r5, 1;
  setp.gt.u32 %p1, %r6, 100000000;
  mov.u32 %r5, %r6;
  @!%p1 bra WAIT;
OUT:""",
    "one lane": """
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra OUT;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
OUT:
  bar.warp.sync -1;""",
    "an addition of nothing": """
WAIT:
  atom.global.add.u32 %r3, [%data], 0;
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;""",
    "a lock that is taken": """
WAIT:
  atom.global.cas.b32 %r3, [%a], 1, 1;
  setp.ne.u32 %p1, %r3, 1;
  @%p1 bra WAIT;""",
    "a lock, as nvcc writes it": """
WAIT:
  mov.u32 %r5, 1;
  mov.u32 %r6, 1;
  atom.global.cas.b32 %r3, [%a], %r5, %r6;
  setp.ne.u32 %p1, %r3, 1;
  @%p1 bra WAIT;""",
}


def profile_of(machine: Machine, body: str, flags: int, threads: int = 1) -> LaunchProfile:
    machine.runtime = Runtime(library=machine.path, threads=threads, profile=True, limits=Limits(wall_s=20))
    machine.run(FRAME.format(body=body), "kernel", 2, 32, np.full(FLAGS, flags, np.uint32))
    (launch,) = machine.runtime.take_report().launches
    assert launch.profile is not None
    assert launch.profile.polls == 0 or launch.profile.totals.total_warp_instructions < launch.warp_instructions
    return launch.profile


@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS.keys())
def test_waiting_costs_one_look(machine: Machine, wait: str) -> None:
    body = WAITING.format(wait=wait, set=SET_ALL)

    waited, at_once = (profile_of(machine, body, flags) for flags in (0, 1))

    assert waited.polls > 100
    assert at_once.polls == 0
    assert replace(waited, polls=0) == at_once


def test_waiting_for_a_phase_of_an_mbarrier(machine: Machine) -> None:
    body = """
  mbarrier.init.shared.b64 [%w], 33;
  mbarrier.arrive.shared.b64 %rd1, [%w];
  mov.u32 %r5, 0;
WAIT:
  mbarrier.test_wait.parity.shared.b64 %p1, [%w], 0;
  add.u32 %r5, %r5, 1;
  setp.gt.u32 %p2, %r5, 1000;
  @%p2 bra OUT;
  @!%p1 bra WAIT;
OUT:"""

    profile = profile_of(machine, body, 0)

    assert profile.polls == 2 * 1000
    assert profile.critical_warp_instructions < 20


# A loop of a hundred rounds, by a counter of which nothing else is made; no addition leaves %f1 as it is.
WORKING = """
  mov.u32 %r1, 0;
  mov.u32 %r2, 1;
  mov.f32 %f1, 0f3F800000;
  mov.u64 %rd1, %a;
WORK:
  {work}
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 100;
  @%p1 bra WORK;
  st.global.u32 [%a + 8192], %r2;
  st.global.f32 [%a + 16384], %f1;"""

LOOK = "ld.volatile.global.u32 %r3, [%data];"

WORK = {
    "arithmetic": f"add.f32 %f1, %f1, %f1;\n {LOOK}",
    "arithmetic behind an atomic": "add.f32 %f1, %f1, %f1;\n atom.global.add.u32 %r3, [%data], 0;",
    "arithmetic behind an acquire": "add.f32 %f1, %f1, %f1;\n ld.acquire.gpu.global.u32 %r3, [%data];",
    "arithmetic behind a lock": "add.f32 %f1, %f1, %f1;\n atom.global.cas.b32 %r3, [%data], 5, 5;",
    "arithmetic in another block": f"add.f32 %f1, %f1, %f1;\nNEXT:\n {LOOK}\nLAST:",
    "an exit that is never taken": f"add.f32 %f1, %f1, %f1;\n {LOOK}\n setp.eq.u32 %p2, %r3, 7;\n @%p2 bra OUT;\nOUT:",
    "shuffles": f"shfl.sync.down.b32 %r4, %r2, 1, 31, -1;\n add.u32 %r2, %r4, 3;\n {LOOK}",
    "other addresses": f"ld.global.u32 %r4, [%rd1];\n add.u64 %rd1, %rd1, 4;\n {LOOK}",
    "a sum of what is looked at": f"{LOOK}\n add.u32 %r2, %r2, %r1;",
    "a count of some rounds": f"{LOOK}\n and.b32 %r4, %r1, 1;\n setp.eq.u32 %p2, %r4, 0;\n @%p2 add.u32 %r2, %r2, 1;",
    "a store of the same value": f"{LOOK}\n st.shared.u32 [%s], 5;",
    "a store to local memory": f"{LOOK}\n st.local.u32 [own], 5;",
    "an atomic": f"{LOOK}\n red.global.add.u32 [%a + 4096], 1;",
    "an atomic back and forth": f"{LOOK}\n red.shared.add.u32 [%s], 1;\n red.shared.add.u32 [%s], -1;",
    "a barrier": f"{LOOK}\n bar.sync 0;",
    "divergence": f"setp.lt.u32 %p2, %t, 9;\n @%p2 bra SKIP;\n add.f32 %f1, %f1, %f1;\nSKIP:\n {LOOK}",
    "matrices": "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%f1,%f2,%f3,%f4}, {%r2,%r2,%r2,%r2}, {%r2,%r2}, "
    "{%f1,%f2,%f3,%f4};\n add.f32 %f1, %f1, %f1;\n" + LOOK,
}


@pytest.mark.parametrize("work", WORK.values(), ids=WORK.keys())
def test_work_counts_whatever_is_looked_at(profiled: Profiled, work: str) -> None:
    body = ".local .align 4 .b8 own[4];\n mov.f32 %f2, %f1;\n" + WORKING.format(work=work)

    profile = profiled(body, np.zeros(1 << 14, np.uint32))  # which also sees that no instruction is missing

    assert profile.polls == 0
    assert profile.totals.total_warp_instructions > 100 * (3 + work.count(";"))


def test_waiting_for_time_to_pass_counts(profiled: Profiled) -> None:
    body = f"""
  mov.u32 %r1, 0;
WAIT:
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 500;
  @%p1 bra WAIT;
  {LOOK}
  setp.ne.u32 %p1, %r3, 0;
  @%p1 bra WAIT;"""

    assert profiled(body, np.zeros(FLAGS, np.uint32)).polls == 0


# One block has a number from a counter first, and works; all others wait for it.
ONE_WORKS = """
  setp.ne.u32 %p1, %t, 0;
  @%p1 bra END;
  atom.global.add.u32 %r1, [%data + 4], 1;
  setp.ne.u32 %p1, %r1, 0;
  @%p1 bra WAIT;
  mov.u32 %r2, 20000;
WORK:
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra WORK;
  st.volatile.global.u32 [%data], 1;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
END:"""
# Two blocks, a lane each, by turns.
BY_TURNS = """
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %t, 0;
  mov.u32 %r2, 300;
  @%p1 bra END;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  and.b32 %r4, %r3, 1;
  setp.ne.u32 %p1, %r4, %r1;
  @%p1 bra WAIT;
  add.u32 %r3, %r3, 1;
  st.volatile.global.u32 [%data], %r3;
  sub.u32 %r2, %r2, 1;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra WAIT;
END:"""
# Lane by lane, first one of this warp and then one of that.
LANE_BY_LANE = """
  shr.u32 %r1, %t, 5;
  and.b32 %r2, %t, 31;
  shl.b32 %r2, %r2, 1;
  add.u32 %r2, %r2, %r1;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.ne.u32 %p1, %r3, %r2;
  @%p1 bra WAIT;
  add.u32 %r3, %r3, 1;
  st.volatile.global.u32 [%data], %r3;"""


@pytest.mark.parametrize(
    ("body", "blocks", "block"),
    [
        pytest.param(ONE_WORKS, 500, 32, id="one works"),
        pytest.param(BY_TURNS, 2, 32, id="by turns"),
        pytest.param(LANE_BY_LANE, 1, 64, id="lane by lane"),
    ],
)
def test_those_that_wait_do_not_do_so_for_long_at_a_time(machine: Machine, body: str, blocks: int, block: int) -> None:
    machine.runtime = Runtime(library=machine.path, threads=1, profile=True, limits=Limits(wall_s=20))

    machine.run(FRAME.format(body=body), "kernel", blocks, block, np.zeros(FLAGS, np.uint32))

    (launch,) = machine.runtime.take_report().launches
    assert launch.profile is not None
    assert launch.warp_instructions < 12 * launch.profile.totals.total_warp_instructions


# Single-pass sums: each block's warp looks back at 32 others at a time, which show a sum of theirs first, of all later.
LOOK_BACK = """
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r9, 0;
  mad.wide.u32 %rd2, %r1, 4, %data;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra SHOW;
  st.volatile.global.u32 [%rd2], 0x10001;
  sub.u32 %r2, %r1, %t;
BACK:
  mov.u32 %r3, 0x20000;
  setp.lt.s32 %p1, %r2, 1;
  mad.wide.s32 %rd1, %r2, 4, %data;
WAIT:
  @!%p1 ld.volatile.global.u32 %r3, [%rd1 + -4];
  setp.eq.u32 %p2, %r3, 0;
  vote.sync.any.pred %p2, %p2, -1;
  @%p2 bra WAIT;
  and.b32 %r4, %r3, 0xffff;
  shr.u32 %r5, %r3, 16;
  setp.eq.u32 %p2, %r5, 2;
  vote.sync.ballot.b32 %r6, %p2, -1;
  brev.b32 %r7, %r6;
  clz.b32 %r7, %r7;
  setp.gt.u32 %p3, %t, %r7;
  @%p3 mov.u32 %r4, 0;
  redux.sync.add.s32 %r4, %r4, -1;
  add.u32 %r9, %r9, %r4;
  sub.u32 %r2, %r2, 32;
  setp.eq.u32 %p1, %r6, 0;
  @%p1 bra BACK;
SHOW:
  add.u32 %r9, %r9, 0x20001;
  st.volatile.global.u32 [%rd2], %r9;"""


@pytest.mark.parametrize("threads", [1, 3])
def test_looking_back_costs_little(machine: Machine, threads: int) -> None:
    blocks = 512
    machine.runtime = Runtime(library=machine.path, threads=threads, profile=True, limits=Limits(wall_s=20))
    data = np.zeros(FLAGS, np.uint32)

    machine.run(FRAME.format(body=LOOK_BACK), "kernel", blocks, 32, data)

    assert list(data[:blocks]) == [0x20000 + n + 1 for n in range(blocks)]
    profile = machine.runtime.take_report().launches[0].profile
    assert profile is not None
    # How far it looks back is chance, how long it waits there is not to be seen; but a round that finds another block
    # further than the one before is a new one.
    of_look, of_round, looks = 16, 4, 1 + blocks / 32
    assert profile.totals.total_warp_instructions < blocks * (25 + of_look * looks)
    assert profile.critical_warp_instructions < 25 + (of_look + 31 * of_round) * looks
