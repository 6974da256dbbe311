"""The recording of a real program (on the emulator's CUDA runtime) runs again without its host code."""

from __future__ import annotations

import ctypes
import dataclasses
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

from emulator import Runtime
from judge.compile.nvcc import build_submission
from judge.compile.target import Target
from judge.runner.cuda.recorder import CallRecorder
from judge.runner.cuda.recording import (
    Copy,
    Fill,
    Launch,
    Place,
    RawRecording,
    Recording,
    RecordingError,
)
from judge.runner.cuda.recording_reader import read_recording
from judge.runner.cuda.replay import CudaReplay
from judge.runner.device import DeviceError
from judge.settings import JudgeSettings
from judge.wire.recordings import ReplayReply
from tests.integration.judge.runner.cuda.emulated_driver import emulated_device
from tests.integration.judge.runner.cuda.recorded_cuda import RuntimeDriver
from tests.unit.judge.compile.challenge import FakeChallenge

pytestmark = [pytest.mark.nvcc, pytest.mark.jail]

N = 1000
_KERNELS = """
#include <cuda_runtime.h>
__device__ float factor;
__global__ void scale(const float* in, float* out, int n, const float* offsets) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = factor * in[i] + offsets[i % 4];
}
__global__ void half(const float* in, float* out, int n, const float* offsets) {
    extern __shared__ float copy[];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 4) copy[threadIdx.x] = offsets[threadIdx.x];
    __syncthreads();
    if (i < n) out[i] = 2 * in[i] + copy[i % 4];
}
__global__ void add(float* sum, const float* more, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) sum[i] += more[i];
}
// The emulator has none. These kernels have three pointers or two, and an int.
extern "C" cudaError_t cudaFuncGetParamInfo(const void* function, size_t index, size_t* offset, size_t* size) {
    const char* name;
    if (cudaFuncGetName(&name, function) || index >= (name[3] == 'a' ? 3 : 4)) return cudaErrorInvalidValue;
    *offset = 8 * index;
    *size = index == 2 ? 4 : 8;
    return cudaSuccess;
}
extern "C" void solve(const float* in, float* out, int n) {
"""
#: Twice the input and 0, 1, 2, 3 by turns, by all that can be recorded. Only the first call makes the offsets.
ALL = """
    static float* offsets;
    if (!offsets) {
        float two = 2, values[4] = {0, 1, 2, 3};
        cudaMalloc(&offsets, sizeof values);
        cudaMemcpy(offsets, values, sizeof values, cudaMemcpyHostToDevice);
        cudaMemcpyToSymbol(factor, &two, sizeof two);
        cudaFuncSetAttribute(half, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000);
    }
    float *zero, *copy;
    cudaMalloc(&zero, 4 * n);
    cudaMallocAsync((void**)&copy, 4 * n, 0);
    cudaMemset(zero, 0, 4 * n);
    cudaMemcpy(copy, in, 4 * n, cudaMemcpyDefault);
    half<<<(n / 2 + 127) / 128, 128, 60000>>>(copy, out, n / 2, offsets);
    scale<<<(n / 2 + 127) / 128, 128>>>(copy + n / 2, out + n / 2, n / 2, offsets);
    add<<<(n + 127) / 128, 128>>>(out, zero, n);
    cudaFree(zero);
    cudaFree(copy);
}
"""


@dataclass
class Recorded:
    """A program, and what its last call asked for."""

    runtime: Runtime
    cudart: ctypes.CDLL
    path: Path
    library: ctypes.CDLL
    raw: RawRecording
    addresses: tuple[int, ...]

    def read(self) -> Recording:
        return read_recording(self.raw, self.addresses, 0)

    def replay(self, recording: Recording | None = None) -> tuple[CudaReplay, RuntimeDriver]:
        driver = RuntimeDriver(self.cudart, self.path, self.library)
        # It stands in for Driver, whose functions are those of a real libcuda.
        return CudaReplay(cast(Any, driver), recording or self.read(), self.path.read_bytes()), driver


class Buffers:
    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime
        self.input, self.output = runtime.malloc(4 * N), runtime.malloc(4 * N)

    def values(self, address: int) -> Any:
        return np.frombuffer(self._runtime.view(address, 4 * N), np.float32)


Record = Callable[..., Recorded]


@pytest.fixture(scope="session")
def _cudart(library: Path) -> tuple[Runtime, ctypes.CDLL]:
    runtime = Runtime(library=library, threads=2)
    return runtime, ctypes.CDLL("libcudart.so.13")


@pytest.fixture
def record(
    _cudart: tuple[Runtime, ctypes.CDLL],
    judge_settings: JudgeSettings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[Record]:
    runtime, cudart = _cudart

    def record(body: str, calls: int = 2, most_bytes: int = 1 << 20) -> Recorded:
        source = (_KERNELS + body).encode()
        report, artifact = build_submission(
            source, FakeChallenge(), Target("emulator", "compute_80"), judge_settings, recorded=True
        )
        assert artifact is not None, report.log
        path = tmp_path / "program.so"
        path.write_bytes(artifact.library)
        monkeypatch.delenv("GPUJUDGE_RECORDING", raising=False)
        recorder = CallRecorder(most_bytes)
        library = ctypes.CDLL(str(path))
        buffers = Buffers(runtime)
        for _ in range(calls):
            recorder.noted(
                lambda: library.solve(ctypes.c_void_p(buffers.input), ctypes.c_void_p(buffers.output), ctypes.c_int(N))
            )()
            runtime.synchronize()
        raw = recorder.take({buffers.input: 4 * N, buffers.output: 4 * N})
        return Recorded(runtime, cudart, path, library, raw, (buffers.input, buffers.output, 0))

    yield record
    runtime.clear_errors()
    runtime.take_report()


def test_what_was_recorded_is_done_again_on_other_buffers(record: Record) -> None:
    recorded = record(ALL)
    recording = recorded.read()
    assert [kernel.name for kernel in recording.kernels] == ["_Z4halfPKfPfiS0_", "_Z5scalePKfPfiS0_", "_Z3addPfPKfi"]
    assert [type(work) for work in recording.call] == [Fill, Copy, Launch, Launch, Launch]
    assert [type(work).__name__ for work in recording.before] == ["Write", "Write", "Attribute", "Fill"]
    # The offsets, and what each of the two calls allocated.
    assert sorted(recording.scratch) == [16, 4 * N, 4 * N, 4 * N]
    assert [name for name, _ in recording.variables] == ["factor"]
    replay, driver = recorded.replay(recording)
    assert driver.binaries
    assert driver.launched == []
    for seed in (1, 2):
        fresh = Buffers(recorded.runtime)
        fresh.values(fresh.input)[:] = np.random.default_rng(seed).random(N, np.float32)
        bound = replay.bind([fresh.input, fresh.output, N.to_bytes(8, "little")])
        assert driver.launched == []
        replay.call(bound)
        recorded.runtime.synchronize()
        assert replay.take_error() == (0, "", "")
        assert driver.launched == ["_Z4halfPKfPfiS0_", "_Z5scalePKfPfiS0_", "_Z3addPfPKfi"]
        driver.launched.clear()
        wanted = 2 * fresh.values(fresh.input) + np.arange(N) % 500 % 4
        np.testing.assert_allclose(fresh.values(fresh.output), wanted, rtol=1e-6)
    assert not recorded.runtime.take_report().findings


def test_a_device_records_and_replays(record: Record, tmp_path: Path) -> None:
    """As the runner asks for it, with guard bands and shifted buffers."""
    recorded = record(ALL, calls=0)
    path = tmp_path / "again.so"
    path.write_bytes(recorded.path.read_bytes())
    with emulated_device(recorded.runtime) as device:
        device.record(1 << 20)
        library = ctypes.CDLL(str(path))
        source, target = device.allocate(4 * N, "in"), device.allocate(4 * N, "out")
        arguments = ctypes.c_void_p(source.address), ctypes.c_void_p(target.address), ctypes.c_int(N)
        for _ in range(2):
            device.time_call(lambda: library.solve(*arguments))
        recording = device.take_recording()
        driver = RuntimeDriver(recorded.cudart, path, library)
        device._driver = driver  # type: ignore[assignment]
        program, reply = device.replay(recording, path.read_bytes(), (source.address, target.address, 0))
        assert reply == ReplayReply(operations=5)
        arena = device.allocate(8 * N + 4096, "arena")
        values = np.arange(N, dtype=np.float32)
        there, back = device.within(arena, 0, 4 * N), device.within(arena, 4096, 4 * N)
        device.write(there, memoryview(values).cast("B"))
        program.call(program.bind([there.address, back.address, bytes(8)]))
        found = np.empty(N, np.float32)
        device.read(back, memoryview(found).cast("B"))
        np.testing.assert_array_equal(found, 2 * values + np.arange(N) % 500 % 4)
        with pytest.raises(DeviceError, match="breaks off"):
            device.replay(recording[:-1], path.read_bytes(), (source.address, target.address, 0))


@pytest.mark.exhaustive
@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("cudaGraph_t graph; cudaStream_t s; cudaStreamCreate(&s);"
         "cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal); cudaStreamEndCapture(s, &graph);",
         "it uses cudaStreamBeginCapture"),
        ("float* shared; cudaMallocManaged(&shared, 4);", "it uses cudaMallocManaged"),
        ("float first; add<<<1, 1>>>(out, in, n); cudaMemcpy(&first, out, 4, cudaMemcpyDeviceToHost);",
         "reads from the device"),
        ("cudaStream_t s; cudaStreamCreate(&s); add<<<1, 1>>>(out, in, n); add<<<1, 1, 0, s>>>(out, in, n);",
         "several streams"),
        ("float* host; cudaMallocHost(&host, 4); add<<<1, 1>>>(out, host, 1);", "memory of the host"),
        ("static float many[1 << 15]; cudaMemcpy(out, many, 4 * n, cudaMemcpyHostToDevice);"
         "float* m; cudaMalloc(&m, sizeof many); cudaMemcpy(m, many, sizeof many, cudaMemcpyHostToDevice);",
         "copies much"),
        ("", "asked nothing"),
        ("static float many[1 << 20]; float* m; cudaMalloc(&m, sizeof many);"
         "cudaMemcpy(m, many, sizeof many, cudaMemcpyHostToDevice);", "more than can be recorded"),
    ],
)  # fmt: skip
def test_what_cannot_be_done_again_says_why(record: Record, body: str, reason: str) -> None:
    with pytest.raises(RecordingError, match=reason):
        record(body + "}").read()


def test_without_the_variable_nothing_is_recorded(record: Record) -> None:
    recorded = record(ALL, calls=0)
    assert recorded.raw.steps == b""


def test_a_kernel_that_is_not_in_the_program_is_not_launched(record: Record) -> None:
    recorded = record(ALL)
    forged = RawRecording.unpack(recorded.raw.pack().replace(b"_Z3addPfPKfi", b"_Z3oddPfPKfi"))
    assert forged.begin == recorded.raw.begin
    with pytest.raises(RecordingError, match="not in the program"):
        recorded.replay(read_recording(forged, recorded.addresses, 0))


def test_a_launch_has_the_kernels_own_parameters(record: Record) -> None:
    recorded = record(ALL)
    recording = recorded.read()
    short = dataclasses.replace(recording.kernels[0], parameters=recording.kernels[0].parameters[:-1])
    longer = dataclasses.replace(short, parameters=(*recording.kernels[0].parameters, (32, 8)))
    for forged in (short, longer):
        with pytest.raises(RecordingError, match="other parameters"):
            recorded.replay(dataclasses.replace(recording, kernels=(forged, *recording.kernels[1:])))


def test_nothing_is_written_outside_of_what_was_allocated(record: Record) -> None:
    recorded = record("cudaMemset(out, 0, 4 * n); }")
    with pytest.raises(RecordingError, match="not seen to allocate"):
        read_recording(
            dataclasses.replace(recorded.raw, buffers=((recorded.addresses[1], 4 * N - 1),)), recorded.addresses, 0
        )
    [fill] = recorded.read().call
    assert isinstance(fill, Fill)
    assert fill.to.place is Place.ARGUMENT
