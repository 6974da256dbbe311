"""Every kernel gives the right answer: on the emulator, whose full checks find no fault with it, and on a GPU."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from emulator import Limits, Runtime
from emulator.runtime.report import NOTE_KINDS
from tests.kernels import harness
from tests.kernels.build import build, build_together, solve_of
from tests.kernels.case import Output
from tests.kernels.device import Device, real_device
from tests.kernels.harness import KERNELS, Kernel

#: Kernels in one library: few enough that the first test need not wait for long.
_TOGETHER = 12

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=str)


def _wanted(request: pytest.FixtureRequest) -> list[Kernel]:
    """Those of the kernels that this session tests."""
    calls = (getattr(item, "callspec", None) for item in request.session.items)
    kernels = {call.params["kernel"]: None for call in calls if call and "kernel" in call.params}
    return [kernel for kernel in kernels if isinstance(kernel, Kernel)]


@pytest.fixture(scope="module")
def libraries(request: pytest.FixtureRequest) -> Iterator[dict[Kernel, Future[Path]]]:
    """For each kernel that this session tests a library in which it is, at some time."""
    wanted = _wanted(request)
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = {}
        for begin in range(0, len(wanted), _TOGETHER):
            some = wanted[begin : begin + _TOGETHER]
            built = pool.submit(build_together, [kernel.source for kernel in some], harness.CACHE)
            found.update(dict.fromkeys(some, built))
        yield found


@pytest.fixture
def emulated(library: Path) -> Iterator[Callable[[int | None], Runtime]]:
    """Makes the emulated device with full checks and a schedule's seed."""

    def make(seed: int | None) -> Runtime:
        return Runtime(library=library, limits=Limits(wall_s=60), threads=2, checks="full", schedule_seed=seed)

    make(None).take_report()
    yield make
    runtime = make(None)
    runtime.clear_errors()
    runtime.take_report()
    Runtime(library=library, threads=2)


@pytest.mark.exhaustive
@pytest.mark.recorded("tests/kernels")
@pytest.mark.nvcc
@every_kernel
def test_on_the_emulator(
    emulated: Callable[[int | None], Runtime], library: Path, libraries: dict[Kernel, Future[Path]], kernel: Kernel
) -> None:
    device, case = Device(ctypes.CDLL(str(library))), harness.case_of(kernel.topic, "SMALL")
    for seed in (None, 7):
        runtime = emulated(seed)
        difference = harness.check(device, libraries[kernel].result(), case, solve_of(kernel.source))
        report = runtime.take_report()
        assert difference is None, f"schedule seed {seed}"
        problems = [finding for finding in report.findings if finding.kind not in NOTE_KINDS]
        assert problems == [], f"schedule seed {seed}"
        assert report.launches


@pytest.fixture(scope="module")
def gpu() -> Device:
    return real_device()


@pytest.fixture(scope="module")
def builds(request: pytest.FixtureRequest, gpu: Device) -> Iterator[dict[Kernel, Future[Path]]]:
    with ThreadPoolExecutor(max_workers=8) as pool:
        wanted = _wanted(request)
        yield {kernel: pool.submit(build, kernel.source, harness.CACHE, gpu.architecture) for kernel in wanted}


@pytest.mark.gpu
@pytest.mark.nvcc
@pytest.mark.parametrize("size", ["SMALL", "MODEL"])
@every_kernel
def test_on_a_gpu(gpu: Device, builds: dict[Kernel, Future[Path]], kernel: Kernel, size: harness.Size) -> None:
    assert harness.check(gpu, builds[kernel].result(), harness.case_of(kernel.topic, size)) is None


@pytest.mark.parametrize("topic", sorted({kernel.topic for kernel in KERNELS}))
def test_what_is_expected_is_not_trivial(topic: str) -> None:
    """The check notices outputs that were never written, and those with one number halved."""
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
