"""Checks that draw what they look at accept right outputs, and see outputs that are wrong all over.

They hold each element they draw against the value that the whole reference has there. Bounds are made small, so that
they draw.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.data.inputs import lazy_inputs
from judge.packs.judging import spot_check
from judge.packs.pack import Case, Pack
from judge.verify.prepared import SEED, PreparedCase
from tests.unit.challenges.test_verified import PACKS

#: Constants of each pack's reference with which it draws a part of the emulator's benchmark.
SMALL: dict[str, dict[str, int]] = {
    "avg-pool2d": {"_FEW": 100, "_CHANNELS": 3},
    "black-scholes": {"_FEW": 100, "_RUNS": 5},
    "compact-positive": {"_FEW": 100, "_CHUNK": 1000, "_CHUNKS": 20},
    "cross-entropy-backward": {"_FEW": 100, "_ROWS": 9},
    "embed-layer-norm": {"_FEW": 100, "_RUNS": 3},
    "gae": {"_FEW": 100, "_ROWS": 5},
    "gemm-bias-gelu": {"_RUNS": 2, "_ROWS_OF_RUN": 8, "_ROWS": 5, "_SUSPICIOUS_ROWS": 4},
    "image-resize": {"_FEW": 100, "_BANDS": 5},
    "int8-kv-attention": {"_FEW": 100, "_HEADS": 3},
    "jacobi-2d": {"_FEW": 100, "_BANDS": 5},
    "linear-recurrence": {"_FEW": 100, "_ROWS": 5},
    "local-attention": {"_FEW": 100, "_RUNS": 3},
    "nf4-dequant": {"_FEW": 100, "_RUNS": 20},
    "selective-scan": {"_FEW": 10, "_CHANNELS": 9},
    "stencil-3d": {"_FEW": 100, "_LAYERS": 5},
}


@pytest.fixture(params=sorted(SMALL))
def drawing(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> tuple[Pack, Case]:
    pack = load_pack(PACKS / request.param)
    pack = dataclasses.replace(pack, reference=pack.reference.local())
    for name, value in SMALL[request.param].items():
        assert pack.reference.spot_check is not None
        assert name in pack.reference.spot_check.__globals__
        monkeypatch.setitem(pack.reference.spot_check.__globals__, name, value)
    return pack, pack.benchmarks_for("emulator")[0]


def test_a_drawn_check_accepts_what_is_right_and_sees_what_is_wrong(drawing: tuple[Pack, Case]) -> None:
    pack, case = drawing
    right = PreparedCase(pack, case, SEED).right
    inputs = lazy_inputs(pack, case, SEED)
    for seed in range(5):
        assert spot_check(pack, case, inputs, right, seed) is None
        for name, values in right.items():
            assert spot_check(pack, case, inputs, right | {name: values + 1}, seed) is not None


def test_a_drawn_check_looks_at_a_part_with_the_ends(drawing: tuple[Pack, Case]) -> None:
    pack, case = drawing
    (name, right), *_ = PreparedCase(pack, case, SEED).right.items()
    found: Any = pack.reference.spot_check(np.random.default_rng(SEED), lazy_inputs(pack, case, SEED), {name: right})  # type: ignore[misc]
    seen = np.zeros(right.shape, bool)
    for part in [found] if isinstance(found, dict) else found:
        seen[part[name][0]] = True
    assert seen.flat[0]
    assert seen.flat[-1]
    assert 0 < seen.mean() < 1
