"""Checks each counter of a profile, with kernels whose counters can be worked out by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from emulator import Limits, Runtime
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.profile.conftest import FRAME, FRAME_INSTRUCTIONS, Profiled

WORDS = np.zeros(1 << 14, np.uint32)


@pytest.mark.parametrize(
    ("where", "sectors", "ideal"),
    [
        ("[%a]", 4, 4),
        ("[%a + 4]", 5, 4),  # begins inside a sector
        ("[%a + 128]", 4, 4),
        ("[%data]", 1, 1),  # one word for all
    ],
)
def test_sectors_of_a_load(profiled: Profiled, where: str, sectors: int, ideal: int) -> None:
    totals = profiled(f"ld.global.u32 %r1, {where};", WORDS).totals

    assert (totals.global_requests, totals.global_sectors, totals.global_sectors_ideal) == (1, sectors, ideal)
    assert (totals.l1_hit_sectors, totals.l2_sectors) == (0, sectors)


@pytest.mark.parametrize(("stride", "sectors"), [(4, 4), (8, 8), (12, 12), (32, 32), (128, 32)])
def test_sectors_of_strided_stores(profiled: Profiled, stride: int, sectors: int) -> None:
    body = f"mad.wide.u32 %rd1, %t, {stride}, %data;\n st.global.u32 [%rd1], %t;"

    profile = profiled(body, WORDS)

    assert (profile.totals.global_sectors, profile.totals.global_sectors_ideal) == (sectors, 4)
    assert profile.dram_write_bytes == 32 * sectors
    assert profile.dram_read_bytes == 0


def test_sectors_of_vectors(profiled: Profiled) -> None:
    body = "mad.wide.u32 %rd1, %t, 16, %data;\n ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1];"

    totals = profiled(body, WORDS).totals

    assert (totals.global_requests, totals.global_sectors, totals.global_sectors_ideal) == (1, 16, 16)


def test_only_active_lanes_ask(profiled: Profiled) -> None:
    totals = profiled("setp.lt.u32 %p1, %t, 8;\n @%p1 ld.global.u32 %r1, [%a];", WORDS).totals

    assert (totals.global_requests, totals.global_sectors, totals.global_sectors_ideal) == (1, 1, 1)
    assert totals.global_load_lanes == 8


@pytest.mark.parametrize(
    ("body", "turns"),
    [
        ("ld.const.u32 %r1, [table + 8];", 0),  # one for all comes with the instruction
        ("mov.u64 %rd1, table;\n ld.const.u32 %r1, [%rd1 + 4];", 0),
        ("mad.wide.u32 %rd1, %t, 4, table;\n ld.const.u32 %r1, [%rd1];", 31),
        ("and.b32 %r1, %t, 3;\n mad.wide.u32 %rd1, %r1, 4, table;\n ld.const.u32 %r1, [%rd1];", 3),
        ("setp.lt.u32 %p1, %t, 8;\n mad.wide.u32 %rd1, %t, 4, table;\n @%p1 ld.const.u32 %r1, [%rd1];", 7),
        ("and.b32 %r1, %t, 1;\n mad.wide.u32 %rd1, %r1, 4, data;\n ld.param.u32 %r1, [%rd1];", 1),
    ],
)
def test_constants_come_one_address_at_a_time(profiled: Profiled, body: str, turns: int) -> None:
    totals = profiled(body, WORDS).totals

    assert (totals.shared_wavefronts, totals.shared_wavefronts_ideal) == (turns, turns)
    assert totals.global_requests == 0


@pytest.mark.parametrize("stride", [1, 2, 3, 4, 8, 16, 32, 33])
def test_bank_conflicts(profiled: Profiled, stride: int) -> None:
    totals = profiled(f"mad.lo.u32 %r1, %t, {4 * stride}, %w;\n st.shared.u32 [%r1], %t;", WORDS).totals

    assert (totals.shared_wavefronts, totals.shared_wavefronts_ideal) == (math.gcd(stride, 32), 1)


@pytest.mark.parametrize(
    ("size", "stride", "wavefronts", "ideal"),
    [(2, 2, 1, 1), (8, 8, 2, 2), (8, 16, 4, 2), (8, 256, 32, 2), (16, 16, 4, 4), (16, 32, 8, 4), (16, 0, 4, 4)],
)
def test_wide_shared_accesses_go_in_parts(
    profiled: Profiled, size: int, stride: int, wavefronts: int, ideal: int
) -> None:
    load = {
        2: "ld.shared.u16 %h1, [%r1];",
        8: "ld.shared.v2.u32 {%r2, %r3}, [%r1];",
        16: "ld.shared.v4.u32 {%r2, %r3, %r4, %r5}, [%r1];",
    }[size]

    totals = profiled(f"mad.lo.u32 %r1, %t, {stride}, %w;\n {load}", WORDS).totals

    assert (totals.shared_wavefronts, totals.shared_wavefronts_ideal) == (wavefronts, ideal)


def test_generic_addresses_of_shared_memory(profiled: Profiled) -> None:
    body = "cvt.u64.u32 %rd1, %s;\n cvta.shared.u64 %rd2, %rd1;\n st.u32 [%rd2], %t;"

    totals = profiled(body, WORDS).totals

    assert (totals.global_requests, totals.shared_wavefronts) == (0, 1)


def test_asynchronous_copies_are_loads_and_stores(profiled: Profiled) -> None:
    body = """
  mad.wide.u32 %rd1, %t, 16, %data;
  mad.lo.u32 %r1, %t, 16, %w;
  cp.async.cg.shared.global [%r1], [%rd1], 16;
  cp.async.wait_all;"""

    totals = profiled(body, WORDS).totals

    assert (totals.global_sectors, totals.shared_wavefronts, totals.shared_wavefronts_ideal) == (16, 4, 4)


def test_divergence(profiled: Profiled) -> None:
    body = """
  setp.ge.u32 %p1, %t, 8;
  @%p1 bra JOIN;
  add.u32 %r1, %t, 1;
  add.u32 %r1, %r1, 1;
  add.u32 %r1, %r1, 1;
  add.u32 %r1, %r1, 1;
JOIN:"""

    profile = profiled(body, WORDS)

    together = FRAME_INSTRUCTIONS + 2
    assert profile.totals.total_warp_instructions == together + 4
    assert profile.totals.thread_instructions == 32 * together + 8 * 4
    assert profile.active_lane_ratio == pytest.approx((together + 4 * 8 / 32) / (together + 4))


def test_a_warp_that_is_not_full(profiled: Profiled) -> None:
    profile = profiled("", WORDS, block=40)

    assert profile.totals.thread_instructions == 40 * FRAME_INSTRUCTIONS
    assert profile.active_lane_ratio == 40 / 64


def test_classes_and_operations(profiled: Profiled) -> None:
    body = """
  cvt.rn.f32.u32 %f1, %t;
  fma.rn.f32 %f2, %f1, %f1, %f1;
  add.f32 %f3, %f1, %f2;
  max.f32 %f3, %f3, %f2;
  ex2.approx.f32 %f4, %f1;
  cvt.f64.f32 %d1, %f1;
  mul.f64 %d2, %d1, %d1;
  fma.rn.f16x2 %r1, %t, %t, %t;
  fma.rn.bf16x2 %r1, %t, %t, %t;
  shfl.sync.bfly.b32 %r2, %t, 1, 31, -1;
  bar.sync 0;
  and.b32 %r3, %t, 7;
  st.shared.u32 [%s], %r3;
  atom.global.add.u32 %r4, [%a], 1;"""

    profile = profiled(body, WORDS)

    assert profile.totals.warp_instructions == {
        **{"convert": 2, "fp32": 3, "special": 1, "fp64": 1, "fp16": 2, "warp": 1, "sync": 1, "shared": 1, "atomic": 1},
        **{"int": 3, "other": 3, "control": 1},
    }
    assert profile.totals.flops == {"fp32": 32 * 4, "fp64": 32, "fp16": 32 * 4, "bf16": 32 * 4}


@pytest.mark.parametrize(
    ("multiply", "kind", "count"),
    [
        (
            "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
            "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};",
            "tensor_f16",
            2 * 16 * 8 * 16,
        ),
        (
            "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
            "{%f1,%f2,%f3,%f4}, {%r1,%r2,%r3,%r4}, {%r5,%r6}, {%f1,%f2,%f3,%f4};",
            "tensor_tf32",
            2 * 16 * 8 * 8,
        ),
        (
            "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 "
            "{%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8}, {%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, "
            "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}, {%f1,%f2,%f3,%f4,%f5,%f6,%f7,%f8};",
            "tensor_f16",
            2 * 16 * 16 * 16,
        ),
    ],
)
def test_matrix_operations_are_a_warps(profiled: Profiled, multiply: str, kind: str, count: int) -> None:
    totals = profiled(multiply, WORDS, block=64).totals

    assert totals.flops == {kind: 2 * count}
    assert totals.warp_instructions["tensor"] == 2


def test_wmma_loads_ask_for_each_lanes_own_pieces(profiled: Profiled) -> None:
    registers = "{%r1,%r2,%r3,%r4,%r5,%r6,%r7,%r8}"
    body = f"wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {registers}, [%data], 16;"

    totals = profiled(body, WORDS).totals

    # Sixteen rows of 32 bytes; a register of each lane at a time: eight rows, half a row each.
    assert (totals.global_requests, totals.global_sectors) == (4, 4 * 8)
    assert totals.l2_sectors == 16


@pytest.mark.parametrize(("shift", "serialized"), [(0, 0), (1, 1), (4, 15), (5, 31)])
@pytest.mark.parametrize("space", ["global", "shared"])
def test_atomics_that_meet(profiled: Profiled, space: str, shift: int, serialized: int) -> None:
    base = "mad.wide.u32 %rd1, %r1, 4, %data;" if space == "global" else "mad.lo.u32 %r2, %r1, 4, %w;"
    place = "%rd1" if space == "global" else "%r2"

    totals = profiled(f"shr.u32 %r1, %t, {shift};\n {base}\n red.{space}.add.u32 [{place}], 1;", WORDS).totals

    assert (totals.atomics, totals.atomic_serialized) == (32, serialized)


@pytest.mark.parametrize(
    ("atomic", "integer", "float_"),
    [
        ("red.global.add.u32 [%data], 1;", 1, 0),  # combined
        ("red.global.add.u32 [%a], 1;", 8, 0),  # eight to a sector
        ("red.global.add.f32 [%data], %f1;", 0, 32),
        ("red.global.add.f32 [%a], %f1;", 0, 8),
    ],
)
def test_turns_at_the_hottest_sector(profiled: Profiled, atomic: str, integer: int, float_: int) -> None:
    profile = profiled(f"mov.f32 %f1, 0f3F800000;\n {atomic}", WORDS)

    assert (profile.hottest_atomic_turns, profile.hottest_float_atomic_turns) == (integer, float_)
    assert profile.totals.global_atomics == 32


@pytest.mark.parametrize(
    ("atomic", "turns", "increments", "rounds"),
    [
        ("red.shared.add.u32 [%w], 1;", 0, 32, 0),
        ("atom.shared.add.u32 %r1, [%w], 1;", 0, 32, 0),  # %r1 is not used
        ("atom.shared.add.u32 %r1, [%w], 1;\n st.global.u32 [%a], %r1;", 32, 0, 0),
        ("red.shared.add.u32 [%w], 2;", 32, 0, 0),
        ("red.shared.add.u32 [%w], %t;", 32, 0, 0),
        ("red.shared.add.f32 [%w], %f1;", 32, 0, 32),
        ("red.shared.add.f32 [%s], %f1;", 1, 0, 1),
        ("red.shared.add.u64 [%w], 1;", 32, 0, 32),
        ("atom.shared.exch.b64 %rd1, [%w], 1;", 32, 0, 0),
        ("red.shared.min.s32 [%w], %t;", 32, 0, 0),
    ],
)
def test_turns_in_shared_memory(profiled: Profiled, atomic: str, turns: int, increments: int, rounds: int) -> None:
    profile = profiled(f"mov.f32 %f1, 0f3F800000;\n {atomic}", WORDS)

    assert (profile.shared_atomic_turns, profile.shared_increment_turns) == (turns, increments)
    assert profile.totals.swap_rounds == rounds
    assert profile.totals.global_atomics == 0


@pytest.mark.parametrize(
    ("atomic", "of_global", "of_shared"),
    [
        ("atom.global.add.u32 %r1, [%data], 1;", 1, 0),
        ("atom.shared.add.u32 %r1, [%w], 1;", 0, 1),
        ("red.global.add.u32 [%data], 1;", 0, 0),
        ("atom.global.add.u32 %r2, [%data], 1;", 0, 0),
    ],
)
def test_atomics_whose_result_is_used(profiled: Profiled, atomic: str, of_global: int, of_shared: int) -> None:
    totals = profiled(f"mov.u32 %r1, 0;\n {atomic}\n st.global.u32 [%a], %r1;", WORDS).totals

    assert (totals.awaited_global_atomics, totals.awaited_shared_atomics) == (of_global, of_shared)


def test_loads_among_the_requests(profiled: Profiled) -> None:
    totals = profiled("ld.global.u32 %r1, [%a];\n st.global.u32 [%a], %r1;\n red.global.add.u32 [%a], 1;", WORDS).totals

    assert (totals.global_requests, totals.global_loads) == (3, 1)


@pytest.mark.parametrize(
    ("instruction", "kind"),
    [
        ("div.rn.f32 %f1, %f1, %f2;", "fp32_division"),
        ("sqrt.rn.f32 %f1, %f1;", "fp32_division"),
        ("rcp.rn.f32 %f1, %f1;", "fp32_division"),
        ("div.full.f32 %f1, %f1, %f2;", "special"),
        ("sqrt.approx.f32 %f1, %f1;", "special"),
        ("div.rn.f64 %d1, %d1, %d2;", "fp64_division"),
        ("rsqrt.approx.f64 %d1, %d1;", "fp64_division"),
        ("rcp.approx.ftz.f64 %d1, %d1;", "special"),
        ("div.u32 %r1, %r1, %t;", "int_division"),
        ("rem.s32 %r1, %r1, %t;", "int_division"),
        ("rem.u64 %rd1, %rd1, %rd2;", "long_division"),
        ("mul.lo.u64 %rd1, %rd1, %rd2;", "long_product"),
        ("mad.lo.s64 %rd1, %rd1, %rd2, %rd1;", "long_product"),
        ("popc.b32 %r1, %t;", "special"),
        ("brev.b32 %r1, %t;", "special"),
    ],
)
def test_what_is_no_plain_instruction_has_its_class(profiled: Profiled, instruction: str, kind: str) -> None:
    before = "mov.f32 %f1, 0f3F800000;\n mov.f32 %f2, %f1;\n mov.f64 %d1, 0d3FF0000000000000;\n mov.f64 %d2, %d1;\n"
    before += "mov.u32 %r1, 7;\n mov.u64 %rd1, 7;\n mov.u64 %rd2, 3;\n add.u32 %t, %t, 1;\n"

    assert profiled(before + instruction, WORDS).totals.warp_instructions[kind] == 1


def test_division_by_a_constant_is_arithmetic(profiled: Profiled) -> None:
    assert profiled("div.u32 %r1, %t, 10;", WORDS).totals.warp_instructions["int"] == 3


def test_matches_are_a_class_of_their_own(profiled: Profiled) -> None:
    totals = profiled("match.any.sync.b32 %r1, %t, 0xffffffff;", WORDS).totals

    assert totals.warp_instructions["match"] == 1


def test_barriers_and_the_longest_warp(profiled: Profiled) -> None:
    body = """
  bar.sync 0;
  setp.ge.u32 %p1, %t, 32;
  @%p1 bra OUT;
  add.u32 %r1, %t, 1;
  add.u32 %r1, %r1, 1;
OUT:
  bar.sync 0;"""

    profile = profiled(body, WORDS, block=128, grid=3)

    assert profile.barriers == 3 * 4 * 2
    assert profile.critical_warp_instructions == FRAME_INSTRUCTIONS + 6
    assert profile.busiest_block.total_warp_instructions == 4 * (FRAME_INSTRUCTIONS + 4) + 2
    assert profile.busy_blocks == 3


def test_shared_and_local_memory_taken(profiled: Profiled) -> None:
    profile = profiled("", WORDS, shared=256)

    assert (profile.static_shared_bytes, profile.dynamic_shared_bytes, profile.local_bytes) == (16384, 256, 0)


def test_lines(profiled: Profiled) -> None:
    body = """
  .loc 1 10 0
  ld.global.u32 %r1, [%a];
  .loc 1 11 0
  mad.wide.u32 %rd1, %t, 128, %data;
  st.global.u32 [%rd1], %r1;
  .loc 1 10 0
  add.u32 %r1, %r1, 1;"""

    profile = profiled(body, WORDS)

    lines = {line.line: line.counters for line in profile.lines}
    assert [line.line for line in profile.lines] == [11, 10, 1, 99]  # the worst first
    assert {line.file for line in profile.lines} == {"kernel.cu"}
    assert (lines[10].warp_instructions, lines[10].global_sectors) == ({"int": 1, "load": 1}, 4)
    assert (lines[11].warp_instructions, lines[11].global_sectors) == ({"int": 1, "store": 1}, 32)
    assert sum(c.thread_instructions for c in lines.values()) == profile.totals.thread_instructions


def test_the_worst_ten_lines(profiled: Profiled) -> None:
    body = "\n".join(f".loc 1 {100 + n} 0\n" + "add.u32 %r1, %t, 1;\n" * n for n in range(10, 24))

    lines = profiled(body, WORDS).lines

    assert [line.line for line in lines] == list(range(123, 113, -1))


def test_nothing_is_kept_of_launches_that_are_not_profiled(machine: Machine) -> None:
    machine.run(FRAME.format(body=""), "kernel", 1, 32, WORDS)

    (launch,) = machine.runtime.take_report().launches
    assert launch.profile is None


# Blocks of unequal length: those that begin later may end earlier.
UNEQUAL = """
  mov.u32 %r1, %ctaid.x;
  and.b32 %r2, %r1, 3;
  mul.lo.u32 %r2, %r2, 50;
  mad.wide.u32 %rd1, %r1, 2048, %a;
LOOP:
  ld.global.u32 %r3, [%rd1];
  add.u32 %r3, %r3, 1;
  st.global.u32 [%rd1 + 65536], %r3;
  red.global.add.u32 [%data], 1;
  add.u64 %rd1, %rd1, 512;
  setp.eq.u32 %p1, %r2, 0;
  sub.u32 %r2, %r2, 1;
  @!%p1 bra LOOP;"""


def test_figures_do_not_depend_on_threads(machine: Machine) -> None:
    kernel = machine.load(FRAME.format(body=UNEQUAL), "kernel")
    data = np.zeros(1 << 19, np.uint32)
    profiles = []
    for threads in (1, 4, 4):
        machine.runtime = Runtime(library=machine.path, threads=threads, profile=True)
        machine.launch(kernel, 64, 96, data)
        (launch,) = machine.runtime.take_report().launches
        profiles.append(launch.profile)

    assert profiles[0] is not None
    assert profiles[0].totals.l2_sectors > 0
    assert profiles[0] == profiles[1] == profiles[2]


# Each warp of block 0 loops for a while of its own, then waits for block 1.
WAITING = """
  mov.u32 %r1, %ctaid.x;
  setp.eq.u32 %p1, %r1, 1;
  @%p1 bra SET;
  shr.u32 %r2, %t, 5;
  mul.lo.u32 %r2, %r2, 97;
LOOP:
  setp.eq.u32 %p1, %r2, 0;
  sub.u32 %r2, %r2, 1;
  @!%p1 bra LOOP;
WAIT:
  ld.volatile.global.u32 %r3, [%data];
  setp.eq.u32 %p1, %r3, 0;
  @%p1 bra WAIT;
  bra END;
SET:
  st.volatile.global.u32 [%data], 1;
END:"""


def test_blocks_that_wait_for_later_ones_give_way(machine: Machine) -> None:
    machine.runtime = Runtime(library=machine.path, threads=1, profile=True, limits=Limits(wall_s=20))
    data = np.zeros(1024, np.uint32)

    machine.run(FRAME.format(body=WAITING), "kernel", 2, 128, data)

    assert data[0] == 1
    report = machine.runtime.take_report()
    assert report.limit is None
    profile = report.launches[0].profile
    assert profile is not None
    assert profile.polls > 0
    # As if the flag had been there when each warp looked first.
    of_warp = FRAME_INSTRUCTIONS + 3 + 2 + 3 + 1
    turns = sum(97 * warp + 1 for warp in range(4))
    # And the two instructions by which the first block sets the flag.
    assert profile.busiest_block.total_warp_instructions == 4 * of_warp + 3 * turns + 4
    assert profile.busy_blocks == 1
    assert profile.totals.global_loads == 4
