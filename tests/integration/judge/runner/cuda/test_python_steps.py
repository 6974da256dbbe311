"""The driver calls of a Triton submission are recorded, and replayed on other buffers, on the emulator's driver."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest

from judge.compile.target import Target
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.wire.python_program import unpack_program
from tests.emulated_programs import emulate

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.triton, pytest.mark.usefixtures("library")]

#: Scratch memory that is kept, filled by a pattern, copied into and used by descriptors; two kernels.
SOURCE = b"""
import torch
import triton
import triton.language as tl


@triton.jit
def copy(x, y, n, BLOCK: tl.constexpr):
    block = tl.make_tensor_descriptor(x, [n], [1], [BLOCK])
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + at, block.load([tl.program_id(0) * BLOCK]), mask=at < n)


@triton.jit
def add(a, b, c, more, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    inside = at < n
    total = tl.load(a + at, mask=inside) + tl.load(b + at, mask=inside) + tl.load(more)
    tl.store(c + at, total, mask=inside)


def solve(A, B, C, N):
    left, right = torch.empty_like(A), torch.zeros_like(B)
    copy[(triton.cdiv(N, 64),)](A, left, N, BLOCK=64)
    right.copy_(B)
    add[(triton.cdiv(N, 256),)](left, right, C, torch.full((3,), 1.5), N, BLOCK=256)
"""
_BYTES = {"8": 1, "16": 2, "32": 4, "64": 8}


def test_a_recorded_call_is_replayed_on_other_buffers(
    packs: dict[str, Pack], judge_settings: JudgeSettings, tmp_path: Path
) -> None:
    pack = packs["vector-add"].in_language("triton")
    target = Target("emulator", "compute_80")
    report, artifact = BUILTIN_LANGUAGES.of("triton").build(SOURCE, pack, target, judge_settings, recorded=True)
    assert artifact is not None, report.log
    (tmp_path / "library").write_bytes(artifact.library)
    program = Path(__file__).parent / "programs" / "replayed_triton.py"
    run = emulate(sys.executable, program, tmp_path / "library", json.dumps(_sizes(artifact.library)))
    assert run.stdout, run.stderr
    found = json.loads(run.stdout.splitlines()[0])
    assert (found["first"], found["replayed"], found["error"]) == (True, True, 0), run.stderr
    # Two launches, zeros, a copy, and a pattern that is written at once.
    assert found["operations"] == 5
    assert {4000, 12} <= set(found["scratch"])


def _sizes(library: bytes) -> dict[str, list[int]]:
    """Returns the sizes of the parameters of each kernel, as its PTX declares them."""
    found = {}
    for kernel in unpack_program(library).kernels:
        entry = re.search(r"\.entry \w+\((.*?)\)", kernel.image.decode(), re.DOTALL)
        assert entry is not None
        found[kernel.name] = [_BYTES[bits] for bits in re.findall(r"\.param \.[a-z](\d+)", entry[1])]
    return found
