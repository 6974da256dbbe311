"""The oracle on a real GPU: CuPy says of each challenge's outputs what NumPy says."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from judge.backends.cuda.backend import _ensure_kernels
from judge.bench.oracle.oracle import Oracle, why_not
from judge.bench.oracle.questions import Begin
from judge.judgement import DeviceInfo
from judge.packs import sizes
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings
from judge.verify.oracle_answers import ask
from tests.builds import ROOT

pytestmark = [pytest.mark.gpu, pytest.mark.nvcc]

CHALLENGES = ROOT / "challenges"
#: Challenges whose references do not run on CuPy: NumPy checks these.
NOT_ON_CUPY = frozenset(
    ("flash-attention-varlen", "geglu", "gpt2-block", "llama-block", "local-attention", "nucleus-sample", "sha-256")
)
SLUGS = sorted(path.parent.name for path in CHALLENGES.glob("*/challenge.toml"))
# CuPy compiles dozens of kernels for a first answer, here beside seven other tests.
_ANSWER_S = 200.0


@pytest.mark.parametrize("slug", SLUGS)
def test_cupy_agrees_with_numpy(slug: str, gpu: DeviceInfo, judge_settings: JudgeSettings, tmp_path: Path) -> None:
    pack = load_pack(CHALLENGES / slug)
    if why_not(pack):
        pytest.skip(why_not(pack))
    cases = [case for case in pack.cases_for("cuda") if sizes.case_bytes(pack, case) < 32 << 20]
    oracle = Oracle(Begin(pack, _ensure_kernels(gpu, judge_settings), 0, cases[0], tmp_path), answer_s=_ANSWER_S)
    try:
        until = time.monotonic() + 60
        while not oracle.is_up and not oracle.problem and time.monotonic() < until:
            time.sleep(0.05)
        answers = {case.id: ask(oracle, pack, case, change=False) for case in cases}
        if slug in NOT_ON_CUPY:
            assert oracle.problem
            return
        assert not oracle.problem
        assert all(answers.values()), [name for name, right in answers.items() if not right]
        changed = {case.id: ask(oracle, pack, case, change=True) for case in cases[:3]}
        assert not oracle.problem
        assert not any(changed.values()), "an output with other bits is not right"
    finally:
        oracle.close()
