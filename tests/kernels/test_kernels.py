"""Every kernel gives the right answer: on the emulator, which finds no fault with it, and on a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from emulator import Limits, Runtime, native
from tests.kernels import harness
from tests.kernels.build import build
from tests.kernels.case import Output
from tests.kernels.device import Device, real_device
from tests.kernels.harness import KERNELS, Kernel

ROOT = Path(__file__).resolve().parents[2]

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)

Builds = dict[Kernel, "Future[Path]"]


def _start_builds(request: pytest.FixtureRequest, pool: ThreadPoolExecutor, architecture: str | None) -> Builds:
    """Those of the kernels that this session tests."""
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    wanted = {call.params["kernel"]: None for call in calls if call and "kernel" in call.params}
    kernels = [kernel for kernel in wanted if isinstance(kernel, Kernel)]
    return {kernel: pool.submit(build, kernel.source, harness.CACHE, architecture) for kernel in kernels}


@pytest.fixture(scope="module")
def builds(request: pytest.FixtureRequest) -> Iterator[Builds]:
    with ThreadPoolExecutor(max_workers=2) as pool:
        yield _start_builds(request, pool, None)


@pytest.fixture(scope="session")
def library() -> Path:
    return native.ensure(ROOT / ".cache" / "emulator-native")


@pytest.fixture
def runtime(library: Path) -> Iterator[Runtime]:
    runtime = Runtime(library=library, limits=Limits(wall_s=60), threads=2)
    runtime.take_report()
    yield runtime
    runtime.clear_errors()
    runtime.take_report()


@pytest.mark.nvcc
@every_kernel
def test_on_the_emulator(runtime: Runtime, library: Path, builds: Builds, kernel: Kernel) -> None:
    difference = harness.check(
        Device(ctypes.CDLL(str(library))), builds[kernel].result(), harness.case_of(kernel.topic, "SMALL")
    )
    report = runtime.take_report()
    assert difference is None
    assert report.memory_faults == ()
    assert report.launches


@pytest.fixture(scope="module")
def gpu() -> Device:
    return real_device()


@pytest.fixture(scope="module")
def gpu_builds(request: pytest.FixtureRequest, gpu: Device) -> Iterator[Builds]:
    with ThreadPoolExecutor(max_workers=8) as pool:
        yield _start_builds(request, pool, gpu.architecture)


@pytest.mark.gpu
@pytest.mark.nvcc
@pytest.mark.parametrize("size", ["SMALL", "MODEL"])
@every_kernel
def test_on_a_gpu(gpu: Device, gpu_builds: Builds, kernel: Kernel, size: harness.Size) -> None:
    assert harness.check(gpu, gpu_builds[kernel].result(), harness.case_of(kernel.topic, size)) is None


@pytest.mark.parametrize("topic", sorted({kernel.topic for kernel in KERNELS}))
def test_what_is_expected_is_not_trivial(topic: str) -> None:
    """Outputs that were never written, and those with one number halved, are told."""
    case = harness.case_of(topic, "SMALL")
    outputs = [argument for argument in case.arguments if isinstance(argument, Output)]
    assert outputs
    for output in outputs:
        right = output.expected.astype(output.dtype)
        assert output.difference(right) is None
        assert output.difference(right * 0) is not None
        largest = abs(output.expected).argmax()
        wrong = right.copy().ravel()
        wrong[largest] = wrong[largest] // 2
        assert output.difference(wrong.reshape(right.shape)) is not None
