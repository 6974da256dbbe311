"""From source to judgement on the emulator: nvcc, the jail, the runner, the supervisor, nothing in between replaced."""

from __future__ import annotations

import contextlib
import json
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from emulator.model import MODEL_VERSION
from judge import pipeline
from judge.backends.emulator.backend import EmulatorBackend
from judge.backends.registry import BUILTIN_BACKENDS
from judge.bench.background import Background
from judge.errors import Cancelled
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.judgement_json import to_json
from judge.measurements import ModelledCase
from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.pipeline import Mode, Progress
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import RunnerSpec
from judge.verdict import Verdict
from tests.gpu import kernels

pytestmark = [pytest.mark.jail, pytest.mark.nvcc]

#: How a judgement words it. What is found is the matter of tests/integration/emulator/runtime/test_checks.py.
FOUND_BY_THE_EMULATOR = pytest.mark.exhaustive(by_file=True)

Judge = Callable[..., Judgement]


@pytest.fixture(scope="module")
def device(judge_settings: JudgeSettings) -> DeviceInfo:
    return BUILTIN_BACKENDS.find_device("emulator", judge_settings)


@pytest.fixture(scope="module")
def judge(packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings) -> Judge:
    def run(source: str, slug: str = "vector-add", mode: Mode = Mode.RUN, **extra: object) -> Judgement:
        return pipeline.judge(source.encode(), packs[slug], device, 11, judge_settings, mode=mode, **extra)  # type: ignore[arg-type]

    return run


def test_an_honest_kernel_is_accepted_and_scored(judge: Judge, packs: dict[str, Pack]) -> None:
    heard: list[Progress] = []
    judgement = judge(kernels.HONEST, mode=Mode.SUBMIT, progress=heard.append)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    pack = packs["vector-add"]
    assert [case.id for case in judgement.cases] == [
        case.id for case in (*pack.cases_for("emulator"), *pack.benchmarks_for("emulator"))
    ]
    score = judgement.measurement
    assert score is not None
    assert (score.metric, score.runs, score.spread, score.gb_per_s) == ("modelled_time_s", 1, 0.0, None)
    assert score.scale == f"modelled_time_s/h200/{MODEL_VERSION}"
    made_with = score.fingerprint
    assert (made_with.pack, made_with.pack_digest) == (f"vector-add {pack.version}", pack.digest)
    assert made_with.nvcc
    assert f"-std={pack.build.std}" in made_with.nvcc_flags
    n = pack.benchmarks_for("emulator")[0].axes["N"]
    assert 12 * n / 4.8e12 < score.value < 2 * 12 * n / 4.8e12 + 10e-6
    (details,) = score.cases
    assert isinstance(details, ModelledCase)
    assert 5 * n / 32 < details.warp_instructions < 50 * n / 32
    line = 1 + kernels.HONEST[: kernels.HONEST.index("C[i] = A[i]")].count("\n")
    assert (details.lines[0].file, details.lines[0].line) == ("kernel.cu", line)
    assert details.kernels[0].registers == judgement.build.registers
    assert details.why[0].startswith("limited by ")
    stages = [progress.stage for progress in heard]
    assert stages[:3] == ["building", "built", "running"]
    assert stages.count("case") == len(pack.cases_for("emulator"))
    assert [progress.done for progress in heard if progress.stage == "case"] == list(range(1, stages.count("case") + 1))
    assert json.loads(json.dumps(to_json(judgement)))["verdict"] == "AC"


_PRINTING = """#include <cstdio>
#include <cstdlib>
__global__ void add(const float* a, const float* b, float* c, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
    if (i == 0) printf("kernel: %d elements\\n", n);
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    fprintf(stderr, "host: \\x1b[1m%d elements\\n", N);
    add<<<(N + 255) / 256, 256>>>(A, B, C, N);
    cudaDeviceSynchronize();
    if (N == ABORT_AT) abort();
}
"""


def test_what_a_program_prints_is_told_by_case_and_only_of_public_ones(judge: Judge) -> None:
    cases = judge(_PRINTING.replace("ABORT_AT", "-1"), mode=Mode.SUBMIT).cases
    assert {case.group for case in cases} == {"sample", "hidden", "benchmark"}
    for case in cases:
        told = case.output.splitlines()
        if case.group != "sample":
            assert not told
        else:
            assert len(told) == 2
            (host,), (kernel,) = ([line for line in told if line.startswith(who)] for who in ("host", "kernel"))
            assert host.replace("\ufffd[1m", "").partition(": ")[2] == kernel.partition(": ")[2]


@FOUND_BY_THE_EMULATOR
def test_what_a_program_printed_before_it_crashed_is_told(judge: Judge, packs: dict[str, Pack]) -> None:
    first, *_ = packs["vector-add"].cases_for("emulator")
    assert first.group == "sample"
    (case, *_) = judge(_PRINTING.replace("ABORT_AT", str(first.axes["N"]))).cases
    assert case.verdict is Verdict.RUNTIME_ERROR
    assert f"{first.axes['N']} elements\n" in case.output


def test_cases_that_are_not_judged_after_crashes_are_counted(judge: Judge, packs: dict[str, Pack]) -> None:
    cases = judge(kernels.vector_add("abort();"), mode=Mode.SUBMIT).cases
    left = len(packs["vector-add"].cases_for("emulator")) - len(cases)
    assert left > 1
    assert cases[-1].message.endswith(f" in solve; the {left} cases after it were not judged")
    assert not any("not judged" in case.message for case in cases[:-1])


def test_the_score_is_the_same_each_time(judge: Judge) -> None:
    first, second = (judge(kernels.HONEST, mode=Mode.SUBMIT).measurement for _ in range(2))
    assert first is not None
    assert first == second


def test_host_code_cannot_do_the_kernels_work(judge: Judge) -> None:
    judgement = judge(kernels.vector_add("for (int i = 0; i < N; i++) C[i] = A[i] + B[i];"), mode=Mode.SUBMIT)
    assert judgement.verdict is Verdict.RUNTIME_ERROR, judgement
    assert "SIGSEGV" in judgement.message
    assert judgement.measurement is None


def test_what_the_emulator_does_not_support_is_said_of_every_case(judge: Judge) -> None:
    uses = """int sum; asm volatile("vadd4.u32.u32.u32 %0, %1, %1, %1;" : "=r"(sum) : "r"(0)); if (sum) C[0] = 1;"""
    kernel = f"__global__ void quads(float* C) {{ {uses} }}"
    judgement = judge(kernels.vector_add(f"quads<<<1, 1>>>(C); {kernels.LAUNCH}", before=kernel), mode=Mode.SUBMIT)
    judged = [case for case in judgement.cases if case.verdict is not None]
    assert len(judged) > 1
    assert {case.verdict for case in judged} == {Verdict.RUNTIME_ERROR}
    assert all("not supported by the emulator: the instruction vadd4" in case.message for case in judged), judged


def test_run_judges_the_samples_and_scores_nothing(judge: Judge) -> None:
    judgement = judge(kernels.HONEST)
    assert {case.group for case in judgement.cases} == {"sample"}
    assert judgement.measurement is None


@pytest.mark.exhaustive(by_file=True)
@pytest.mark.parametrize(
    ("name", "verdict", "words"),
    [
        ("READS_BEHIND", "AC", ""),
        ("ADDS_INTO_THE_OUTPUT", "AC", ""),
        ("ALLOCATES", "AC", ""),
        ("WRITES_BEHIND", "RE", "out-of-bounds write"),
        ("WRITES_BEFORE", "RE", "out-of-bounds write"),
        ("CHANGES_INPUT", "RE", "changed its input A"),
        ("ILLEGAL_ADDRESS", "RE", ""),
        ("MISALIGNED", "RE", ""),
        ("TRAP", "RE", ""),
        ("WANTS_TOO_MUCH", "MLE", "cudaErrorMemoryAllocation"),
        ("EXITS", "RE", "exit(0)"),
        ("FORKS", "SV", "system call"),
        ("PRINTS_A_LOT", "OLE", "printed more"),
    ],
)
def test_verdict(judge: Judge, name: str, verdict: str, words: str) -> None:
    judgement = judge(getattr(kernels, name))
    assert judgement.verdict.value == verdict, judgement
    assert words in judgement.message


@pytest.mark.exhaustive(by_file=True, costly=True)
@pytest.mark.parametrize("mode", [Mode.RUN, Mode.CHECK])
def test_an_endless_kernel_is_stopped_after_the_limit(judge: Judge, mode: Mode) -> None:
    judgement = judge(kernels.ENDLESS, mode=mode)
    assert judgement.verdict is Verdict.TIME_LIMIT_EXCEEDED, judgement
    judged = [case for case in judgement.cases if case.verdict is Verdict.TIME_LIMIT_EXCEEDED]
    # A run ends with the first; another judgement goes on, with checks and without them.
    assert (len(judged) == 1) is (mode is Mode.RUN)
    for case in judged:
        assert case.message.startswith("endless loop at kernel.cu:")
        assert "stopped after 4 s" in case.message


@FOUND_BY_THE_EMULATOR
def test_what_is_printed_beyond_what_is_kept_is_cut_with_a_note(judge: Judge) -> None:
    judgement = judge(kernels.PRINTS_MUCH)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    first = judgement.cases[0].output
    assert first.startswith("hello from the device\n")
    assert first.endswith("… cut here: it printed 720,896 bytes")
    assert len(first) < 9000


@FOUND_BY_THE_EMULATOR
def test_a_stray_write_is_named_by_file_line_thread_and_block(judge: Judge) -> None:
    source = kernels.HONEST.replace("if (i < N) C[i]", "C[i]")
    case = judge(source).cases[0]
    line = 1 + source[: source.index("C[i] =")].count("\n")
    fault = next(fault for fault in case.memory_errors if "write" in fault.kind)
    assert (fault.file, fault.line) == ("kernel.cu", line)
    # Of four elements the fifth thread is the first outside, but another warp may come first: their order is random.
    warp = fault.thread[0] // 32
    assert (fault.block, fault.thread) == ((0, 0, 0), (max(4, 32 * warp), 0, 0))


@FOUND_BY_THE_EMULATOR
def test_a_stray_read_is_a_warning(judge: Judge) -> None:
    case = judge(kernels.READS_BEHIND).cases[0]
    assert case.verdict is Verdict.ACCEPTED
    assert any("read" in fault.kind for fault in case.memory_errors)


RACE = """
__global__ void reverse(const float* A, const float* B, float* C, int N) {
    __shared__ float tile[256];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[threadIdx.x] = i < N ? A[i] + B[i] : 0;
    if (i < N) C[i] = tile[255 - threadIdx.x] + tile[threadIdx.x];
}
"""


@FOUND_BY_THE_EMULATOR
def test_a_stray_read_that_changes_the_answer_is_wrong(judge: Judge) -> None:
    assert judge(kernels.ZERO_TIMES_WHAT_LIES_BEHIND).verdict is Verdict.ACCEPTED
    assert judge(kernels.ADDS_WHAT_LIES_BEHIND).verdict is Verdict.WRONG_ANSWER


@FOUND_BY_THE_EMULATOR
def test_a_wrong_answer_comes_with_the_race_behind_it(judge: Judge) -> None:
    source = kernels.vector_add("reverse<<<(N + 255) / 256, 256>>>(A, B, C, N);", RACE)
    judgement = judge(source)
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement
    assert "race on shared memory" in judgement.message
    wrong = next(case for case in judgement.cases if case.verdict is Verdict.WRONG_ANSWER)
    race = next(fault for fault in wrong.memory_errors if fault.other is not None)
    lines = [1 + source[: source.rindex(text)].count("\n") for text in ("tile[threadIdx.x] = ", "if (i < N) C[i]")]
    assert race.other is not None
    assert {race.line, race.other.line} == set(lines)
    assert race.thread != race.other.thread


#: Without a second barrier, who goes on first overwrites tiles that the others still read. Where all get as far
#: as the next round of the loop before one goes on, that does not show.
ONE_BARRIER_A_TILE = """
__global__ void product(const float* A, const float* B, float* C, int M, int K, int N) {
    __shared__ float a[16][16], b[16][16];
    const int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
    float sum = 0;
    for (int first = 0; first < K; first += 16) {
        a[y][x] = row < M && first + x < K ? A[row * K + first + x] : 0;
        b[y][x] = first + y < K && column < N ? B[(first + y) * N + column] : 0;
        __syncthreads();
        for (int k = 0; k < 16; k++) sum += a[y][k] * b[k][x];
    }
    if (row < M && column < N) C[row * N + column] = sum;
}
extern "C" void solve(const float* A, const float* B, float* C, int M, int N, int K) {
    product<<<dim3((K + 15) / 16, (M + 15) / 16), dim3(16, 16)>>>(A, B, C, M, N, K);
}
"""


@FOUND_BY_THE_EMULATOR
def test_a_warp_that_overwrites_what_others_read_is_found(device: DeviceInfo, judge_settings: JudgeSettings) -> None:
    pack = load_pack(Path(__file__).parents[2] / "challenges" / "matmul")
    judgement = pipeline.judge(ONE_BARRIER_A_TILE.encode(), pack, device, 11, judge_settings, mode=Mode.SUBMIT)
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement
    assert any("in another order of threads: race on shared memory" in case.message for case in judgement.cases)


@FOUND_BY_THE_EMULATOR
def test_a_launch_that_is_not_possible_is_named(judge: Judge) -> None:
    judgement = judge(kernels.TOO_MANY_THREADS)
    assert judgement.verdict is Verdict.RUNTIME_ERROR
    assert "cudaErrorInvalidConfiguration" in judgement.message


def test_what_does_not_compile_says_why(judge: Judge) -> None:
    judgement = judge(kernels.vector_add("add<<<1, 1>>>(A, B, D, N);"))
    assert judgement.verdict is Verdict.COMPILE_ERROR
    assert '"D" is undefined' in judgement.build.log
    assert judgement.cases == ()


def test_wrong_answers_go_on_to_the_last_case(judge: Judge, packs: dict[str, Pack]) -> None:
    judgement = judge(kernels.vector_add("if (N != 4) " + kernels.LAUNCH), mode=Mode.SUBMIT)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert len(judgement.cases) == len(packs["vector-add"].cases_for("emulator"))
    assert [case.verdict for case in judgement.cases][1:] == [Verdict.ACCEPTED] * (len(judgement.cases) - 1)
    assert judgement.measurement is None
    mismatch = judgement.cases[0].mismatch
    assert mismatch is not None
    assert mismatch.indices[0] == (0,)


def test_cancelling_ends_a_kernel_that_would_not(judge: Judge) -> None:
    wanted = threading.Event()
    heard: list[Progress] = []

    def progress(event: Progress) -> None:
        heard.append(event)
        if event.stage == "running":
            wanted.set()

    with pytest.raises(Cancelled):
        judge(kernels.ENDLESS, progress=progress, cancelled=wanted.is_set)
    assert "case" not in [event.stage for event in heard]


def test_a_run_has_the_time_of_the_smallest_benchmark_and_no_score(judge: Judge, packs: dict[str, Pack]) -> None:
    run, submitted = judge(kernels.HONEST), judge(kernels.HONEST, mode=Mode.SUBMIT)
    pack = packs["vector-add"]
    assert {case.group for case in run.cases} == {"sample"}
    assert run.measurement is None
    assert run.unranked is not None
    assert submitted.measurement is not None
    assert (run.unranked.value, run.unranked.scale) == (submitted.measurement.value, submitted.measurement.scale)
    assert [case.id for case in run.unranked.cases] == [case.id for case in pack.benchmarks_for("emulator")]
    assert isinstance(run.unranked.cases[0], ModelledCase)
    assert run.unranked.cases[0].lines
    assert submitted.unranked is None
    assert run.message == ""


def test_a_run_is_right_by_its_public_cases_and_says_why_it_has_no_time(judge: Judge) -> None:
    right_for_few = kernels.HONEST.replace("(N + 255) / 256", "(N < 100000 ? (N + 255) / 256 : 1)")
    assert right_for_few != kernels.HONEST
    judgement = judge(right_for_few)
    assert judgement.verdict is Verdict.ACCEPTED
    assert judgement.unranked is None
    assert judgement.message.startswith("not timed: ")


def test_a_run_that_is_wrong_is_not_timed(judge: Judge) -> None:
    judgement = judge(kernels.vector_add(""))
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert judgement.unranked is None
    assert not judgement.message.startswith("not timed")


def test_building_and_running_apart_gives_the_same(
    packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings, judge: Judge
) -> None:
    pack = packs["vector-add"]
    report, artifact = pipeline.build(kernels.HONEST.encode(), pack, device, judge_settings)
    assert artifact is not None
    apart = pipeline.run(artifact, report, pack, device, 11, judge_settings)
    assert apart.verdict is Verdict.ACCEPTED
    assert apart.measurement == judge(kernels.HONEST, mode=Mode.SUBMIT).measurement


def test_the_device_is_let_go_of_behind_the_judgement(
    packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end, held = threading.Event(), [True]

    @contextlib.contextmanager
    def lock(*_: object, **__: object) -> Iterator[None]:
        yield
        assert may_end.wait(60)
        held.clear()

    monkeypatch.setattr(EmulatorBackend, "hold", lock)
    pack, background = packs["vector-add"], Background()
    report, artifact = pipeline.build(kernels.HONEST.encode(), pack, device, judge_settings)
    assert artifact is not None
    judgement = pipeline.run(artifact, report, pack, device, 11, judge_settings, mode=Mode.RUN, background=background)
    assert judgement.verdict is Verdict.ACCEPTED
    assert held
    may_end.set()
    background.wait()
    assert not held
    background.close()


def test_a_machine_that_cannot_is_an_internal_error(
    packs: dict[str, Pack], device: DeviceInfo, judge_settings: JudgeSettings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pack = packs["vector-add"]
    report, artifact = pipeline.build(kernels.HONEST.encode(), pack, device, judge_settings)
    assert artifact is not None
    spec = RunnerSpec("judge.gpu.missing")
    monkeypatch.setattr(EmulatorBackend, "runner_spec", lambda *_: spec)
    judgement = pipeline.run(artifact, report, pack, device, 11, judge_settings)
    assert judgement.verdict is Verdict.INTERNAL_ERROR
    assert "No module named" in judgement.message


def test_a_compile_error_as_a_judgement(packs: dict[str, Pack], device: DeviceInfo) -> None:
    judgement = pipeline.compile_error(BuildReport(ok=False, wall_s=1.0, log="no"), packs["vector-add"], device)
    assert (judgement.verdict, judgement.build.log, judgement.cases) == (Verdict.COMPILE_ERROR, "no", ())


#: Only vectors of more than 64 blocks of 256 need a second round, and the first threads of a block that come to it
#: overwrite what the last ones still read.
NO_BARRIER_AT_THE_END_OF_A_ROUND = """
__global__ void add(const float* A, const float* B, float* C, int N) {
    __shared__ float tile[256];
    const int t = threadIdx.x;
    for (int first = 256 * blockIdx.x; first < N; first += 256 * gridDim.x) {
        tile[t] = first + t < N ? A[first + t] + B[first + t] : 0;
        __syncthreads();
        if (first + 255 - t < N) C[first + 255 - t] = tile[255 - t];
    }
}
extern "C" void solve(const float* A, const float* B, float* C, int N) {
    add<<<64, 256>>>(A, B, C, N);
}
"""


@FOUND_BY_THE_EMULATOR
def test_a_missing_barrier_that_only_large_cases_reach_is_found(judge: Judge) -> None:
    judgement = judge(NO_BARRIER_AT_THE_END_OF_A_ROUND, mode=Mode.SUBMIT)
    assert judgement.verdict is Verdict.WRONG_ANSWER, judgement
    assert "race on shared memory at kernel.cu:6" in judgement.message
