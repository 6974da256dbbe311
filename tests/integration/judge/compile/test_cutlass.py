"""A kernel that includes CUTLASS: how it is built, and what the emulator says of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile import cutlass
from judge.compile.assembly import NotAssembled, assemble
from judge.compile.nvcc import build_submission
from judge.compile.target import Target
from judge.packs.pack import Pack
from judge.pipeline import Mode
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.unit.judge.compile.challenge import FakeChallenge

pytestmark = [pytest.mark.nvcc, pytest.mark.jail]

GEMM = Path(__file__).parent / "cutlass" / "gemm.cu"


@pytest.mark.slow(40)
@pytest.mark.exhaustive(costly=True)
def test_a_product_by_cutlass_is_accepted(packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    judgement = pipeline.judge(GEMM.read_bytes(), packs["gemm"], device, 11, judge_settings, mode=Mode.SUBMIT)
    assert judgement.verdict is Verdict.ACCEPTED, judgement
    assert judgement.measurement is not None
    assert "CUTLASS 4.2.0.0" in judgement.measurement.fingerprint.nvcc_flags


def test_cute_is_there_only_for_who_includes_it(tmp_path: Path) -> None:
    body = "__global__ void k(float* p) { *p = 1; }\n" + FakeChallenge().signature_text.replace(";", "") + " {}\n"
    target, settings = Target("emulator", "compute_80"), JudgeSettings(tmp_path)
    with_it = '#include "cute/layout.hpp"\nusing Tile = cute::Layout<cute::Shape<cute::_8, cute::_4>>;\n'
    report, artifact = build_submission(f'{with_it}extern "C" {body}'.encode(), FakeChallenge(), target, settings)
    assert report.ok, report.log
    assert artifact is not None
    hidden = with_it.replace("#include ", "#define HEADER ") + "#include HEADER\n"
    report, _ = build_submission(f'{hidden}extern "C" {body}'.encode(), FakeChallenge(), target, settings)
    assert not report.ok
    assert "cute/layout.hpp" in report.log


def test_a_site_without_the_headers_says_how_to_get_them(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cutlass, "find_headers", lambda: None)
    settings = JudgeSettings(tmp_path)
    report, artifact = build_submission(GEMM.read_bytes(), FakeChallenge(), Target("emulator", "compute_80"), settings)
    assert (report.ok, artifact) == (False, None)
    assert "pip install 'gpujudge[cutlass]'" in report.log
    assert assemble(GEMM.read_bytes(), FakeChallenge(), "sm_80", settings) == NotAssembled(report.log)
