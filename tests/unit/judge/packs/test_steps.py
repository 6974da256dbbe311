"""The reference steps of challenges: every challenge of ours has some, in order, with a word on each."""

from __future__ import annotations

import dataclasses
import itertools
from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.steps import has_plain_time, plain_time_s, read_steps
from tests.builds import ROOT

SLUGS = sorted(folder.name for folder in (ROOT / "challenges").iterdir() if (folder / "challenge.toml").is_file())


@pytest.mark.parametrize("slug", SLUGS)
def test_each_challenge_has_steps_that_say_what_they_do(slug: str) -> None:
    steps = read_steps(load_pack(ROOT / "challenges" / slug))
    assert len(steps) >= 2
    for step in steps:
        assert len(step.change) >= 10
        assert "solve(" in step.source


def test_a_ladder_has_modelled_times_and_gains() -> None:
    steps = read_steps(load_pack(ROOT / "challenges" / "transpose"))
    assert [step.name for step in steps][:2] == ["1-element-a-thread", "2-tile"]
    times = [step.modelled for step in steps if step.modelled is not None]
    assert len(times) == len(steps)
    assert {time.device for time in times} == {"NVIDIA H200"}
    assert times[0].gain is None
    for before, time in itertools.pairwise(times):
        assert time.gain == before.time_s / time.time_s


def test_a_ladder_takes_in_the_kernels_beside_it() -> None:
    steps = read_steps(load_pack(ROOT / "challenges" / "softmax"))
    assert (steps[0].name, steps[-1].name) == ("plain", "tuned")
    assert len(steps) > 2
    assert steps[0].measured is not None
    assert steps[0].modelled is not None


def test_without_a_ladder_times_are_measured() -> None:
    plain, tuned = read_steps(load_pack(ROOT / "challenges" / "vector-add"))
    assert (plain.name, tuned.name, plain.modelled, tuned.modelled) == ("plain", "tuned", None, None)
    assert plain.measured is not None
    assert tuned.measured is not None
    assert tuned.measured.device == "NVIDIA H200"
    assert tuned.measured.gain == plain.measured.time_s / tuned.measured.time_s


def test_a_pack_from_elsewhere_has_none(tmp_path: Path) -> None:
    pack = load_pack(ROOT / "challenges" / "vector-add")
    assert read_steps(dataclasses.replace(pack, directory=tmp_path / "packs" / "vector-add")) == ()


@pytest.mark.parametrize("slug", SLUGS)
def test_the_plain_kernel_of_each_challenge_has_a_time_on_the_gpu(slug: str) -> None:
    pack = load_pack(ROOT / "challenges" / slug)
    time_s = plain_time_s(pack, device="nvidia-h200", metric="time_s")
    assert time_s is not None
    assert 0 < time_s < 10
    assert has_plain_time(pack, device=None)
    assert plain_time_s(pack, device="nvidia-a100", metric="time_s") is None


def test_the_plain_kernel_has_a_modelled_time_where_its_ladder_takes_it_in() -> None:
    softmax, add = (load_pack(ROOT / "challenges" / slug) for slug in ("softmax", "vector-add"))
    steps = read_steps(softmax)
    assert steps[0].modelled is not None
    metric = "modelled_time_s/h200/5"
    assert plain_time_s(softmax, device="emulator", metric=metric) == steps[0].modelled.time_s
    assert plain_time_s(softmax, device="emulator", metric="modelled_time_s/a100/5") is None
    assert not has_plain_time(add, device="emulator")
