"""Medals: from the best share of our own kernels, or as a pack declares them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from emulator.model import load_gpu
from judge.bench.plausibility import modelled_roofline_s
from judge.packs.collection.loader import load_pack
from judge.packs.form.statement import read_statement
from judge.packs.medals import NAME, Medals, read_medals
from tests.builds import ROOT

CHALLENGES = ROOT / "challenges"


@pytest.mark.parametrize(
    ("share", "medal"),
    [(None, None), (0.1, None), (0.3, "bronze"), (0.41, "silver"), (0.71, "silver"), (0.73, "gold")],
)
def test_a_medal_is_a_part_of_what_our_best_kernel_reaches(share: float | None, medal: str | None) -> None:
    assert Medals.below(0.8).earned(share) == medal


def test_each_kind_of_time_has_its_own_and_a_scale_belongs_to_its_metric(tmp_path: Path) -> None:
    shares = {"vector-add": {"time_s": {"share": 0.9, "kernel": "a"}, "modelled_time_s": {"share": 0.3, "kernel": "b"}}}
    (tmp_path / NAME).write_text(json.dumps(shares))
    (tmp_path / "vector-add").symlink_to(CHALLENGES / "vector-add")
    found = read_medals(tmp_path)["vector-add"]
    assert found == {"time_s": Medals.below(0.9), "modelled_time_s": Medals.below(0.3)}
    pack = replace(load_pack(CHALLENGES / "vector-add"), default_medals=found)
    assert pack.medals_for("modelled_time_s/h200/1") == Medals.below(0.3)
    declared = Medals(0.1, 0.2, 0.3)
    pack = replace(pack, bench=replace(pack.bench, medals=declared))
    assert pack.medals_for("time_s") == declared
    assert pack.medals_for("modelled_time_s/h200/1") == Medals.below(0.3)
    assert replace(pack, default_medals={}).medals_for("modelled_time_s/h200/1") == declared


@pytest.mark.parametrize(
    ("slug", "axes", "target_s", "told"),
    [
        ("rope", {"M": 45_056, "D": 128}, 50e-6, "50 µs"),
        ("flash-attention-varlen", {"total": 32_768, "sequences": 16, "heads": 16, "head_dim": 128}, 10e-3, "10 ms"),
        ("q4k-gemm", {"M": 16_384, "N": 8192, "K": 8192}, 40e-3, "40 ms"),
    ],
)
def test_gold_is_the_share_of_a_target_on_an_a100(slug: str, axes: dict[str, int], target_s: float, told: str) -> None:
    pack = load_pack(CHALLENGES / slug)
    assert all(axis.min <= axes[axis.name] <= axis.max for axis in pack.axes)
    roofline_s = modelled_roofline_s(pack, replace(pack.benchmarks_for("cuda")[0], axes=axes), load_gpu("a100"))
    medals = pack.medals_for("time_s")
    assert roofline_s is not None
    assert medals is not None
    assert medals.gold == pytest.approx(roofline_s / target_s, rel=0.01)
    statement = read_statement(pack)
    assert f"{told} on an A100" in statement
    assert all(f"{size:,}" in statement.replace("{,}", ",") for size in axes.values())


def test_a_folder_of_packs_without_the_file_has_none(tmp_path: Path) -> None:
    assert read_medals(tmp_path) == {}


def test_every_challenge_has_medals_that_one_of_our_kernels_reaches() -> None:
    recorded = json.loads((CHALLENGES / NAME).read_text())
    assert set(recorded) == {path.parent.name for path in CHALLENGES.glob("*/challenge.toml")}
    for slug, metrics in recorded.items():
        assert "modelled_time_s" in metrics
        for best in metrics.values():
            assert 0 < best["share"] <= 1
            assert (ROOT / "reference_solutions" / slug / best["kernel"]).is_file()
