"""A judgement that somebody waits for: its runners start before it, and it records the benchmark beside the cases."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.errors import Cancelled
from judge.judgement import DeviceInfo, Judgement
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.supervisor.launcher import JailLauncher
from judge.supervisor.runner_start import EarlyRunners
from judge.verdict import Verdict

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.exhaustive(by_file=True)]

_KERNEL = """
__global__ void add(const float* A, const float* B, float* C, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) C[i] = A[i] + B[i];
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    volatile int turns = 0;  // a loop that changes nothing may be left out
    %s
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
}
"""

Judge = Callable[[str], Judgement]


@pytest.fixture(scope="module")
def device(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.fixture
def early(device: DeviceInfo, judge_settings: JudgeSettings) -> Iterator[EarlyRunners]:
    backend = BUILTIN_BACKENDS.of(device.kind)
    spec = backend.runner_spec(device, judge_settings)
    runners = EarlyRunners(JailLauncher(spec, judge_settings), spec, judge_settings, backend.early_runners)
    yield runners
    runners.close()


@pytest.fixture
def judge(early: EarlyRunners, device: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings) -> Judge:
    def run(body: str) -> Judgement:
        source = (_KERNEL % body).encode()
        return pipeline.judge(source, packs["vector-add"], device, 11, judge_settings, early=early)

    return run


def _jails() -> list[str]:
    """Returns the jails that this process has started and that run."""
    found = []
    for task in Path("/proc/self/task").iterdir():
        # A thread or a process may end meanwhile.
        with contextlib.suppress(OSError):
            for pid in (task / "children").read_text().split():
                if "bwrap" in Path(f"/proc/{pid}/comm").read_text():
                    found.append(pid)
    return found


def test_the_score_is_the_same(
    judge: Judge, device: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    hurried = judge("")
    patient = pipeline.judge((_KERNEL % "").encode(), packs["vector-add"], device, 11, judge_settings)
    assert hurried.verdict is patient.verdict is Verdict.ACCEPTED, (hurried, patient)
    assert hurried.measurement is not None
    assert patient.measurement is not None
    assert hurried.measurement.value == patient.measurement.value
    assert [case.id for case in hurried.cases] == [case.id for case in patient.cases]
    assert not _jails()


def test_a_wrong_case_ends_a_recording_that_would_not_end(judge: Judge, packs: dict[str, Pack]) -> None:
    pack = packs["vector-add"]
    first, *_, last = pack.cases_for("emulator")
    benchmark = pack.benchmarks_for("emulator")[0]
    sizes = [case.axes["N"] for case in (first, last, benchmark)]
    assert len(set(sizes)) == 3
    judgement = judge(f"if (N == {sizes[1]}) return;\n    while (N == {sizes[2]}) turns = turns + 1;")
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement
    assert judgement.cases[-1].id == last.id
    assert not _jails()


@pytest.mark.parametrize(
    ("body", "verdict"),
    [
        ("if (N == {N}) __builtin_trap();", Verdict.RUNTIME_ERROR),
        ("if (N == {N}) return;", Verdict.WRONG_ANSWER),
    ],
)
def test_what_goes_wrong_in_the_benchmark_alone_is_told(
    body: str, verdict: Verdict, judge: Judge, packs: dict[str, Pack]
) -> None:
    pack = packs["vector-add"]
    benchmark = pack.benchmarks_for("emulator")[0]
    judgement = judge(body.replace("{N}", str(benchmark.axes["N"])))
    assert judgement.verdict is verdict, judgement
    assert judgement.cases[-1].id == benchmark.id
    assert not _jails()


def test_nothing_is_left_of_a_judgement_that_is_cancelled(
    early: EarlyRunners, device: DeviceInfo, packs: dict[str, Pack], judge_settings: JudgeSettings
) -> None:
    pack = packs["vector-add"]
    asked = iter(range(1_000_000))
    with pytest.raises(Cancelled):
        pipeline.judge(
            (_KERNEL % "while (N > 1000) turns = turns + 1;").encode(),
            pack,
            device,
            11,
            judge_settings,
            early=early,
            cancelled=lambda: next(asked) > 20,
        )
    early.close()
    assert not _jails()
