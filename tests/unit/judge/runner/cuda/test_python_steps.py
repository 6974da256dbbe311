"""The steps of a submission in Python: parameters where the driver has them, and an end to what is kept."""

from __future__ import annotations

import struct

from judge.runner.cuda.python_steps import PythonSteps
from judge.runner.cuda.recording import Place, Pointer, RawRecording
from judge.runner.cuda.recording_reader import read_recording
from judge.runner.triton.parameters import Parameters
from judge.wire.python_program import CompiledKernel

ADDRESS = 0x7F0000010000
KERNEL = CompiledKernel("k", "add", 4, 0, 0, 1, ((0, "*fp32"), (1, "i8"), (2, "fp32"), (3, "i64")), b"")


def test_parameters_lie_at_multiples_of_their_sizes() -> None:
    parameters = Parameters(KERNEL)
    assert parameters.places == [(0, 8), (8, 1), (12, 4), (16, 8), (24, 8), (32, 8)]
    parameters.fill([ADDRESS, -1, 0.5, 1 << 40], 64)
    assert parameters.content() == struct.pack("<Qb3xfqQQ", ADDRESS, -1, 0.5, 1 << 40, 64, 0)


def test_a_launch_is_read_back() -> None:
    steps, parameters = PythonSteps(1 << 16), Parameters(KERNEL)
    number = steps.kernel("add", parameters)
    parameters.fill([ADDRESS + 4, 1, 0.5, 3], 0)
    steps.attribute(number, 8, 65536)
    begin = len(steps.data)
    steps.launch(number, (3, 2, 1), 128, 65536, parameters)
    raw = RawRecording(((ADDRESS, 100),), begin, len(steps.data), steps.refused, bytes(steps.data))
    recording = read_recording(raw, (ADDRESS, 0, 0, 0), 256)
    [launch] = recording.call
    assert (launch.grid, launch.block, launch.shared_bytes) == ((3, 2, 1), (128, 1, 1), 65536)  # type: ignore[union-attr]
    assert launch.pointers == ((0, Pointer(Place.ARGUMENT, 0, 4)),)  # type: ignore[union-attr]
    assert recording.kernels[0].name == "add"


def test_more_than_is_kept_is_refused_in_words() -> None:
    steps = PythonSteps(40)
    for _ in range(3):
        steps.allocate(ADDRESS, 4)
    assert (len(steps.data), steps.refused) == (28, "more than can be recorded")


def test_work_on_another_stream_is_refused_in_words() -> None:
    steps, parameters = PythonSteps(1 << 16), Parameters(KERNEL)
    steps.launch(steps.kernel("add", parameters), (1, 1, 1), 128, 0, parameters, 7)
    assert steps.refused == "work on streams of PyTorch is not recorded"
