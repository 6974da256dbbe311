"""Each failure on a real GPU gets its own verdict, and leaves the next submission's judgement alone."""

from __future__ import annotations

import pytest

from tests.gpu import kernels
from tests.gpu.conftest import JudgeOnGpu

pytestmark = [pytest.mark.gpu, pytest.mark.jail, pytest.mark.nvcc]


@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("HONEST", "AC", ""),
        ("READS_BEHIND", "AC", ""),
        ("ADDS_INTO_THE_OUTPUT", "AC", ""),
        ("ALLOCATES", "AC", ""),
        ("WRITES_BEHIND", "RE", "wrote outside its buffer C, after its end"),
        ("WRITES_BEFORE", "RE", "wrote outside its buffer C, before its start"),
        ("COPIES_WHAT_LIES_BEHIND", "RE", "wrote outside its buffer C, after its end"),
        ("NAN_BEHIND", "RE", "wrote outside its buffer C, after its end"),
        ("ZERO_TIMES_WHAT_LIES_BEHIND", "AC", ""),
        ("ADDS_WHAT_LIES_BEHIND", "WA", ""),
        ("CHANGES_INPUT", "RE", "changed its input A"),
        ("ILLEGAL_ADDRESS", "RE", "cudaErrorIllegalAddress"),
        ("MISALIGNED", "RE", "cudaErrorMisalignedAddress"),
        ("TRAP", "RE", "cudaError"),
        ("ENDLESS", "TLE", "longer than"),
        ("TOO_MANY_THREADS", "RE", "cudaErrorInvalid"),
        ("WANTS_TOO_MUCH", "MLE", "cudaErrorMemoryAllocation"),
        ("EXITS", "RE", "exit(0)"),
        ("FORKS", "SV", "system call"),
        ("RESETS", "RE", ""),
        ("PRINTS_A_LOT", "OLE", "printed more"),
    ],
)
def test_verdict(judge_on_gpu: JudgeOnGpu, name: str, verdict: str, words: str) -> None:
    judgement = judge_on_gpu(getattr(kernels, name))
    assert judgement.verdict.value == verdict, judgement
    assert words in judgement.message
    after = judge_on_gpu(kernels.HONEST)
    assert after.verdict.value == "AC", after


# It takes all of the GPU's memory, which the allocations of other tests would miss.
@pytest.mark.timed
def test_memory_that_a_submission_keeps_is_back_for_the_next(judge_on_gpu: JudgeOnGpu) -> None:
    judge_on_gpu(kernels.LEAKS_EVERYTHING)
    assert judge_on_gpu(kernels.HONEST).verdict.value == "AC"
