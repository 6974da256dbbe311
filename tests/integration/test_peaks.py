"""The kernels that measure peaks, on the emulator: as much arithmetic as is counted for them, and right."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from emulator import Limits, Report, Runtime
from judge.compile.cubin import build_cubin
from judge.gpu.calibrate import PEAKS_SOURCE
from judge.gpu.peaks import counts
from judge.gpu.peaks.counts import Peak
from tests.kernels import harness
from tests.kernels.build import build
from tests.kernels.device import Device
from tests.peaks import EMULATED, matrix_sums

pytestmark = pytest.mark.nvcc

_WRAPPER = f"""
#include "{PEAKS_SOURCE}"
#define RUN(NAME, IN, OUT) \\
    extern "C" void run_##NAME(const void *a, void *b, int rounds, int blocks, int threads) \\
    {{ NAME<<<blocks, threads>>>((const IN *)a, (OUT *)b, rounds); }}
extern "C" void run_scramble(unsigned *words, unsigned long long count) {{ scramble<<<2, 64>>>(words, count, 1); }}
extern "C" void run_read_all(const void *data, unsigned long long bytes, unsigned *result)
{{ read_all<<<2, 64>>>((const uint4 *)data, bytes / 16, result); }}
extern "C" void run_copy_all(const void *from, void *to, unsigned long long bytes)
{{ copy_all<<<2, 64>>>((const uint4 *)from, (uint4 *)to, bytes / 16); }}
"""


class Emulated:
    """The kernels in the emulator, which counts."""

    def __init__(self, runtime: Runtime, emulator: Path, kernels: Path) -> None:
        self._runtime = runtime
        self.device = Device(ctypes.CDLL(str(emulator)))
        self.kernels = ctypes.CDLL(str(kernels))

    def run(self, peak: Peak, operands: npt.NDArray[np.generic], rounds: int, blocks: int) -> tuple[bytes, Report]:
        source, target = self.device.malloc(operands.nbytes), self.device.malloc(peak.result_bytes)
        self.device.put(source, operands)
        self._runtime.take_report()
        getattr(self.kernels, f"run_{peak.kernel}")(
            ctypes.c_void_p(source), ctypes.c_void_p(target), rounds, blocks, peak.threads
        )
        self._runtime.synchronize()
        report = self._runtime.take_report()
        found = np.empty(peak.result_bytes, np.uint8)
        self.device.get(target, found)
        return found.tobytes(), report


@pytest.fixture(scope="module")
def emulated(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Emulated]:
    runtime = Runtime(library=library, threads=2, profile=True, checks="full", limits=Limits(wall_s=60))
    source = tmp_path_factory.mktemp("peaks") / "launch.cu"
    source.write_text(
        "\n".join([_WRAPPER, *(f"RUN({peak.kernel}, {word}, {total})" for peak, word, total in EMULATED)])
    )
    yield Emulated(runtime, library, build(source, harness.CACHE))
    runtime.clear_errors()
    runtime.take_report()
    Runtime(library=library, threads=2)


@pytest.mark.parametrize("peak", [one[0] for one in EMULATED], ids=lambda peak: peak.kernel)
@pytest.mark.parametrize(("rounds", "blocks"), [(0, 1), (2, 2)])
def test_the_operations_are_counted_right(emulated: Emulated, peak: Peak, rounds: int, blocks: int) -> None:
    _, report = emulated.run(peak, peak.operands(np.random.default_rng(3)), rounds, blocks)
    assert report.findings == ()
    flops = {
        name: sum(launch.profile.totals.flops.get(name, 0) for launch in report.launches if launch.profile)
        for name in counts_of(peak)
    }
    # Beyond the rounds a thread adds its chains up: eight additions.
    extra = 8 * peak.threads * blocks if peak.kernel.startswith("fma") else 0
    assert sum(flops.values()) - extra == peak.operations(blocks, rounds)


def counts_of(peak: Peak) -> tuple[str, ...]:
    if peak.kernel.startswith("fma"):
        return (peak.arithmetic,)
    return {"fp64": ("tensor_f64",), "tf32": ("tensor_tf32",), "fp16": ("tensor_f16",), "bf16": ("tensor_bf16",)}.get(
        peak.arithmetic, ("tensor_int8",)
    )


@pytest.mark.parametrize(
    "peak", [one[0] for one in EMULATED if one[0].kernel.startswith("mma")], ids=lambda p: p.kernel
)
def test_the_products_are_right(emulated: Emulated, peak: Peak) -> None:
    operands = peak.operands(np.random.default_rng(4))
    found, _ = emulated.run(peak, operands, 1, 1)
    got, expected, tolerance = matrix_sums(peak, operands, found, rounds=1)
    np.testing.assert_allclose(got, expected, rtol=0, atol=tolerance)
    assert np.abs(expected).max() > 10 * tolerance


def test_the_chains_are_right(emulated: Emulated) -> None:
    peak = next(one for one in counts.PEAKS if one.kernel == "fma_fp64")
    operands = peak.operands(np.random.default_rng(5))
    found, _ = emulated.run(peak, operands, 3, 1)
    values = operands.reshape(8, peak.threads).copy()
    factor, summand = values[0].copy(), values[1].copy()
    for _ in range(3 * 16):
        values = values * factor + summand
    np.testing.assert_allclose(np.frombuffer(found), values.sum(axis=0), rtol=1e-12)


def test_memory_is_read_and_copied_whole(emulated: Emulated) -> None:
    size = 4 * 16 * 2 * 64 * 3
    device, words = emulated.device, np.empty(size // 4, np.uint32)
    source, target, result = device.malloc(size), device.malloc(size), device.malloc(4)
    device.fill(result, 0, 4)
    pointers = [ctypes.c_void_p(pointer) for pointer in (source, target, result)]
    emulated.kernels.run_scramble(pointers[0], ctypes.c_ulonglong(size // 4))
    emulated.kernels.run_read_all(pointers[0], ctypes.c_ulonglong(size), pointers[2])
    emulated.kernels.run_copy_all(pointers[0], pointers[1], ctypes.c_ulonglong(size))
    device.synchronize()
    device.get(target, words)
    total = np.empty(1, np.uint32)
    device.get(result, total)
    assert len(set(words.tolist())) > 0.99 * len(words)
    assert total[0] == np.bitwise_xor.reduce(words)


@pytest.mark.exhaustive
@pytest.mark.parametrize("capability", ["7.5", "8.0", "8.9", "9.0", "10.0", "12.0"])
def test_they_compile_for_every_generation(tmp_path: Path, capability: str) -> None:
    cubin = build_cubin(PEAKS_SOURCE, capability, tmp_path).read_bytes()
    major, minor = map(int, capability.split("."))
    for peak in counts.peaks_for((major, minor)):
        assert peak.kernel.encode() + b"\0" in cubin
    assert (b"wgmma_fp16" in cubin) == (capability == "9.0")
