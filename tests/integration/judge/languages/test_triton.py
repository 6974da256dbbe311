"""Triton submissions through the whole judge on the emulator: verdicts, messages, lines, and builds for a GPU."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import re
from collections.abc import Callable
from pathlib import Path

import pytest

from emulator.fat_binaries import fat_binaries
from emulator.runtime.fatbinary import cubins
from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.assembly import Assembly, NotAssembled
from judge.compile.assembly_json import from_json, to_json
from judge.compile.target import Target
from judge.judgement import Judgement
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.languages.triton import building
from judge.measurements import ModelledCase
from judge.packs.custom.case import with_custom_case
from judge.packs.pack import Pack
from judge.pipeline import Mode
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.triton]

TRITON = BUILTIN_LANGUAGES.of("triton")
SOLUTIONS = sorted(ROOT.glob("reference_solutions/*/*.py"))
HEAD = """\
import torch
import triton
import triton.language as tl


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


"""
LAUNCH = "    add[(triton.cdiv(N, 256),)](A, B, C, N, BLOCK=256)\n"
HONEST = f"{HEAD}def solve(A, B, C, N):\n{LAUNCH}"

Judge = Callable[..., Judgement]


@pytest.fixture(scope="module")
def vector_add(packs: dict[str, Pack]) -> Pack:
    return packs["vector-add"].in_language("triton")


@pytest.fixture(scope="module")
def judge(judge_settings: JudgeSettings, vector_add: Pack) -> Judge:
    emulator = BUILTIN_BACKENDS.find_device("emulator", judge_settings)

    def run(source: str | bytes, pack: Pack = vector_add, mode: Mode = Mode.RUN) -> Judgement:
        data = source if isinstance(source, bytes) else source.encode()
        return pipeline.judge(data, pack, emulator, 3, judge_settings, mode=mode)

    return run


@pytest.mark.exhaustive(share=30)
@pytest.mark.parametrize("path", SOLUTIONS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_our_own_kernels_are_accepted(path: Path, judge: Judge, packs: dict[str, Pack]) -> None:
    judgement = judge(path.read_bytes(), packs[path.parent.name].in_language("triton"), Mode.SUBMIT)
    assert judgement.verdict is Verdict.ACCEPTED, judgement.message
    assert judgement.measurement is not None
    assert not [fault for case in judgement.cases for fault in case.memory_errors]
    (case,) = judgement.measurement.cases
    assert isinstance(case, ModelledCase)
    length = path.read_text(encoding="utf-8").count("\n")
    assert {line.file for line in case.lines if line.line} == {"kernel.py"}
    assert all(line.line <= length for line in case.lines)


def test_the_profile_names_the_lines_of_the_file(judge: Judge) -> None:
    judgement = judge(HONEST, mode=Mode.SUBMIT)
    assert judgement.measurement is not None
    (case,) = judgement.measurement.cases
    assert isinstance(case, ModelledCase)
    assert case.lines[0].line == 10
    assert judgement.build.registers
    assert {kernel.kernel for kernel in judgement.build.kernels} == {"add", "add_2"}


def test_a_number_may_come_before_an_array(judge: Judge) -> None:
    swapped = HONEST.replace("def add(a, b, c, n,", "def add(n, a, b, c,").replace(
        "(A, B, C, N, BLOCK", "(N, A, B, C, BLOCK"
    )
    assert judge(swapped).verdict is Verdict.ACCEPTED


def test_a_block_that_is_too_large_is_told(judge: Judge) -> None:
    lane = "lane = tl.arange(0, BLOCK)\n    at = tl.program_id(0) * 32 + lane"
    wasteful = HONEST.replace("at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)", lane)
    wasteful = wasteful.replace("at < n", "(at < n) & (lane < 32)").replace("cdiv(N, 256)", "cdiv(N, 32)")
    judgement = judge(wasteful.replace("BLOCK=256", "BLOCK=1024"), mode=Mode.SUBMIT)
    assert judgement.measurement is not None
    (case,) = judgement.measurement.cases
    assert isinstance(case, ModelledCase)
    assert "the loads are masked off in 31 of 32 lanes (kernel.py:11): BLOCK is far larger" in "; ".join(case.why)


@pytest.mark.exhaustive(share=3)
@pytest.mark.parametrize(
    ("blocks", "told"),
    [
        (
            (32, 256),
            r"autotune: add takes configuration 2, the fastest as modelled: 2 of 2 \(BLOCK=256\) \d.* µs; 1 of",
        ),
        (
            (256, 32),
            r"autotune: add takes configuration 1, the fastest as modelled: 1 of 2 \(BLOCK=256\) \d.* µs; 2 of",
        ),
        ((256, 250), r"autotune: add takes configuration 1 of 2 \(BLOCK=256\), since no other compiles: kernel.py"),
        ((64, 250, 32), r"autotune: add takes .* µs; 2 of 3 \(BLOCK=250\) does not compile"),
        ((250, 64), r"autotune: add takes configuration 2 of 2 \(BLOCK=64\), since the first does not compile: kernel"),
        ((250, 60), ""),
    ],
)
def test_which_configuration_an_autotuned_kernel_takes_is_told(
    blocks: tuple[int, ...], told: str, judge: Judge
) -> None:
    configs = ", ".join(f'triton.Config({{"BLOCK": {block}}})' for block in blocks)
    tuned = HONEST.replace("@triton.jit", f'@triton.autotune([{configs}], key=["n"])\n@triton.jit')
    launch = 'add[lambda meta: (triton.cdiv(N, meta["BLOCK"]),)](A, B, C, N)'
    judgement = judge(tuned.replace("add[(triton.cdiv(N, 256),)](A, B, C, N, BLOCK=256)", launch), mode=Mode.SUBMIT)
    if not told:
        assert "power of 2" in judgement.build.log
        return
    assert judgement.verdict is Verdict.ACCEPTED
    (note,) = judgement.build.notes
    assert re.match(told, note), note


def test_a_missing_mask_is_told_by_its_line(judge: Judge) -> None:
    judgement = judge(HONEST.replace(", mask=inside", ""))
    assert judgement.verdict is Verdict.RUNTIME_ERROR
    assert "kernel.py:10 in add" in judgement.message
    assert judgement.message.endswith("does its mask leave out what lies behind the end?")
    assert {fault.line for fault in judgement.cases[0].memory_errors} == {10}


def test_a_race_is_told_by_its_lines(judge: Judge) -> None:
    end = "mask=inside)\n\n\ndef"
    racing = HONEST.replace(end, end.replace("\n\n\n", "\n    tl.store(c, tl.program_id(0).to(tl.float32))\n\n\n"))
    racing = racing.replace("cdiv(N, 256)", "cdiv(N, 256) + 3")
    judgement = judge(racing)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    kinds = {fault.kind: fault.line for case in judgement.cases for fault in case.memory_errors}
    assert any("race" in kind and line in (10, 11) for kind, line in kinds.items()), kinds


def test_scratch_that_nobody_wrote_is_told(judge: Judge) -> None:
    solve = "def solve(A, B, C, N):\n    D = torch.empty_like(A)\n" + LAUNCH.replace("(A, B,", "(A, D,")
    judgement = judge(HEAD + solve)
    assert judgement.verdict is Verdict.WRONG_ANSWER
    assert any("uninitialized" in fault.kind for case in judgement.cases for fault in case.memory_errors)


@pytest.mark.parametrize(
    ("source", "verdict", "message"),
    [
        (HONEST.replace("def solve", "def slove"), "CE", "There is no function `solve`"),
        (f"{HEAD}def solve(A, B, C):\n    pass\n", "CE", "cannot be called as solve(A, B, C, N)"),
        (f"{HEAD}def solve(A, B, C, N)\n    pass\n", "CE", "kernel.py:13: error: SyntaxError"),
        ("#include <cuda_runtime.h>\nvoid solve() {}\n", "CE", "This is CUDA C++"),
        ("import pandas\n" + HONEST, "CE", "No module named 'pandas'"),
        (HONEST.replace("at < n", "at < m"), "CE", "kernel.py:9:19: error: NameError"),
        (
            HONEST.replace("inside = at < n", "inside = tl.zeros((3,), tl.int1)"),
            "CE",
            "kernel.py:9:14: error: Shape element",
        ),
        (HONEST.replace("BLOCK=256", "BLOCK=250"), "CE", "power of 2"),
        (
            HONEST.replace("mask=inside) +", 'mask=inside, cache_modifier=".cg", eviction_policy="evict_first") +'),
            "CE",
            "kernel.py:10: error: ptxas does not take what Triton made of this line: Modifier",
        ),
        (f"{HEAD}import os\nos._exit(0)\ndef solve(A, B, C, N): ...\n", "CE", "ends the process"),
        (f"{HEAD}def solve(A, B, C, N):\n    solve(A, B, C, N)\n", "RE", "RecursionError"),
        (f"{HEAD}def solve(A, B, C, N):\n{LAUNCH}    raise ValueError(1)\n", "RE", "py:15: error: ValueError: 1"),
        (f"{HEAD}def solve(A, B, C, N):\n    exit(0)\n", "RE", "solve raised an exception"),
        (f"{HEAD}def solve(A, B, C, N):\n    C.add_(A)\n", "RE", "Tensor.add_ is not there"),
        (f"{HEAD}def solve(A, B, C, N):\n    torch.add(A, B)\n", "RE", "torch.add is not there"),
        (
            f"{HEAD}from triton.tools.tensor_descriptor import TensorDescriptor\ndef solve(A, B, C, N):\n"
            "    TensorDescriptor.from_tensor(A, [64])\n",
            "RE",
            "make the descriptor in the kernel by tl.make_tensor_descriptor",
        ),
        (f"{HEAD}def solve(A, B, C, N):\n    pass\n", "WA", ""),
    ],
)
def test_what_is_wrong_is_said(source: str, verdict: str, message: str, judge: Judge) -> None:
    judgement = judge(source)
    assert (judgement.verdict.value, message) == (verdict, message)
    assert message in judgement.message + judgement.build.log


def test_endless_host_code_is_stopped(judge: Judge, vector_add: Pack) -> None:
    hasty = dataclasses.replace(vector_add, limits=dataclasses.replace(vector_add.limits, wall_s=1.0))
    endless = "while True: time.sleep(0.01)\n"
    judgement = judge(f"{HEAD}import time\n\ndef solve(A, B, C, N):\n    {endless}", hasty)
    assert judgement.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert "at the top of the file takes longer" in judge(f"import time\nsolve = 1\n{endless}").build.log


def test_too_much_shared_memory_is_told_with_the_numbers(judge: Judge) -> None:
    source = """
import triton
import triton.language as tl


@triton.jit
def product(a, b, c, T: tl.constexpr):
    r = tl.arange(0, T)
    at = r[:, None] * T + r[None, :]
    total = tl.zeros((T, T), tl.float32)
    for k in range(0, 10):
        total = tl.dot(tl.load(a + at + k), tl.load(b + at + k), total)
    tl.store(c + at, total)


def solve(A, B, C, N):
    product[(1,)](A, B, C, T=128, num_stages=4, num_warps=8)
"""
    assert "bytes of shared memory a block, and there are 166,912" in judge(source).build.log


def test_a_launch_that_was_not_foreseen_is_told_by_its_constants(judge: Judge) -> None:
    block = "block = 128 if 'judge.runner.main' in sys.modules else 256"
    source = f"{HEAD}import sys\n{block}\ndef solve(A, B, C, N):\n{LAUNCH}".replace("BLOCK=256", "BLOCK=block")
    judgement = judge(source)
    assert judgement.verdict is Verdict.RUNTIME_ERROR
    assert "nothing was compiled for add with a: *fp32, b: *fp32, c: *fp32, n: i32, BLOCK=128" in judgement.message


def test_what_kernels_and_hosts_print_is_shown(judge: Judge) -> None:
    printing = HONEST.replace("    inside =", "    tl.device_print('at', at)\n    inside =")
    printing = printing.replace("N):\n", "N):\n    print('host of', N)\n")
    output = judge(printing).cases[0].output
    assert "host of 4" in output
    assert re.search(r"^pid \(0, 0, 0\) idx \( *3\) at: 3$", output, re.MULTILINE)


def test_scratch_sorting_scans_atomics_and_tensor_descriptors(judge: Judge) -> None:
    source = """
import gpujudge_triton
import triton
import triton.language as tl


@triton.jit
def plus(a, b):
    return a + b


@triton.jit
def turn(x, y, n, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    block = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
    value = block.load([tl.program_id(0) * BLOCK])
    tl.device_assert(tl.max(tl.sort(value), 0) == tl.max(value, 0))
    running = tl.associative_scan(value, 0, plus)
    tl.store(y + tl.program_id(0) * BLOCK + at, value + 0 * running, mask=tl.program_id(0) * BLOCK + at < n)


@triton.jit
def add(a, b, c, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    tl.atomic_add(c + at, tl.load(a + at, mask=inside) * 0, mask=inside)
    tl.store(c + at, tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside), mask=inside)


def solve(A, B, C, N):
    copy = gpujudge_triton.empty(N, dtype=A.dtype)
    turn[(triton.cdiv(N, 64),)](B, copy, N, BLOCK=64)
    add[(triton.cdiv(N, 256),)](A, B[:], C, N, BLOCK=256)
"""
    assert judge(source).verdict is Verdict.ACCEPTED


def test_arguments_in_tuples(judge: Judge) -> None:
    packed = HONEST.replace("def add(a, b, c, n,", "def add(arrays, n,").replace(
        "(A, B, C, N, BLOCK", "((A, (B, C)), N, BLOCK"
    )
    packed = packed.replace("    inside =", "    a, (b, c) = arrays\n    inside =")
    assert judge(packed).verdict is Verdict.ACCEPTED


def test_eight_bit_floats_have_code_of_a_later_architecture(judge: Judge, packs: dict[str, Pack]) -> None:
    source = """
import triton
import triton.language as tl


@triton.jit
def product(A, B, C, scale, M, N, K, T: tl.constexpr):
    m = tl.program_id(0) * T + tl.arange(0, T)[:, None]
    n = tl.program_id(1) * T + tl.arange(0, T)[None, :]
    total = tl.zeros((T, T), tl.float32)
    for first in range(0, K, T):
        k = first + tl.arange(0, T)
        a = tl.load(A + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        b = tl.load(B + n * K + k[:, None], mask=(n < N) & (k[:, None] < K), other=0.0)
        total = tl.dot(a, b, total)
    tl.store(C + m * N + n, (total * scale).to(tl.float16), mask=(m < M) & (n < N))


def solve(A, B, C, scale_a, scale_b, M, N, K):
    product[(triton.cdiv(M, 32), triton.cdiv(N, 32))](A, B, C, scale_a * scale_b, M, N, K, T=32)
"""
    assert judge(source, packs["fp8-gemm"].in_language("triton")).verdict is Verdict.ACCEPTED


def test_an_input_of_ones_own_is_looked_ahead_at_too(judge: Judge, vector_add: Pack) -> None:
    by_size = HONEST.replace("BLOCK=256", "BLOCK=triton.next_power_of_2(N)").replace("cdiv(N, 256)", "cdiv(N, N)")
    custom = with_custom_case(vector_add, {"N": "2500"}, "emulator")
    assert judge(by_size, custom).verdict is Verdict.ACCEPTED


def test_the_same_source_is_built_once(judge_settings: JudgeSettings, tmp_path: Path, vector_add: Pack) -> None:
    fresh = dataclasses.replace(judge_settings, data_dir=tmp_path)
    target = Target("emulator", "compute_80")
    builds = [TRITON.build(HONEST.encode(), vector_add, target, fresh)[0] for _ in range(2)]
    assert [report.cached for report in builds] == [False, True]


@pytest.mark.parametrize("path", [path for path in SOLUTIONS if path.parent.name in ("gemm", "softmax")], ids=str)
def test_it_is_built_for_a_gpu(path: Path, packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    pack = packs[path.parent.name].in_language("triton")
    report, artifact = TRITON.build(path.read_bytes(), pack, Target("cuda", "sm_90"), judge_settings)
    assert artifact is not None, report.log
    images = [cubin for binary in fat_binaries(artifact.library) for cubin in cubins(binary)]
    assert images
    assert {image.architecture for image in images} == {90}


def test_its_listings_have_the_lines_of_the_file(vector_add: Pack, judge_settings: JudgeSettings) -> None:
    made = TRITON.assemble(HONEST.encode(), vector_add, "sm_80", judge_settings)
    assert isinstance(made, Assembly)
    assert {function.symbol for function in made.functions} == {"add", "add_2"}
    assert made.kinds == TRITON.listings
    for function in made.functions:
        for kind in TRITON.listings:
            assert {8, 9, 10} <= {each.line for each in function.listing(kind)}, kind
        assert f"@{function.symbol}(" in "".join(each.text for each in function.ttir)
    assert from_json(to_json(made)) == made
    refused = TRITON.assemble(b"solve = 1", vector_add, "sm_80", judge_settings)
    assert isinstance(refused, NotAssembled)


def test_a_machine_that_only_runs_submissions_needs_no_triton(
    vector_add: Pack, judge_settings: JudgeSettings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def absent(name: str) -> str:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr("judge.languages.triton.language._is_installed", lambda: False)
    monkeypatch.setattr(importlib.metadata, "version", absent)
    building.version.cache_clear()
    building._identity.cache_clear()
    fresh = dataclasses.replace(judge_settings, data_dir=tmp_path)
    made = TRITON.build_null_kernel(vector_add, Target("cuda", "sm_90"), fresh)
    assert made.compiler_version == "Triton"
    building.version.cache_clear()
    building._identity.cache_clear()


def test_python_sent_as_cuda_is_told(packs: dict[str, Pack], judge: Judge) -> None:
    assert "This is Python" in judge(HONEST, packs["vector-add"]).build.log
