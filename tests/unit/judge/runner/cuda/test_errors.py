import pytest

from judge.runner.cuda.errors import device_error


@pytest.mark.parametrize(
    ("text", "name", "code"),
    [
        ("cuCtxSynchronize failed: an illegal memory access was encountered", "cudaErrorIllegalAddress", 700),
        ("cuMemAlloc failed: out of memory", "cudaErrorMemoryAllocation", 2),
        ("cuEventSynchronize failed: misaligned address", "cudaErrorMisalignedAddress", 716),
        ("cuCtxSynchronize failed: unspecified launch failure - something", "cudaErrorLaunchFailure", 719),
    ],
)
def test_pycudas_words_become_cudas_names(text: str, name: str, code: int) -> None:
    error = device_error(text)
    assert (error.name, error.code) == (name, code)


def test_words_not_known_are_kept() -> None:
    error = device_error("cuFoo failed: the moon is full")
    assert (error.code, error.name) == (999, "cudaErrorUnknown")
    assert "the moon is full" in error.message
