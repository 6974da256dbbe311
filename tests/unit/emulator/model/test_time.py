import dataclasses

import pytest

from emulator.model import gpu_names, load_gpu, modelled_time
from emulator.model.why import topic_of
from emulator.profile import LineProfile
from emulator.profile.counters import add
from emulator.wording import CUDA, TRITON
from tests.unit.emulator.model.profiles import counters, launch, part, streaming

H200 = load_gpu("h200")


@pytest.mark.parametrize("name", gpu_names())
def test_streaming_is_bound_by_dram_on_every_gpu(name):
    gpu = load_gpu(name)
    found = modelled_time(streaming(1 << 26), gpu)
    assert found.limiter == "DRAM bandwidth"
    least = 8 * (1 << 26) / gpu.memory.dram_peak_bytes_per_s
    assert least < found.seconds < 1.7 * least


def test_a_kernel_that_does_little_but_stream_is_near_the_best():
    stats = streaming(1 << 26)
    wide = dataclasses.replace(stats.profile.totals, warp_instructions={"load": 1 << 19, "store": 1 << 19})
    fewer = dataclasses.replace(stats, grid=(1 << 16, 1, 1), profile=dataclasses.replace(stats.profile, totals=wide))
    assert "near the best possible" in modelled_time(fewer, H200).why[0]


def test_a_stride_costs_what_it_moves():
    together, apart = modelled_time(streaming(1 << 24), H200), modelled_time(streaming(1 << 24, stride=8), H200)
    assert 3.5 < apart.seconds / together.seconds < 6
    assert any("18 sectors of 32 bytes where 4 would do (line 14): 4.5x" in reason for reason in apart.why)
    assert not any("sectors" in reason for reason in together.why)


def test_one_block_leaves_the_others_idle():
    warps = 32
    totals = counters({"fp32": 100_000 * warps, "control": warps}, flops={"fp32": 64 * 100_000 * warps})
    one = modelled_time(launch(totals, blocks=1, threads=1024, critical=100_001), H200)
    spread = modelled_time(launch(totals, blocks=32, threads=32, critical=100_001), H200)
    assert "only 1 of 132 multiprocessors get a block" in one.why
    assert one.seconds > 1.9 * spread.seconds


def test_the_longest_warp_holds_up_the_launch():
    totals = counters({"fp32": 10_000, "control": 100})
    even = modelled_time(launch(totals, blocks=100, threads=32, critical=101), H200)
    uneven = modelled_time(launch(totals, blocks=100, threads=32, critical=5_000), H200)
    assert uneven.parts["latency"] > 20 * even.parts["latency"]


def test_a_block_too_many_takes_another_turn():
    def seconds(blocks: int) -> float:
        totals = counters({"fp32": 200_000 * blocks})
        return modelled_time(launch(totals, blocks=blocks, threads=1024, critical=6_250), H200).seconds

    assert seconds(133) / seconds(132) == pytest.approx(2, rel=0.1)
    assert seconds(264) == pytest.approx(seconds(133), rel=0.05)


def test_bank_conflicts_take_their_turns():
    def found(ways: int) -> object:
        accesses = 1 << 22
        totals = counters({"shared": accesses}, shared_wavefronts=ways * accesses, shared_wavefronts_ideal=accesses)
        lines = (LineProfile("kernel.cu", 22, totals),)
        return modelled_time(launch(totals, blocks=1320, threads=256, lines=lines), H200)

    free, conflicting = found(1), found(16)
    assert conflicting.limiter == "shared-memory bandwidth"
    assert conflicting.seconds > 8 * free.seconds
    assert "bank conflicts: 16-way (line 22)" in conflicting.why
    assert not any("bank" in reason for reason in free.why)


def test_idle_lanes_are_told_with_their_line():
    totals = counters({"fp32": 1 << 20}, active=22)
    lines = (LineProfile("kernel.cu", 31, totals),)
    found = modelled_time(launch(totals, blocks=1024, threads=256, lines=lines), H200)
    assert any(reason.startswith("31 % of the lanes idle (line 31)") for reason in found.why)


@pytest.mark.parametrize(("threads", "missing"), [(1, "1 thread: 97 %"), (48, "48 threads: 25 %")])
def test_lanes_that_a_block_lacks_are_no_divergence(threads: int, missing: str):
    totals = counters({"int": 1 << 20}, active=threads // -(-threads // 32))
    found = modelled_time(
        launch(totals, blocks=4096, threads=threads, lines=(LineProfile("kernel.cu", 31, totals),)), H200
    )

    told = f"blocks of {missing} of the lanes of their warps do not exist; use a multiple of 32, 128 or more"
    assert [reason for reason in found.why if "lanes" in reason] == [told]


@pytest.mark.parametrize(
    ("lanes", "told"),
    [(32, ""), (17, ""), (16, "in 16 of 32 lanes"), (1, "in 31 of 32"), (0.1, "in more than 31 of 32")],
)
def test_loads_that_masks_leave_out_are_told_in_triton(lanes: float, told: str):
    loads = 1 << 20
    totals = counters({"load": loads}, global_load_lanes=round(lanes * loads), global_loads=loads)
    stats = launch(totals, blocks=4096, threads=128, lines=(LineProfile("kernel.py", 14, totals),))
    found = [reason for reason in modelled_time(stats, H200, TRITON).why if "masked" in reason]
    assert [told in reason and "(kernel.py:14)" in reason for reason in found] == [True] * bool(told)
    assert all(topic_of(reason) == "divergence" for reason in found)
    assert not [reason for reason in modelled_time(stats, H200).why if "masked" in reason]


def test_advice_is_in_the_words_of_the_language():
    totals = counters(
        {"load": 1 << 18, "local": 1 << 18, "shared": 1 << 18, "atomic": 1 << 18},
        active=10,
        global_requests=1 << 18,
        global_sectors=1 << 23,
        global_sectors_ideal=1 << 20,
        atomics=1 << 23,
        atomic_serialized=1 << 22,
        shared_wavefronts=1 << 20,
        shared_wavefronts_ideal=1 << 18,
        global_load_lanes=1 << 23,
    )
    lines = (LineProfile("kernel.py", 14, totals),)
    stats = launch(totals, blocks=100, threads=128, lines=lines, registers=200, dram_bytes=1 << 28)
    in_cuda, in_triton = (modelled_time(stats, H200, wording).why for wording in (CUDA, TRITON))
    assert [topic_of(reason) for reason in in_cuda] == [topic_of(reason) for reason in in_triton]
    of_cuda = ("threads use", "block first", "get a block", "threads of a warp part ways", "run time")
    of_triton = (
        "last axis of a tile step by 1",
        "tl.sum",
        "get a program",
        "fewer num_warps",
        "more num_warps",
        "Triton chooses",
    )
    for words in of_cuda:
        assert (words in "".join(in_cuda), words in "".join(in_triton)) == (True, False), words
    for words in of_triton:
        assert (words in "".join(in_cuda), words in "".join(in_triton)) == (False, True), words


def test_double_precision_is_dear_on_a_small_gpu():
    stats = launch(counters({"fp64": 1 << 24}), blocks=4096, threads=256)
    t4, h200 = modelled_time(stats, load_gpu("t4")), modelled_time(stats, H200)
    assert t4.limiter == "fp64 arithmetic"
    assert t4.seconds > 50 * h200.seconds


def test_contended_atomics_wait_for_each_other():
    warps = 1 << 20
    totals = counters({"atomic": warps}, atomics=32 * warps, atomic_serialized=31 * warps)
    lines = (LineProfile("kernel.cu", 9, totals),)
    found = modelled_time(launch(totals, blocks=4096, threads=256, lines=lines, hottest_turns=32 * warps), H200)
    assert found.limiter == "contended atomics"
    assert any("atomic operations (line 9)" in reason for reason in found.why)


def test_what_one_block_does_is_not_spread_over_the_gpu():
    totals = counters(
        {"fp32": 1 << 22, "special": 1 << 20, "load": 1 << 20},
        global_requests=1 << 20,
        global_loads=1 << 20,
        global_sectors=4 << 20,
        global_sectors_ideal=4 << 20,
        l2_sectors=4 << 20,
        shared_wavefronts=1 << 22,
        atomics=1 << 20,
    )
    shape = {"threads": 1024, "shared_atomic_turns": 1 << 20}
    of_warp = part(totals, 1 / 32)
    alone = modelled_time(launch(totals, blocks=1, **shape), H200)
    beside = modelled_time(launch(totals, blocks=132, busiest_block=totals, busiest_warp=of_warp, **shape), H200)
    assert beside.parts == pytest.approx(alone.parts)
    spread = modelled_time(launch(totals, blocks=132, **shape), H200)
    assert beside.seconds > 50 * spread.seconds


def test_what_others_execute_meanwhile_makes_no_block_shorter():
    work = counters({"fp32": 1 << 20, "load": 1 << 16}, global_loads=1 << 16, l2_sectors=1 << 18)
    idling = counters({"int": 131 << 20})
    one = launch(work, blocks=132, threads=1024, busiest_block=work, busiest_warp=part(work, 1 / 32))
    beside_idlers = launch(
        add((work, idling)), blocks=132, threads=1024, busiest_block=work, busiest_warp=part(work, 1 / 32)
    )
    assert modelled_time(beside_idlers, H200).seconds >= modelled_time(one, H200).seconds


def test_what_others_find_in_the_l2_makes_no_block_wait_less_for_dram():
    def latency(of_others: int) -> float:
        alone = counters({"load": 1 << 12}, global_loads=1 << 12, missed_loads=1 << 12, l2_sectors=1 << 14)
        totals = dataclasses.replace(alone, l2_sectors=(1 << 14) + of_others)
        found = launch(
            totals,
            blocks=132,
            threads=32,
            dram_bytes=32 << 14,
            busiest_block=alone,
            busiest_warp=alone,
            dram_loads=1 << 12,
            critical_warp_dram_loads=1 << 12,
        )
        return modelled_time(found, H200).parts["latency"]

    assert latency(1 << 20) == latency(0)


@pytest.mark.parametrize("branches", [1, 1 << 8, 1 << 12])
def test_more_loads_never_wait_less(branches: int):
    """Neither those beside others in a warp, nor those of another warp."""

    def latency(hits: int) -> float:
        kinds = {"load": (1 << 10) + hits, "control": branches}
        totals = counters(
            kinds, dependent_steps=0, global_loads=kinds["load"], missed_loads=1 << 10, l1_hit_sectors=hits * 16
        )
        found = launch(
            totals, blocks=1, threads=32, busiest_warp=totals, dram_loads=1 << 10, critical_warp_dram_loads=1 << 10
        )
        return modelled_time(found, H200).parts["latency"]

    found = [latency(hits) for hits in (0, 1 << 6, 1 << 9, 1 << 12, 1 << 16)]
    assert found == sorted(found)


def test_loads_that_need_each_other_are_not_under_way_at_once():
    def latency(dependent: int) -> float:
        totals = counters(
            {"load": 1 << 12, "control": 1}, dependent_steps=0, dependent_loads=dependent, global_loads=1 << 12
        )
        found = launch(totals, blocks=1, threads=32, busiest_warp=totals)
        return modelled_time(found, H200).parts["latency"]

    assert latency(1) == latency(1 << 10)
    assert latency(1 << 12) > 2 * latency(1)


def test_blocks_that_do_nothing_make_room_for_none():
    def seconds(idle: int) -> float:
        totals = counters({"special": 133 << 16, "int": 8 * idle})
        found = launch(
            totals, blocks=133 + idle, threads=1024, busiest_block=counters({"special": 1 << 16}), busy_blocks=133
        )
        return modelled_time(found, H200).parts["special functions"]

    assert seconds(1000) == pytest.approx(seconds(0))


def test_lighter_blocks_take_no_multiprocessor_of_their_own():
    """As many as there are multiprocessors, and as many with a tenth of the work."""
    totals = counters({"special": 132 * 10 + 132})
    shape = {"threads": 1024, "busiest_block": counters({"special": 10}), "busy_blocks": 132}
    uneven = modelled_time(launch(totals, blocks=264, **shape), H200).parts["special functions"]
    even = modelled_time(launch(totals, blocks=264, threads=1024, busy_blocks=264), H200).parts["special functions"]
    assert uneven == pytest.approx(even)


def test_registers_that_hold_nothing_gain_nothing():
    totals = counters({"fp32": 1 << 22, "control": 1 << 18})
    few, many = (modelled_time(launch(totals, blocks=132, threads=256, registers=n), H200) for n in (32, 255))
    assert many.seconds >= few.seconds


def test_instructions_that_do_not_wait_for_each_other_take_less_time():
    def latency(**counts: int) -> float:
        totals = counters({"fp32": 1 << 22}, **counts)
        return modelled_time(launch(totals, blocks=132, threads=128), H200).parts["latency"]

    assert latency() > 2 * latency(dependent_steps=1 << 20)
    # They are issued one after the other nevertheless.
    assert latency(dependent_steps=1 << 20) > 1.1 * latency(dependent_steps=1 << 10) > 0


def test_floating_point_atomics_on_one_address_cost_more_than_integer_ones():
    def contended(**counts: int) -> float:
        found = modelled_time(launch(counters(), blocks=4096, threads=256, **counts), H200)
        return found.parts["contended atomics"]

    assert contended(hottest_float_atomic_turns=1 << 20) > 2 * contended(hottest_turns=1 << 20) > 0


def test_increments_in_shared_memory_take_turns_only_where_nothing_counts_them():
    stats = launch(counters(), blocks=4096, threads=256, shared_increment_turns=1 << 20)
    assert modelled_time(stats, H200).parts["contended atomics"] == 0
    assert modelled_time(stats, load_gpu("t4")).parts["contended atomics"] > 0


def test_loops_of_compare_and_swap_are_waited_for():
    def latency(rounds: int) -> float:
        totals = counters({"atomic": 1 << 16}, atomics=1 << 21, swap_rounds=rounds)
        return modelled_time(launch(totals, blocks=256, threads=256), H200).parts["latency"]

    assert latency(32 << 16) > 10 * latency(1 << 16)


def test_only_atomics_whose_result_is_used_are_waited_for():
    def latency(awaited: int) -> float:
        totals = counters({"atomic": 1 << 16}, atomics=1 << 16, awaited_global_atomics=awaited)
        return modelled_time(launch(totals, blocks=256, threads=256), H200).parts["latency"]

    assert latency(1 << 16) > 5 * latency(0)


def test_a_division_is_many_instructions():
    def seconds(kind: str) -> float:
        return modelled_time(launch(counters({kind: 1 << 22}), blocks=1056, threads=256), H200).seconds

    assert seconds("long_division") > 3 * seconds("int_division") > 9 * seconds("int")
    assert seconds("fp32_division") > 5 * seconds("fp32")
    assert seconds("fp64_division") > 5 * seconds("fp64")


def test_matches_take_a_pipe_of_their_own():
    found = modelled_time(launch(counters({"match": 1 << 20}), blocks=1056, threads=256), H200)
    assert found.limiter == "warp matches"


def test_files_are_named_where_there_are_several():
    totals = counters({"fp32": 1 << 20}, active=8)
    lines = (LineProfile("a.cu", 1, totals), LineProfile("/usr/include/b.cuh", 2, counters({"int": 1})))
    found = modelled_time(launch(totals, blocks=1024, threads=256, lines=lines), H200)
    assert any("(a.cu:1)" in reason for reason in found.why)


def test_an_empty_launch_costs_its_overhead():
    found = modelled_time(launch(counters(), blocks=1, threads=1), H200)
    assert found.limiter == "launch overhead"
    assert found.seconds == pytest.approx(H200.launch.each_s, rel=0.2)


def test_a_launch_without_a_profile_is_refused():
    stats = dataclasses.replace(streaming(1024), profile=None)
    with pytest.raises(ValueError, match="kernel was not profiled"):
        modelled_time(stats, H200)
