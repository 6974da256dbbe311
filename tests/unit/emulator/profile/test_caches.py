"""The modelled caches: what hits, what reaches DRAM."""

from __future__ import annotations

import ctypes

import pytest

from emulator import Runtime
from tests.unit.emulator.jit.conftest import Machine
from tests.unit.emulator.profile.conftest import FRAME, Profiled
from tests.unit.emulator.profile.test_counters import WORDS

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


def test_loads_that_look_at_what_others_store_go_to_the_l2(profiled: Profiled) -> None:
    totals = profiled("ld.global.u32 %r1, [%a];\n ld.volatile.global.u32 %r2, [%a];", WORDS).totals

    assert (totals.l1_hit_sectors, totals.l2_sectors) == (0, 8)


LOCAL = ".local .align 16 .b8 own[4096];\n mov.u64 %rd1, own;\n"


@pytest.mark.parametrize(
    ("access", "sectors", "ideal"),
    [
        ("st.local.u32 [own + 8], %t;", 4, 4),  # the lanes' words lie together
        ("st.local.v4.u32 [own + 16], {%t, %t, %t, %t};", 16, 16),
        ("st.local.u8 [own + 5], 1;", 4, 1),
        ("and.b32 %r1, %t, 1;\n mad.wide.u32 %rd2, %r1, 64, %rd1;\n st.local.u32 [%rd2], %t;", 8, 4),
        ("mad.wide.u32 %rd2, %t, 32, %rd1;\n st.local.u32 [%rd2], %t;", 32, 4),  # each its own place
        ("cvta.local.u64 %rd2, %rd1;\n st.u32 [%rd2], %t;", 4, 4),
    ],
)
def test_sectors_of_local_memory(profiled: Profiled, access: str, sectors: int, ideal: int) -> None:
    profile = profiled(LOCAL + access, WORDS)

    totals = profile.totals
    assert (totals.global_requests, totals.global_sectors, totals.global_sectors_ideal) == (1, sectors, ideal)
    assert totals.l2_sectors == sectors
    assert (profile.dram_read_bytes, profile.dram_write_bytes) == (0, 0)  # nobody needs it any more


def test_the_l1_keeps_local_memory(profiled: Profiled) -> None:
    totals = profiled(LOCAL + "st.local.u32 [own], %t;\n ld.local.u32 %r1, [own];", WORDS).totals

    assert (totals.global_loads, totals.l1_hit_sectors, totals.l2_sectors) == (1, 4, 4)


# Each thread keeps 4 KiB, as often as the loop goes round.
KEEP = """
  .local .align 4 .b8 own[4096];
  mov.u64 %rd1, own;
  mov.u32 %r1, 0;
LOOP:
  {access}
  add.u64 %rd1, %rd1, 4;
  add.u32 %r1, %r1, 1;
  setp.lt.u32 %p1, %r1, 1024;
  @%p1 bra LOOP;"""


def test_local_memory_that_does_not_fit_goes_to_dram(machine: Machine) -> None:
    kernel = machine.load(FRAME.format(body=KEEP.format(access="st.local.u32 [%rd1], %t;")), "kernel")
    profiles = []
    for mebibytes in (1, 64):
        machine.runtime = Runtime(library=machine.path, l2_bytes=mebibytes * MIB, profile=True)
        machine.launch(kernel, 4, 1024, WORDS)
        profiles.append(machine.runtime.take_report().launches[0].profile)
    small, large = profiles

    assert small is not None
    assert large is not None
    assert small.totals.l2_sectors == large.totals.l2_sectors == 4 * 1024 * 4096 // 32
    assert (small.dram_write_bytes > 14 * MIB, large.dram_write_bytes) == (True, 0)


def test_blocks_have_the_local_memory_of_those_before_them(machine: Machine) -> None:
    # Together they would take 7 MiB of lines; those that are resident at a time, a fraction of one.
    body = LOCAL + "st.local.u32 [own], %t;\n" * 4
    kernel = machine.load(FRAME.format(body=body), "kernel")
    machine.runtime = Runtime(library=machine.path, l2_bytes=MIB, profile=True)

    machine.launch(kernel, 60_000, 1, WORDS)

    profile = machine.runtime.take_report().launches[0].profile
    assert profile is not None
    assert profile.dram_write_bytes == 0


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
