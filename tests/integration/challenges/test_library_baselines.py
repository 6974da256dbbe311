"""Every baseline of PyTorch computes what its pack asks for: on the CPU, on all functional cases.

Needs PyTorch, which nothing installs by default: without it these tests are skipped. Baselines of CuPy and those
with ``on_cpu = false`` need a GPU (``tests/gpu/test_library_baselines.py``).
"""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="PyTorch is not installed: pip install torch")

from judge.bench.library import settings
from judge.bench.library.rounds import check_functional
from judge.packs.baselines import load_functions
from judge.packs.collection.loader import load_pack

PACKS = Path(__file__).resolve().parents[3] / "challenges"
NAMED = [
    (pack.slug, baseline.name)
    for pack in (load_pack(file.parent) for file in sorted(PACKS.glob("*/baselines.py")))
    for baseline in pack.baselines.calls
    if baseline.module == "torch" and baseline.on_cpu
]


@pytest.mark.parametrize(("slug", "name"), NAMED)
def test_a_baseline_is_right_on_all_functional_cases(slug: str, name: str) -> None:
    pack = load_pack(PACKS / slug)
    pack = dataclasses.replace(pack, reference=pack.reference.local())
    function = load_functions(pack.directory, pack.baselines)[name]
    settings.settle()
    assert check_functional(pack, function, 1, "cpu"), "it takes no case"
