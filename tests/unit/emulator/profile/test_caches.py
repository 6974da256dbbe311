"""The modelled caches: what hits, what reaches DRAM."""

from __future__ import annotations

import ctypes

from emulator import Runtime
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.profile.conftest import FRAME, Profiled
from tests.unit.emulator.profile.test_figures import WORDS

MIB = 1 << 20


def test_the_l1_keeps_what_a_block_has_read(profiled: Profiled) -> None:
    totals = profiled("ld.global.u32 %r1, [%a];\n ld.global.u32 %r2, [%a];", WORDS, grid=2).totals

    # Each block has an L1 of its own.
    assert (totals.global_sectors, totals.l1_hit_sectors, totals.l2_sectors) == (16, 8, 8)


def test_stores_and_atomics_go_to_the_l2(profiled: Profiled) -> None:
    body = "ld.global.u32 %r1, [%a];\n st.global.u32 [%a], %r1;\n red.global.add.u32 [%a], 1;"

    profile = profiled(body, WORDS)

    assert (profile.totals.l1_hit_sectors, profile.totals.l2_sectors) == (0, 12)
    assert (profile.dram_read_bytes, profile.dram_write_bytes) == (128, 128)


def test_warps_go_side_by_side(profiled: Profiled) -> None:
    # All warps read the same 128 KiB, which is more than a block's share of the L1 where two are resident: had one
    # warp read it all before the next began, nothing would hit.
    body = """
  mov.u32 %r1, 0;
  and.b32 %r2, %t, 31;
  mad.wide.u32 %rd1, %r2, 16, %data;
LOOP:
  ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];
  add.u64 %rd1, %rd1, 512;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 256;
  @%p1 bra LOOP;"""

    totals = profiled(body, WORDS, block=1024, grid=129).totals

    assert totals.l2_sectors == 129 * 4096
    assert totals.l1_hit_sectors == 31 * totals.l2_sectors


# Block b reads the b-th 64 KiB of the data.
SWEEP = """
  mov.u32 %r1, %ctaid.x;
  mad.wide.u32 %rd1, %r1, 65536, %data;
  mad.wide.u32 %rd1, %t, 16, %rd1;
  mov.u32 %r2, 0;
LOOP:
  ld.global.v4.u32 {%r3, %r4, %r5, %r6}, [%rd1];
  add.u64 %rd1, %rd1, 16384;
  add.u32 %r2, %r2, 1;
  setp.lt.u32 %p1, %r2, 4;
  @%p1 bra LOOP;"""


def sweep_twice(machine: Machine, size: int) -> list[tuple[int, int]]:
    """(sectors that the L2 was asked for, bytes from DRAM) of two launches, each of which reads the same bytes."""
    kernel = machine.load(FRAME.format(body=SWEEP), "kernel")
    data = machine.runtime.malloc(size)
    machine.runtime.take_report()
    machine.runtime.observe(profile=True)
    try:
        for _ in range(2):
            machine.launch(kernel, size // 65536, 1024, ctypes.c_uint64(data))
    finally:
        machine.runtime.observe(profile=False)
        machine.runtime.free(data)
    profiles = [launch.profile for launch in machine.runtime.take_report().launches]
    return [(p.totals.l2_sectors, p.dram_read_bytes) for p in profiles if p]


def test_what_fits_in_the_l2_is_read_once(machine: Machine) -> None:
    assert sweep_twice(machine, 8 * MIB) == [(8 * MIB // 32, 8 * MIB), (8 * MIB // 32, 0)]


def test_what_does_not_fit_is_read_again(machine: Machine) -> None:
    first, second = sweep_twice(machine, 128 * MIB)

    assert first == (128 * MIB // 32, 128 * MIB)
    assert second[1] > 0.9 * 128 * MIB


def test_the_l2_is_as_large_as_one_says(machine: Machine) -> None:
    machine.runtime = Runtime(library=machine.path, l2_bytes=4 * MIB)
    try:
        assert sweep_twice(machine, 2 * MIB)[1][1] == 0
        assert sweep_twice(machine, 8 * MIB)[1][1] > 0.9 * 8 * MIB
    finally:
        machine.runtime = Runtime(library=machine.path)


def test_a_report_begins_with_an_empty_l2(machine: Machine) -> None:
    assert sweep_twice(machine, MIB)[0] == sweep_twice(machine, MIB)[0]
