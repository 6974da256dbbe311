"""Mutants of an accepted kernel's PTX are refused by the cases, in each language."""

from __future__ import annotations

import pytest

from judge.backends.registry import BUILTIN_BACKENDS
from judge.packs.pack import Pack
from judge.settings import JudgeSettings
from judge.verify.kernel_mutants import try_kernel_mutants
from judge.verify.kernels import in_language_of
from judge.verify.ptx_mutants import Fate
from tests.builds import ROOT

pytestmark = [pytest.mark.jail, pytest.mark.nvcc, pytest.mark.slow(20)]


@pytest.mark.parametrize("name", ["plain.cu", pytest.param("plain.py", marks=pytest.mark.triton)])
def test_the_cases_refuse_mutants(name: str, packs: dict[str, Pack], judge_settings: JudgeSettings) -> None:
    path = ROOT / "reference_solutions" / "vector-add" / name
    pack = in_language_of(packs["vector-add"], path)
    device = BUILTIN_BACKENDS.find_device("emulator", judge_settings)
    BUILTIN_BACKENDS.of(device.kind).prepare(judge_settings)
    tried = list(try_kernel_mutants(path.read_bytes(), name, pack, device, judge_settings, most=8))
    fates = [each.fate for each in tried]
    assert Fate.SURVIVED not in fates, tried
    assert fates.count(Fate.KILLED) >= 3, tried
    assert all(each.name.startswith(f"{name}:") for each in tried)
