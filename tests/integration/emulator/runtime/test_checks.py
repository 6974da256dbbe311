"""Full checks: races, reads of unwritten memory, and messages about barriers and loops without them."""

from __future__ import annotations

import ctypes
import re

import numpy as np
import pytest

from emulator import CudaError, Finding
from emulator.runtime.report import FULL_KINDS, MEMORY_KINDS, NOTE_KINDS, SYNC_KINDS, UNORDERED_KINDS
from tests.emulated_device import Device
from tests.integration.emulator.runtime.conftest import PROGRAMS, Build

pytestmark = [pytest.mark.nvcc, pytest.mark.recorded("tests/integration/emulator/runtime", "tests/emulated_device.py")]

SOURCE = (PROGRAMS / "races.cu").read_text()
LINES = {
    text.rsplit("// ", 1)[1]: number
    for number, text in enumerate(SOURCE.splitlines(), 1)
    if "// " in text.rstrip() and number > 1
}
ORDERLY = re.findall(r"^(?:RUN\((\w+)|extern \"C\" int run_(\w+)\(float)", (PROGRAMS / "orderly.cu").read_text(), re.M)
SEEDS = (None, 1, 7)


def checked(device: Device, seed: int | None = None, **limits: float) -> Device:
    device.limit(schedule_seed=seed, checks="full", **limits)
    return device


def findings(device: Device) -> tuple[Finding, ...]:
    report = device.runtime.take_report()
    assert {f.kind for f in report.findings} <= {*MEMORY_KINDS, *SYNC_KINDS, *NOTE_KINDS, *FULL_KINDS}
    assert report.unchecked == ()
    for finding in report.findings:
        assert finding.message.startswith(f"{finding.kind} ")
    return tuple(finding for finding in report.findings if finding.kind not in UNORDERED_KINDS)


def only(device: Device) -> Finding:
    (finding,) = findings(device)
    return finding


def lines_of(race: Finding) -> set[int | None]:
    assert race.other is not None
    return {race.line, race.other.line}


@pytest.mark.parametrize("seed", SEEDS)
def test_a_sum_of_atomics_is_read_before_all_have_added(device: Device, build: Build, seed: int | None) -> None:
    out, _ = checked(device, seed).array(1, np.int32, label="out")

    assert build("races").run_sum_read_too_soon(out) == 0

    race = only(device)
    assert (race.kind, race.allocation) == ("race on shared memory", "sum")
    assert lines_of(race) == {LINES["adds"], LINES["sum read"]}


def test_the_read_only_cache_need_not_have_what_its_launch_wrote(device: Device, build: Build) -> None:
    out, _ = checked(device).array(129, np.int32, label="out")

    assert build("races").run_reads_by_read_only_cache(out) == 0

    race = only(device)
    assert (race.kind, race.allocation) == ("race on global memory", "out")
    assert lines_of(race) == {LINES["write that it need not see"], LINES["read-only load"]}
    assert "the read-only cache (ld.global.nc: by __ldg, or const __restrict__) need not have" in race.message


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_a_missing_barrier(device: Device, build: Build, seed: int | None) -> None:
    out, _ = checked(device, seed).array(256, label="out")

    assert build("races").run_no_barrier(out) == 0

    (race,) = (f for f in findings(device) if f.is_race)
    assert race.other is not None
    assert (race.kind, race.kernel, race.allocation) == ("race on shared memory", "no_barrier", "tile")
    assert lines_of(race) == {LINES["tile write"], LINES["tile read"]}
    reader, writer = (race, race.other) if race.line == LINES["tile read"] else (race.other, race)
    assert (reader.is_write, writer.is_write) == (False, True)
    assert writer.thread[0] == (reader.thread[0] + 32) % 256
    assert race.block == race.other.block == (0, 0, 0)
    assert f"byte {4 * writer.thread[0]} of tile (1024 bytes of shared memory)" in race.message
    assert race.file is not None
    assert race.file.endswith("races.cu")
    assert race.count == 256


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("kernel", "dtype", "lines", "place"),
    [
        ("overwritten_too_soon", np.float32, ("next tile", "last tile"), "tile"),
        ("no_warp_sync", np.int32, ("lane write", "lane read"), "values"),
    ],
)
@pytest.mark.parametrize("seed", SEEDS)
def test_shared_memory_that_is_not_waited_for(
    device: Device, build: Build, kernel: str, dtype: type, lines: tuple[str, str], place: str, seed: int | None
) -> None:
    given, _ = checked(device, seed).array(np.arange(256), dtype)
    out, _ = device.array(256, dtype)
    arguments = (given, out) if kernel == "overwritten_too_soon" else (out,)

    assert getattr(build("races"), f"run_{kernel}")(*arguments) == 0

    race = only(device)
    assert (race.kind, race.allocation) == ("race on shared memory", place)
    assert lines_of(race) == {LINES[line] for line in lines}
    assert ("__syncwarp()" in race.message) == (kernel == "no_warp_sync")


def test_bytes_of_one_word_are_told_apart(device: Device, build: Build) -> None:
    out, _ = checked(device).array(64, np.int8)

    assert build("races").run_bytes_race(out) == 0

    race = only(device)
    assert race.other is not None
    assert (race.line, race.other.line) == (LINES["another's byte"], LINES["own byte"] + 2)
    assert (race.thread, race.other.thread) == ((40, 0, 0), (3, 0, 0))
    assert "byte 3 of text" in race.message
    assert (race.size, race.count) == (1, 1)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_that_share_a_counter(device: Device, build: Build, seed: int | None) -> None:
    counter, _ = checked(device, seed).array(1, np.int32, label="counter")

    assert build("races").run_plain_counter(counter) == 0

    races = findings(device)
    assert {race.kind for race in races} == {"race on global memory"}
    assert {frozenset(lines_of(race)) for race in races} == {
        frozenset((LINES["counter read"], LINES["counter write"])),
        frozenset((LINES["counter write"],)),
    }
    for race in races:
        assert race.other is not None
        assert race.block != race.other.block
        assert (race.address, race.allocation) == (counter.value, "counter")


def test_an_atomic_that_is_one_for_its_own_block_only(device: Device, build: Build) -> None:
    counter, _ = checked(device).array(1, np.int32, label="counter")

    assert build("races").run_counter_of_a_block(counter) == 0

    race = only(device)
    assert race.kind == "race on global memory"
    assert lines_of(race) == {LINES["counts in its block"]}
    assert "atomic for threads of its own block only" in race.message


def test_blocks_that_write_one_place(device: Device, build: Build) -> None:
    out, result = checked(device).array(32, np.int32, label="out")

    assert build("races").run_blocks_write_one_place(out) == 0

    race = only(device)
    assert race.other is not None
    assert (race.line, race.other.line, race.count) == (LINES["blocks write"], LINES["blocks write"], 64)
    assert (race.block, race.other.block, race.thread) == ((1, 0, 0), (0, 0, 0), (0, 0, 0))
    assert len(device.runtime.take_report().races) == 0
    assert set(result) == {2}


def test_another_order_of_blocks_shows_in_what_races(device: Device, build: Build) -> None:
    answers = set()
    for seed in range(8):
        out, result = checked(device, seed).array(32, np.int32)
        assert build("races").run_blocks_write_one_place(out) == 0
        answers.add(int(result[0]))
    assert len(answers) > 1


@pytest.mark.parametrize("seed", SEEDS)
def test_blocks_that_count_what_nobody_awaits(device: Device, build: Build, seed: int | None) -> None:
    data, _ = checked(device, seed).array(np.arange(128, dtype=np.int32))
    count, _ = device.array(1, np.int32)

    assert build("races").run_counts_that_nobody_awaits(data, count) == 0

    lines = {LINES["reads the next block's"], LINES["writes its own"]}
    found = findings(device)
    assert found
    assert all({finding.line, finding.other.line} == lines for finding in found)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_a_last_block_that_comes_too_early(device: Device, build: Build, seed: int | None) -> None:
    given, _ = checked(device, seed).array(np.ones(64))
    partial, _ = device.array(512, label="partial")
    out, _ = device.array(64)
    ticket, _ = device.array(1, np.uint32)

    assert build("races").run_last_block_too_early(given, partial, out, ticket) == 0

    race = only(device)
    assert (race.kind, race.allocation) == ("race on global memory", "partial")
    assert lines_of(race) == {LINES["partial write"], LINES["partial read"]}
    assert race.thread[0] >= 32  # of the warp that takes the ticket it is known that it has written


def test_a_flag_without_a_fence(device: Device, build: Build) -> None:
    checked(device)
    data, flag, out = (device.array(1, np.int32, label=name)[0] for name in ("data", "flag", "out"))

    assert build("races").run_flag_without_fence(data, flag, out) == 0

    race = only(device)
    assert race.other is not None
    assert (race.line, race.other.line, race.allocation) == (LINES["data read"], LINES["data write"], "data")
    assert (race.is_write, race.other.is_write) == (False, True)


def test_shared_memory_that_nothing_wrote(device: Device, build: Build) -> None:
    out, _ = checked(device).array(96)

    assert build("races").run_uninitialized_tile(out) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == ("uninitialized shared read", LINES["tile unwritten"])
    assert (finding.thread, finding.allocation, finding.count) == ((70, 0, 0), "tile", 26)
    assert "byte 280 of tile" in finding.message


def test_a_part_of_a_vector_that_nothing_wrote(device: Device, build: Build) -> None:
    out, _ = checked(device).array(32)

    assert build("races").run_uninitialized_part(out) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == ("uninitialized shared read", LINES["part unwritten"])
    assert (finding.thread, finding.count) == ((31, 0, 0), 1)
    assert "byte 504 of tile" in finding.message


@pytest.mark.parametrize("how", [0, 5], ids=["not chosen", "left alone"])
def test_what_is_read_and_dropped_is_no_finding(device: Device, build: Build, how: int) -> None:
    out, content = checked(device).array(64, np.int32)

    assert build("races").run_reads_past(out, how) == 0

    assert findings(device) == ()
    assert content.tolist() == list(range(64))


@pytest.mark.parametrize("how", [1, 2, 3, 4], ids=["chosen", "branch", "address", "shuffle"])
def test_what_is_read_and_used_is_a_finding_where_it_was_read(device: Device, build: Build, how: int) -> None:
    out, _ = checked(device).array(64, np.int32)

    assert build("races").run_reads_past(out, how) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == ("uninitialized shared read", LINES["next unwritten"])
    assert (finding.thread, finding.allocation, finding.count) == ((63, 0, 0), "tile", 1)
    assert "byte 256 of tile" in finding.message


@pytest.mark.parametrize("by_shuffle", [0, 1], ids=["shared memory", "shuffle"])
def test_what_is_read_handed_on_and_dropped_is_no_finding(device: Device, build: Build, by_shuffle: int) -> None:
    out, content = checked(device).array(64, np.int32)

    assert build("races").run_hands_on(out, by_shuffle, 0) == 0

    assert findings(device) == ()
    assert content.tolist() == [*((i ^ 1) + 1 for i in range(62)), 62, 63]


@pytest.mark.parametrize("by_shuffle", [0, 1], ids=["shared memory", "shuffle"])
def test_what_is_read_handed_on_and_used_is_a_finding_where_it_was_read(
    device: Device, build: Build, by_shuffle: int
) -> None:
    out, _ = checked(device).array(64, np.int32)

    assert build("races").run_hands_on(out, by_shuffle, 1) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == ("uninitialized shared read", LINES["handed on"])
    assert (finding.thread, finding.allocation, finding.count) == ((63, 0, 0), "tile", 1)


def test_what_lanes_bring_to_different_shuffles_is_used(device: Device, build: Build) -> None:
    out, _ = checked(device).array(32, np.int32)

    assert build("races").run_hands_on_apart(out, 0) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == ("uninitialized shared read", LINES["handed on apart"])
    assert (finding.thread, finding.count) == ((31, 0, 0), 1)


def test_what_was_stored_is_stored_anew(device: Device, build: Build) -> None:
    out, content = checked(device).array(64, np.int32)

    assert build("races").run_hands_on_anew(out) == 0

    assert findings(device) == ()
    assert content.tolist() == [i ^ 1 for i in range(64)]


def test_a_loop_that_fetches_one_element_too_many(device: Device, build: Build) -> None:
    out, content = checked(device).array(64, np.int32)

    assert build("races").run_fetches_ahead(out) == 0

    assert findings(device) == ()
    assert content.tolist() == list(range(64, 0, -1))


@pytest.mark.parametrize(("written", "filled", "first"), [(100, 0, None), (60, 160, None), (50, 100, 75), (0, 0, 0)])
def test_global_memory_that_nothing_wrote(
    device: Device, build: Build, written: int, filled: int, first: int | None
) -> None:
    out, _ = checked(device).array(100)

    assert build("races").run_reads(out, written, filled) == 0

    if first is None:
        assert findings(device) == ()
        return
    finding = only(device)
    assert (finding.kind, finding.line) == ("uninitialized read", LINES["plain read"])
    assert (finding.block[0] * 64 + finding.thread[0], finding.count) == (first, 100 - first)
    assert finding.allocation is not None
    assert finding.allocation.startswith("cudaMalloc #")


def test_an_atomic_reads_too(device: Device, build: Build) -> None:
    checked(device)

    assert build("races").run_counts() == 0

    finding = only(device)
    assert (finding.kind, finding.line, finding.count) == ("uninitialized read", LINES["counted"], 32)


def test_default_checks_do_not_look_for_races(device: Device, build: Build) -> None:
    out, _ = device.array(256)

    assert build("races").run_no_barrier(out) == 0

    assert findings(device) == ()


def test_what_was_written_unseen_counts_as_written(device: Device, build: Build) -> None:
    checked(device)
    program = build("races")
    pointer = ctypes.c_void_p()
    program.cudaMalloc(ctypes.byref(pointer), ctypes.c_size_t(256))
    device.runtime.observe(checks="default")
    assert program.run_blocks_write_one_place(pointer) == 0
    device.runtime.observe(checks="full")

    assert program.run_plain_counter(pointer) == 0

    assert {f.kind for f in findings(device)} == {"race on global memory"}
    device.runtime.free(pointer.value or 0)


def test_a_write_past_a_local_array(device: Device, build: Build) -> None:
    out, result = device.array(32, np.int32)

    assert build("races").run_local_past(out, -20, 12) == 700

    finding = only(device)
    assert (finding.kind, finding.is_write, finding.line) == ("out-of-bounds local write", True, LINES["local write"])
    assert finding.thread == (0, 0, 0)
    assert "offset -80 of the thread's 48 bytes of local memory" in finding.message
    assert finding.count == 20  # the others stay in theirs
    assert list(result) == [11, 10] * 16  # and nobody writes another's
    device.runtime.clear_errors()

    assert build("races").run_local_past(out, 12, 12) == 700
    assert only(device).count == 32


@pytest.mark.parametrize(("at", "fits"), [(11, True), (12, False), (-1, False), (1 << 20, False)])
def test_a_read_past_a_local_array(device: Device, build: Build, at: int, fits: bool) -> None:
    out, result = device.array(32, np.int32)

    assert build("races").run_local_read_past(out, at) == 0

    if fits:
        assert findings(device) == ()
        assert (result == 121).all()
        return
    finding = only(device)
    assert (finding.kind, finding.line, finding.count) == ("out-of-bounds local read", LINES["local read"], 32)
    assert not result.any()


# -- barriers and loops: always


def test_threads_that_leave_before_a_barrier(device: Device, build: Build) -> None:
    out, result = device.array(64)

    assert build("races").run_some_leave(out, 33) == 0

    finding = only(device)
    assert (finding.kind, finding.line, finding.count) == ("divergent barrier", LINES["left alone"], 2)
    place = f"{finding.file}:{finding.line}"
    assert finding.message.endswith(
        "it goes on without threads that have ended: "
        f"33 threads, first (0,0,0), wait at {place}; the other 31 threads, first (33,0,0), have ended"
    )
    assert result[:33].all()
    assert build("races").run_some_leave(out, 64) == 0
    assert findings(device) == ()


def test_threads_at_two_barriers(device: Device, build: Build) -> None:
    out, _ = device.array(64)

    assert build("races").run_two_barriers(out) == 0

    finding = only(device)
    assert finding.kind == "divergent barrier"
    assert "not all threads of the block reach it: " in finding.message
    assert "ended" not in finding.message
    for number, line in enumerate((LINES["first of two"], LINES["second of two"])):
        assert f"32 threads, first ({32 * number},0,0), wait at {finding.file}:{line}" in finding.message


def test_a_barrier_that_is_never_complete(device: Device, build: Build) -> None:
    out, _ = device.array(64, np.int32)

    assert build("races").run_waits_for_ever(out) == 702

    finding = only(device)
    assert (finding.kind, finding.line, finding.block) == ("divergent barrier", LINES["never complete"], (0, 0, 0))
    assert "; the other 32 threads, first (32,0,0), have ended" in finding.message
    with pytest.raises(CudaError, match="waits for ever at a barrier"):
        device.runtime.synchronize()


@pytest.mark.parametrize("limit", [{"wall_s": 0.2}, {"warp_instructions": 200_000}])
def test_an_endless_loop_is_told_with_its_line(device: Device, build: Build, limit: dict[str, float]) -> None:
    device.limit(**limit)
    flag, _ = device.array(1, np.int32)
    out, _ = device.array(1, np.int32)

    assert build("races").run_spins(flag, out) == 702

    finding = only(device)
    assert (finding.kind, finding.kernel, finding.line) == ("endless loop", "spins", LINES["spins"])
    assert (finding.thread, finding.block) == ((33, 0, 0), (0, 0, 0))
    with pytest.raises(CudaError, match=f"races.cu:{LINES['spins']} in spins"):
        device.runtime.synchronize()


def test_a_lane_that_its_mask_does_not_name(device: Device, build: Build) -> None:
    out, _ = device.array(32, np.int32)

    assert build("races").run_not_in_its_mask(out) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == ("illegal warp-sync mask", LINES["not in mask"])
    assert finding.thread == (4, 0, 0)
    assert "lane 4 executes it with the mask 0x0000000f" in finding.message


def test_a_lane_that_never_comes(device: Device, build: Build) -> None:
    out, _ = device.array(32, np.int32)

    assert build("races").run_never_comes(out) == 702

    finding = only(device)
    assert (finding.kind, finding.line, finding.thread) == ("deadlock", LINES["never comes"], (0, 0, 0))
    assert "lanes 0 to 4, 6 to 31 wait at this __syncwarp() for lane 5, which waits at a barrier" in finding.message
    assert f"{finding.file}:{LINES['never comes'] + 1}" in finding.message


@pytest.mark.parametrize("verb", ["read", "write"])
def test_memory_of_malloc_after_free(device: Device, build: Build, verb: str) -> None:
    out, _ = checked(device).array(2, np.int32)

    assert build("races").run_uses_freed(out, verb == "write", 0) == 0

    finding = only(device)
    assert (finding.kind, finding.line) == (f"{verb} after free", LINES[f"freed {verb}"])
    assert f"thread (0,0,0) of block (0,0,0) has freed at {finding.file}:{LINES['frees']}" in finding.message


def test_memory_that_malloc_gives_anew(device: Device, build: Build) -> None:
    out, values = checked(device).array(2, np.int32)

    for writes in (1, 0):
        assert build("races").run_uses_freed(out, writes, 1) == 0

    assert not findings(device)
    assert list(values) == [5, 6]


# -- programs that are right


@pytest.mark.exhaustive
def test_programs_that_are_right_end_where_stores_come_late_and_lanes_are_apart(device: Device, build: Build) -> None:
    for first, second in ORDERLY:
        name = first or second
        for ahead in (False, True, True):
            checked(device, 7, wall_s=60)
            device.runtime.schedule(7, runs_ahead=ahead)
            memory, content = device.array(16384, np.int32)
            if "lock" not in name:
                content.view(np.uint8)[:16000] = np.random.default_rng(5).integers(0, 7, 16000)

            assert getattr(build("orderly"), f"run_{name}")(memory) == 0, name

            findings(device)


@pytest.mark.exhaustive
@pytest.mark.parametrize("seed", SEEDS)
def test_programs_that_are_right_are_left_alone(device: Device, build: Build, seed: int | None) -> None:
    names = [first or second for first, second in ORDERLY]
    assert len(names) >= 20
    for name in names:
        checked(device, seed, wall_s=60)
        memory, content = device.array(16384, np.int32)
        if "lock" not in name:
            content.view(np.uint8)[:16000] = np.random.default_rng(5).integers(0, 7, 16000)

        assert getattr(build("orderly"), f"run_{name}")(memory) == 0

        report = device.runtime.take_report()
        faults = [finding for finding in report.findings if finding.kind not in UNORDERED_KINDS]
        assert (faults, report.unchecked) == ([], ()), name
