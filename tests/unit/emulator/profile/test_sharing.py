"""The share of one block, or one warp, in the whole; and that blocks share what they take from a counter."""

from __future__ import annotations

import numpy as np
import pytest

from emulator.model import load_gpu, modelled_time
from emulator.profile import LaunchProfile
from emulator.runtime.report import LaunchStats
from tests.unit.emulator.profile.conftest import FRAME_INSTRUCTIONS, Profiled

WORDS = np.zeros(4096, np.uint32)
BLOCKS = 64
PIECES = 16 * BLOCKS
# Piece number %r2 takes up to 7 x 64 rounds.
WORK = """
  rem.u32 %r3, %r2, 8;
  shl.b32 %r3, %r3, 6;
WORK:
  sub.s32 %r3, %r3, 1;
  setp.gt.s32 %p2, %r3, 0;
  @%p2 bra WORK;"""
QUEUE = f"""
  setp.eq.u32 %p1, %t, 0;
NEXT:
  @%p1 atom.global.add.u32 %r1, [%data], 1;
  shfl.sync.idx.b32 %r2, %r1, 0, 31, -1;
  setp.ge.u32 %p2, %r2, {PIECES};
  @%p2 bra DONE;
  {WORK}
  bra NEXT;
DONE:"""
# Block 0 does it all, and the others end at once.
ALONE = f"""
  mov.u32 %r2, %ctaid.x;
  setp.ne.u32 %p1, %r2, 0;
  @%p1 bra DONE;
NEXT:
  {{atomic}}
  {WORK}
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p2, %r2, {PIECES};
  @%p2 bra NEXT;
DONE:"""
TAKE = "atom.global.add.u32 %r4, [%data], 1;\n st.global.u32 [%a + 4096], %r4;"


def latency(profile: LaunchProfile, blocks: int) -> float:
    stats = LaunchStats("kernel", (blocks, 1, 1), (32, 1, 1), profile.totals.total_warp_instructions, 0.0, profile)
    return modelled_time(stats, load_gpu("h200")).parts["latency"]


def test_blocks_share_what_they_take_from_a_counter(profiled: Profiled) -> None:
    profile = profiled(QUEUE, WORDS, grid=BLOCKS)

    mean = profile.totals.total_warp_instructions / BLOCKS
    longest_piece = 7 * 64 * 3
    assert profile.busiest_block.total_warp_instructions < mean + 2 * longest_piece
    assert profile.busiest_block.dependent_steps < 2 * profile.totals.dependent_steps / BLOCKS


def test_a_counter_makes_the_work_of_one_block_no_shorter(profiled: Profiled) -> None:
    plain, with_counter = (profiled(ALONE.format(atomic=atomic), WORDS, grid=BLOCKS) for atomic in ("", TAKE))

    assert with_counter.hottest_atomic_turns >= PIECES
    assert latency(with_counter, BLOCKS) > latency(plain, BLOCKS)
    assert latency(plain, BLOCKS) > 10 * latency(profiled(QUEUE, WORDS, grid=BLOCKS), BLOCKS)


def test_how_many_blocks_do_most_of_it(profiled: Profiled) -> None:
    work = f"""
  mov.u32 %r2, %ctaid.x;
  setp.gt.u32 %p1, %r2, 2;
  @%p1 bra DONE;
  add.u32 %r2, %r2, 5;
  {WORK}
DONE:"""

    assert profiled(work, WORDS, grid=BLOCKS).busy_blocks == 3
    assert profiled("", WORDS, grid=BLOCKS).busy_blocks == BLOCKS


def test_of_each_figure_the_most_that_a_block_and_a_warp_have(profiled: Profiled) -> None:
    body = """
  mov.u32 %r1, %ctaid.x;
  setp.ne.u32 %p1, %r1, 1;
  @%p1 bra OUT;
  ld.global.u32 %r2, [%a];
  bar.sync 0;
  setp.ge.u32 %p1, %t, 32;
  @%p1 bra OUT;
  ld.global.u32 %r2, [%a + 512];
  bar.warp.sync -1;
OUT:"""

    profile = profiled(body, WORDS, block=128, grid=3)

    assert profile.busiest_block.global_loads == profile.totals.global_loads == 5
    assert profile.busiest_block.l2_sectors == 20
    assert profile.busiest_warp.global_loads == 2
    assert profile.critical_warp_barriers == 1
    of_warp = profile.busiest_warp.total_warp_instructions
    assert of_warp == profile.critical_warp_instructions == FRAME_INSTRUCTIONS + 9


# A basic block of its own, which ends with a branch: two steps.
APART = "bra APART;\nAPART:\n{body}\nbra BEHIND;\nBEHIND:"


@pytest.mark.parametrize(
    ("body", "steps"),
    [
        ("add.u32 %r1, %t, 1;\n add.u32 %r1, %r1, 1;\n add.u32 %r1, %r1, 1;", 3),
        ("add.u32 %r1, %t, 1;\n add.u32 %r2, %t, 1;\n add.u32 %r3, %t, 1;", 2),
        ("add.u32 %r1, %t, 1;\n ld.shared.u32 %r2, [%w];\n add.u32 %r3, %r2, %r1;\n add.u32 %r3, %r3, 1;", 7),
        # Through shared memory: an addition, a load, an addition.
        ("add.u32 %r1, %t, 1;\n st.shared.u32 [%w], %r1;\n ld.shared.u32 %r2, [%w];\n add.u32 %r3, %r2, 1;", 7),
        ("ex2.approx.f32 %f1, %f1;\n ex2.approx.f32 %f2, %f2;\n ex2.approx.f32 %f1, %f1;", 10),
        ("div.u32 %r1, %t, %t;", 28),
        ("setp.eq.u32 %p1, %t, 0;\n add.u32 %r1, %t, 1;\n @%p1 add.u32 %r1, %r1, 1;\n @%p1 add.u32 %r1, %r1, 1;", 3),
    ],
)
def test_steps_that_need_the_one_before(profiled: Profiled, body: str, steps: int) -> None:
    nothing, something = (profiled(APART.format(body=text), WORDS).totals for text in ("", body))

    assert something.dependent_steps - nothing.dependent_steps == steps - 2
    assert something.dependent_steps == profiled(APART.format(body=body), WORDS).busiest_warp.dependent_steps


WALK = "ld.global{how}.u32 %r1, [%a];\n mul.wide.u32 %rd1, %r1, 4;\n add.u64 %rd1, %data, %rd1;\n"


@pytest.mark.parametrize(
    ("body", "loads"),
    [
        ("ld.global.u32 %r1, [%a];\n ld.global.u32 %r2, [%a + 4];\n ld.global.u32 %r3, [%a + 8];", 1),
        (WALK.format(how="") + "ld.global.u32 %r2, [%rd1];", 2),
        (WALK.format(how="") + "atom.global.add.u32 %r2, [%rd1], 1;\n st.global.u32 [%a + 4096], %r2;", 2),
        # A load after a store that waits for one, where both may meet.
        ("ld.global.u32 %r1, [%a];\n st.global.u32 [%a + 4], %r1;\n ld.global.u32 %r2, [%a + 8];", 2),
        ("ld.global.u32 %r1, [%a];\n st.global.u32 [%a + 4], %r1;\n ld.global.nc.u32 %r2, [%a + 8];", 1),
        ("ld.global.u32 %r1, [%a];\n st.shared.u32 [%w], %r1;\n ld.global.u32 %r2, [%a + 8];", 1),
        ("ld.global.u32 %r1, [%a];\n st.shared.u32 [%w], %r1;\n ld.u32 %r2, [%a + 8];", 2),
        ("ld.shared.u32 %r1, [%w];\n ld.shared.u32 %r2, [%w + 4];", 0),
    ],
)
def test_loads_that_need_the_one_before(profiled: Profiled, body: str, loads: int) -> None:
    assert profiled(APART.format(body=body), np.zeros_like(WORDS)).totals.dependent_loads == loads
