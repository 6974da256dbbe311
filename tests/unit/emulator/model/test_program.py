import dataclasses

import pytest

from emulator.model import group_launches, load_gpu, modelled_time, program_time
from emulator.replay.recording import Transfers
from tests.unit.emulator.model.profiles import counters, launch, streaming

H200 = load_gpu("h200")


def named(kernel, stats):
    return dataclasses.replace(stats, kernel=kernel)


def test_launches_add_up():
    stats = streaming(1 << 24)
    once, thrice = (program_time(group_launches([stats] * count), H200) for count in (1, 3))
    each = modelled_time(stats, H200).seconds
    assert once.seconds == pytest.approx(H200.launch.first_s + each)
    assert thrice.seconds == pytest.approx(H200.launch.first_s + 3 * each)
    assert len(thrice.kernels) == 1
    assert thrice.kernels[0].group.count == 3


def test_the_costliest_kernel_is_first_and_named():
    found = program_time(group_launches([named("small", streaming(1 << 22)), named("large", streaming(1 << 24))]), H200)
    assert [kernel.group.kernel for kernel in found.kernels] == ["large", "small"]
    assert found.why[0].startswith("large: limited by DRAM bandwidth")


def test_beyond_the_most_groups_launches_are_counted_with_their_kernel():
    shapes = [named("a", streaming(1 << 10)), named("b", streaming(1 << 11)), named("a", streaming(1 << 12))]
    groups = group_launches(shapes, most=2)
    assert [(group.kernel, group.count) for group in groups] == [("a", 2), ("b", 1)]
    assert groups[0].profile.totals.global_requests == 2 * ((1 << 10) + (1 << 12)) // 32


def test_launches_that_are_held_up_by_different_things_cost_each_its_own():
    shape = {"blocks": 132, "threads": 1024}
    kinds = [launch(counters({kind: 1 << 22}), **shape) for kind in ("special", "fp64", "warp")]
    found = program_time(group_launches(kinds), H200)
    assert found.seconds == pytest.approx(H200.launch.first_s + sum(modelled_time(one, H200).seconds for one in kinds))


def test_launches_with_other_shared_memory_are_not_taken_for_the_first():
    stats = streaming(1 << 20)
    large = dataclasses.replace(stats, profile=dataclasses.replace(stats.profile, dynamic_shared_bytes=100 << 10))
    assert len(group_launches([stats, large, stats])) == 2


def test_the_mean_of_a_group_is_one_of_its_launches():
    stats = streaming(1 << 20)
    (group,) = group_launches([stats] * 4)
    assert group.mean().profile == stats.profile


def test_what_the_host_computes_alone_comes_on_top_and_what_it_computes_beside_the_device_does_not():
    groups = group_launches([streaming(1 << 24)])
    device_s = program_time(groups, H200).seconds
    alone = program_time(groups, H200, Transfers(host_ns=5_000_000))
    assert alone.seconds == pytest.approx(device_s + 5e-3)
    assert alone.limiter == "computations on the host"
    beside = program_time(groups, H200, Transfers(overlapped_host_ns=round(0.9e9 * device_s)))
    assert beside.seconds == device_s
    longer = program_time(groups, H200, Transfers(overlapped_host_ns=5_000_000))
    assert longer.seconds == pytest.approx(5e-3)


def test_a_host_that_only_asks_for_launches_takes_no_time():
    groups = group_launches([streaming(1 << 12)] * 100)
    busy = Transfers(host_ns=150_000, overlapped_host_ns=150_000)
    assert program_time(groups, H200, busy).seconds == program_time(groups, H200).seconds
    assert program_time(groups[:1], H200, Transfers(host_ns=900_000)).seconds > 900e-6


def test_a_host_that_read_from_the_device_may_not_compute_in_its_allowance():
    groups = group_launches([streaming(1 << 12)])
    moved = {"reads": 1, "read_bytes": 4000, "writes": 1, "written_bytes": 4}
    idle = program_time(groups, H200, Transfers(**moved)).seconds
    asking_s = 3 * H200.launch.each_s
    assert program_time(groups, H200, Transfers(**moved, host_ns=10_000)).seconds == idle
    computed = program_time(groups, H200, Transfers(**moved, host_ns=30_000)).seconds
    assert computed == pytest.approx(idle + 30e-6 - 5e-6 - asking_s)
    # It hides nothing behind a kernel that takes no longer than it.
    beside = program_time(groups, H200, Transfers(**moved, host_ns=10_000, overlapped_host_ns=20_000)).seconds
    assert beside >= idle + 10e-6
    # Of one that knows nothing of the device, this is noise.
    writing = Transfers(writes=1, written_bytes=4)
    assert program_time(groups, H200, dataclasses.replace(writing, host_ns=30_000)) == program_time(
        groups, H200, writing
    )


def test_nothing_launched_is_an_empty_call():
    found = program_time((), H200)
    assert found.seconds == H200.launch.first_s
    assert found.why == ("no kernel was launched",)


def test_launches_without_profiles_are_left_out():
    assert group_launches([dataclasses.replace(launch(counters(), blocks=1, threads=1), profile=None)]) == ()


def test_copies_and_memsets_cost_their_bytes_and_a_launch_each():
    moved = Transfers(
        writes=2,
        written_bytes=64_000_000,
        reads=1,
        read_bytes=32_000_000,
        copies=1,
        copied_bytes=43_000_000,
        fills=3,
        filled_bytes=4_300_000,
    )
    empty, found = (program_time((), H200, transfers) for transfers in (Transfers(), moved))
    moving_s = (64e6 + 32e6) / H200.host_link_bytes_per_s + (2 * 43e6 + 4.3e6) / H200.memory.dram_bytes_per_s
    assert found.seconds - empty.seconds == pytest.approx(moving_s + 7 * H200.launch.each_s)
    assert found.limiter == "copies from the host"
    assert found.why[0].startswith("copies from the host take 6")


def test_what_moves_little_is_no_reason():
    stats = streaming(1 << 24)
    found = program_time(group_launches([stats]), H200, Transfers(writes=1, written_bytes=4))
    assert found.seconds == pytest.approx(
        program_time(group_launches([stats]), H200).seconds + H200.launch.each_s + 4 / H200.host_link_bytes_per_s
    )
    assert found.limiter == "DRAM bandwidth"
    assert not [reason for reason in found.why if "copies" in reason]
