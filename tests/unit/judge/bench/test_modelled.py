import dataclasses

import pytest

from emulator.model import load_gpu
from judge.bench.modelled import modelled_call
from judge.bench.plausibility import why_model_implausible
from judge.judgement import BuildReport, KernelResources
from judge.wire import profiles
from judge.wire.messages import ReportClaim
from judge.wire.profiles import LineClaim, ProfileClaim

H200 = load_gpu("h200")
BUILD = BuildReport(
    ok=True,
    wall_s=0.1,
    registers=64,
    kernels=(KernelResources("_Z3addPKfS0_Pfi", registers=40), KernelResources("_Z6reduceIfEvPT_", registers=64)),
)


def claim(kernel: str = "add", *, launches: int = 1, registers: int = 0, dram_bytes: int = 1 << 29) -> ProfileClaim:
    sectors = dram_bytes // 32
    counts = {"load": sectors // 4, "global_requests": sectors // 4, "global_sectors": sectors}
    counts |= {"global_sectors_ideal": sectors, "l2_sectors": sectors, "thread_instructions": sectors * 8}
    names = (*profiles.CLASSES, *profiles.COUNTS, *profiles.FLOPS)
    counters = tuple(counts.get(name, 0) for name in names)
    of_kernel = {"dram_read_bytes": dram_bytes, "registers_per_thread": registers, "critical_warp_instructions": 10}
    numbers = tuple(of_kernel.get(name, 0) for name in profiles.KERNEL_COUNTS)
    lines = (LineClaim("/tmp/kernel.cu", 4, counters),)
    nothing = (0,) * len(counters)
    return ProfileClaim(
        kernel, (sectors // 256, 1, 1), (256, 1, 1), launches, counters, numbers, lines, nothing, nothing
    )


def test_the_time_is_computed_from_the_counts() -> None:
    found = modelled_call(ReportClaim(warp_instructions=12345, launches=1, profiles=(claim(),)), BUILD, H200)
    assert (1 << 29) / 4.8e12 < found.seconds < 2 * (1 << 29) / 4.1e12
    details = found.details
    assert details["warp_instructions"] == 12345
    assert details["limiter"] == "DRAM bandwidth"
    assert details["lines"][0].file == "kernel.cu", "the jail's folder says nothing to the user"
    assert details["lines"][0].share > 0.5
    assert details["kernels"][0].instructions == {"load": 1 << 22}


def test_it_is_explained_in_the_words_of_the_language() -> None:
    report = ReportClaim(warp_instructions=12345, launches=1, profiles=(claim(),))
    why = modelled_call(report, BUILD, H200, language="triton").details["why"]
    assert "the loads are masked off in more than 31 of 32 lanes (line 4)" in why[1]
    assert len(modelled_call(report, BUILD, H200).details["why"]) == len(why) - 1


@pytest.mark.parametrize(
    ("kernel", "claimed", "registers"), [("add", 8, 40), ("reduce<float>", 8, 64), ("unknown", 8, 64)]
)
def test_registers_are_the_compilers_and_not_the_claim(kernel: str, claimed: int, registers: int) -> None:
    found = modelled_call(ReportClaim(profiles=(claim(kernel, registers=claimed),)), BUILD, H200)
    assert found.details["kernels"][0].registers == registers


@pytest.mark.parametrize(
    ("stores_bytes", "stack_bytes", "held"),
    [
        (0, 0, 40),
        (20, 20, 40),
        (4 * 65, 4 * 65, 100),
        (8 * 65, 4 * 65, 100),
        (4 * 65, 4096, 100),
        (1 << 20, 1 << 20, 255),
    ],
)
def test_spills_count_as_registers_unless_they_are_small(stores_bytes: int, stack_bytes: int, held: int) -> None:
    kernel = KernelResources("_Z3addPKfS0_Pfi", 40, spill_stores_bytes=stores_bytes, stack_bytes=stack_bytes)
    build = dataclasses.replace(BUILD, kernels=(kernel,))
    found = modelled_call(ReportClaim(profiles=(claim(),)), build, H200)
    assert found.details["kernels"][0].registers == held


def test_no_launch_is_an_empty_call() -> None:
    found = modelled_call(ReportClaim(), BUILD, H200)
    assert found.seconds == H200.launch.first_s
    assert found.details["why"] == ("no kernel was launched",)


def test_a_time_too_short_to_move_the_data_is_not_trusted() -> None:
    honest = modelled_call(ReportClaim(profiles=(claim(),)), BUILD, H200).seconds
    assert why_model_implausible(honest, 1 << 29, None, H200) == ""
    forged = modelled_call(ReportClaim(profiles=(claim(dram_bytes=1 << 20),)), BUILD, H200).seconds
    assert "NVIDIA H200 needs" in why_model_implausible(forged, 1 << 29, None, H200)


def test_a_time_too_short_to_compute_the_result_is_not_trusted() -> None:
    assert "needs" in why_model_implausible(1e-3, 0, 1e13, H200)
    assert why_model_implausible(1e-1, 0, 1e13, H200) == ""
