"""Profiles of submissions in a jail, by a tool that stands for Nsight Compute, and what is said where there is none."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from judge import profiling
from judge.backends.emulator.backend import EmulatorBackend
from judge.backends.registry import BUILTIN_BACKENDS
from judge.errors import Cancelled
from judge.gpu.nsight.tool import NoProfile
from judge.packs.pack import Pack
from judge.profiling import Profiled
from judge.settings import JudgeSettings

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]
FAKE = Path(__file__).resolve().parents[1] / "fake_ncu"
SOURCE = """#include "solve.h"
__global__ void add(const float* A, const float* B, float* C, int N) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    %s
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
"""


class ProfiledEmulator(EmulatorBackend):
    """The emulator, as if it had counters."""

    is_profiled = True


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of the tool, which is on PATH."""
    folder = tmp_path / "nsight"
    shutil.copytree(FAKE, folder)
    monkeypatch.setenv("PATH", f"{folder}:/usr/local/bin:/usr/bin:/bin")
    return folder


@pytest.fixture
def profile(tool: Path, packs: dict[str, Pack], judge_settings: JudgeSettings) -> Callable[..., Profiled]:
    def made(
        behavior: str = "",
        *,
        host: str = "",
        source: str = SOURCE,
        case: str | None = None,
        cancelled: Callable[[], bool] = lambda: False,
    ) -> Profiled:
        (tool / "behavior").write_text(behavior)
        backend = ProfiledEmulator()
        [device] = backend.discover(judge_settings).devices
        text = source % host if "%s" in source else source
        return profiling.profile(
            text.encode(),
            packs["vector-add"],
            device,
            7,
            judge_settings,
            case_id=case,
            cancelled=cancelled,
            backends=BUILTIN_BACKENDS.with_backend(backend),
        )

    return made


def test_a_profile_has_the_measured_figures_beside_the_modelled_ones(profile: Callable[..., Profiled]) -> None:
    found = profile()
    assert found.report == b"fake report\n"
    assert found.profile.tool == "Nsight Compute 2025.3.1.0"
    [case] = found.profile.cases
    assert [kernel.kernel for kernel in case.kernels] == ["conflicts", "transpose", "add"]
    assert case.lines[0].file == "kernel.cu"
    assert found.profile.modelled is not None
    assert found.profile.modelled.id == case.id
    assert found.profile.modelled.kernels[0].kernel == "add"


def test_a_case_is_named(profile: Callable[..., Profiled]) -> None:
    found = profile(case="one")
    assert found.profile.cases[0].id == "one"
    assert found.profile.beside_model is not None
    with pytest.raises(NoProfile, match="no case 'none'"):
        profile(case="none")


@pytest.mark.parametrize(
    ("behavior", "message", "remedy"),
    [
        ("denied", "may not read the GPU's performance counters", "NVreg_RestrictProfilingToAdminUsers=0"),
        ("nothing", "launched no kernel", ""),
        ("damaged", "cannot read its report: Failed to load report file", "install a newer Nsight Compute"),
        ("large", "larger than 32 MiB", ""),
    ],
)
def test_what_goes_wrong_is_said(profile: Callable[..., Profiled], behavior: str, message: str, remedy: str) -> None:
    with pytest.raises(NoProfile) as caught:
        profile(behavior)
    assert message in caught.value.message
    assert remedy in caught.value.remedy


def test_a_profiler_that_never_ends_is_killed(
    profile: Callable[..., Profiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(profiling, "START_S", 1.5)
    with pytest.raises(NoProfile, match="did not end within"):
        profile("hangs")


def test_a_submission_that_ends_itself_has_no_profile(profile: Callable[..., Profiled]) -> None:
    with pytest.raises(NoProfile, match="it ended under the profiler, during RUN"):
        profile(host="__builtin_trap();")


def test_what_does_not_compile_is_not_profiled(profile: Callable[..., Profiled]) -> None:
    with pytest.raises(NoProfile, match="it does not compile"):
        profile(source="int x")


def test_without_the_tool_the_message_says_what_to_install(
    profile: Callable[..., Profiled], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    monkeypatch.setattr("judge.gpu.nsight.tool._ELSEWHERE", ())
    with pytest.raises(NoProfile, match="not installed") as caught:
        profile()
    assert "nsight-compute" in caught.value.remedy


def test_it_is_given_up_when_it_is_cancelled(profile: Callable[..., Profiled]) -> None:
    with pytest.raises(Cancelled):
        profile(cancelled=lambda: True)
