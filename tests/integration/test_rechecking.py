"""The emulator finds in accepted kernels what a GPU hides; what it cannot run it leaves unchecked."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from judge import rechecking
from judge.bench.timed_calls import timed_calls
from judge.errors import Cancelled
from judge.packs.pack import Pack
from judge.recheck import Recheck, RecheckOutcome
from judge.settings import JudgeSettings

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.recorded("challenges/reduction")]

#: Right on GPUs nearly always: below 64 elements it trusts that warps go on together.
RACY = """#include <cuda_runtime.h>
__global__ void sum(const float* in, float* out, int n) {
    __shared__ float tile[256];
    int i = blockIdx.x * 256 + threadIdx.x;
    tile[threadIdx.x] = i < n ? in[i] : 0.0f;
    for (int step = 128; step > 0; step /= 2) {
        %s
        if (threadIdx.x < step) tile[threadIdx.x] += tile[threadIdx.x + step];
    }
    if (threadIdx.x == 0) atomicAdd(out, tile[0]);
}
extern "C" void solve(const float* input, float* output, int N) {
    sum<<<(N + 255) / 256, 256>>>(input, output, N);
}
"""
CLEAN = RACY % "__syncthreads();"
#: No GPU that the emulator stands for has the instruction.
NEVER = 'asm volatile("tcgen05.wait::ld.sync.aligned;");'
OF_BLACKWELL = CLEAN.replace("__syncthreads();", f"__syncthreads(); {NEVER}")


@pytest.fixture
def check(packs: dict[str, Pack], judge_settings: JudgeSettings) -> Callable[..., Recheck]:
    def made(source: str, cancelled: Callable[[], bool] = lambda: False) -> Recheck:
        return rechecking.recheck(
            source.encode(), packs["reduction"], "emulator", 7, judge_settings, cancelled=cancelled
        )

    return made


def test_a_race_on_shared_memory_is_found_with_its_lines(check: Callable[..., Recheck]) -> None:
    found = check(RACY % "if (step > 32) __syncthreads();")
    assert found.outcome is RecheckOutcome.FOUND
    assert found.headline == "right by luck on this GPU: race on shared memory, line 8"
    assert found.findings[0].line == 8


def test_a_clean_kernel_is_clean_in_every_case(check: Callable[..., Recheck], packs: dict[str, Pack]) -> None:
    found = check(CLEAN)
    assert found.outcome is RecheckOutcome.CLEAN, found
    assert found.cases == found.of == len(packs["reduction"].cases_for("emulator"))


def test_what_the_emulator_has_no_instruction_for_is_unchecked(check: Callable[..., Recheck]) -> None:
    found = check(OF_BLACKWELL)
    assert found.outcome is RecheckOutcome.UNCHECKED
    assert found.headline == "it does not compile for the emulator (compute_80)"
    assert "tcgen05" in found.detail


def test_a_case_is_stopped_for_timed_calls_and_run_again_after_them(
    check: Callable[..., Recheck], judge_settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, timed = threading.Event(), threading.Event()
    judged: list[str] = []
    judge_cases = rechecking.CaseRunner.judge_cases

    def watched(self: object, cases: object, **given: object) -> object:
        judged.append("again" if begun.is_set() else "first")
        if not begun.is_set():
            begun.set()
            # As a case does that takes long: it asks whether it must stop.
            while not self._factory.cancelled():  # type: ignore[attr-defined]
                time.sleep(0.01)
            raise Cancelled
        assert timed.is_set()
        return judge_cases(self, cases, **given)  # type: ignore[arg-type]

    def time_calls(folder: Path) -> None:
        assert begun.wait(60)
        with timed_calls(folder):
            assert judged == ["first"]
            timed.set()

    monkeypatch.setattr(rechecking.CaseRunner, "judge_cases", watched)
    thread = threading.Thread(target=time_calls, args=(judge_settings.locks,))
    thread.start()
    found = check(CLEAN)
    thread.join()
    assert found.outcome is RecheckOutcome.CLEAN
    assert judged[:2] == ["first", "again"]


def test_who_asked_can_take_it_back(check: Callable[..., Recheck]) -> None:
    asked = iter([False] * 3)
    with pytest.raises(Cancelled):
        check(CLEAN, lambda: next(asked, True))


def test_an_interruption_ends_the_check(check: Callable[..., Recheck], monkeypatch: pytest.MonkeyPatch) -> None:
    ended = threading.Event()

    def wait_for_ever(self: object, cases: object, **given: object) -> object:
        del cases, given
        os.kill(os.getpid(), signal.SIGINT)
        while not self._factory.cancelled():  # type: ignore[attr-defined]
            time.sleep(0.01)
        ended.set()
        raise Cancelled

    monkeypatch.setattr(rechecking.CaseRunner, "judge_cases", wait_for_ever)
    with pytest.raises(KeyboardInterrupt):
        check(CLEAN)
    assert ended.wait(30)  # an interruption while the thread starts does not wait for it
