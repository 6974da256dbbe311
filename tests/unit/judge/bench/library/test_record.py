"""Times of libraries: the ratio with its interval, what they hold for, and what three rounds make."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

from judge.bench.library import record
from judge.bench.library.process import library_times
from judge.bench.library.record import LibraryTime, holds_for, load_times, ratio_in_words, speed, store_times
from judge.bench.statistics import Interval
from judge.judgement import DeviceInfo
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings

PACKS = Path(__file__).resolve().parents[5] / "challenges"
GPU = DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0", {"driver": "580.1", "uuid_hash": "a"})
GEMM = load_pack(PACKS / "gemm")
TIME = LibraryTime("cublas", "cuBLAS", "", 2.0e-4, 1.9e-4, 2.1e-4, versions={"torch": "2.11"}, cases={"square": 2e-4})


def test_the_ratio_says_how_many_times_as_fast_and_its_ends_are_the_furthest() -> None:
    ratio = speed(Interval(1.0e-4, 0.95e-4, 1.05e-4), TIME)
    assert (ratio.value, ratio.low, ratio.high) == pytest.approx((2.0, 1.9 / 1.05, 2.1 / 0.95))
    assert ratio_in_words(ratio, "cuBLAS") == "2.00× cuBLAS (1.81 to 2.21)"
    assert ratio_in_words(Interval(0.5, 0.5, 0.5), "cuFFT") == "0.50× cuFFT"


def test_a_refused_library_has_no_ratio() -> None:
    with pytest.raises(ValueError, match="cuBLAS"):
        speed(Interval(1.0, 1.0, 1.0), dataclasses.replace(TIME, problem="it is wrong"))


def test_times_hold_for_one_pack_card_driver_and_library() -> None:
    installed = {"torch": "2.11"}
    same = holds_for(GEMM, GPU, installed)
    assert same == holds_for(load_pack(PACKS / "gemm"), GPU, {"torch": "2.11"})
    other_driver = dataclasses.replace(GPU, details={**GPU.details, "driver": "590"})
    assert len({
        same,
        holds_for(GEMM, GPU, {"torch": "2.12"}),
        holds_for(GEMM, other_driver, installed),
        holds_for(GEMM, dataclasses.replace(GPU, key="nvidia-h100"), installed),
        holds_for(dataclasses.replace(GEMM, digest="other"), GPU, installed),
        holds_for(load_pack(PACKS / "softmax"), GPU, installed),
    }) == 6  # fmt: skip


def test_kept_times_are_read_until_a_library_changes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = JudgeSettings(data_dir=tmp_path)
    monkeypatch.setattr(record, "versions", lambda: {"torch": "2.11"})
    assert load_times(GEMM, GPU, settings) is None
    store_times(GEMM, GPU, settings, [TIME])
    assert load_times(GEMM, GPU, settings) == (TIME,)
    monkeypatch.setattr(record, "versions", lambda: {"torch": "2.12"})
    assert load_times(GEMM, GPU, settings) is None


def rounds(*medians: float) -> list[dict[str, Any]]:
    return [{"cublas": {"square": {"median": median, "error": 0.001, "calls": 50}}} for median in medians]


def test_three_rounds_make_a_time_as_three_processes_make_a_score() -> None:
    [found] = library_times(GEMM, GPU, {"cublas": ""}, rounds(1.0e-4, 1.2e-4, 1.1e-4))
    assert found.value == pytest.approx(1.1e-4)
    assert found.low < 1.1e-4 < found.high
    assert found.cases == {"square": 1.1e-4}
    assert found.versions["driver"] == "580.1"
    with pytest.raises(ValueError, match="2 processes, not 3"):
        library_times(GEMM, GPU, {"cublas": ""}, rounds(1.0, 1.0))


def test_a_refused_baseline_has_its_problem_and_no_time() -> None:
    said = "the baseline cublas of gemm is refused: wrong in the case wide"
    [found] = library_times(GEMM, GPU, {"cublas": said}, [{}, {}, {}])
    assert not found.is_timed
    assert found.problem == said


def test_rounds_that_differ_as_much_as_the_time_itself_give_none() -> None:
    [found] = library_times(GEMM, GPU, {"cublas": ""}, rounds(1.0e-4, 5.0e-4, 9.0e-4))
    assert not found.is_timed
    assert "cublas of gemm has no steady time: 100.0, 500.0, 900.0 µs" in found.problem
