"""The benchmark of the times with a judge whose times are known: its plan, its tables, and what they say."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path

import pytest

from benchmarks.timing_quality import __main__ as quality
from benchmarks.timing_quality import judging
from judge.backends.registry import Backends
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.measurements import Measurement
from judge.verdict import Verdict

DEVICE = DeviceInfo("gpu", "cuda", "GPU", "9.0")
BIAS = {"kernel": "gemm/tuned.cu", "judge_s": 2e-4, "low_s": 1.98e-4, "high_s": 2.02e-4, "ncu_s": 1.6e-4,
        "bias_s": 4e-5, "ncu_empty_s": 1.5e-4}  # fmt: skip


@pytest.fixture
def judged(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[judging.Judged]:
    """Twenty rounds on one GPU whose times have a standard deviation of 0.2 %; the fifth is not AC."""
    draw = random.Random(1)
    jobs = quality.jobs_of(tmp_path, ["cuda:0"], 20, 20)["cuda:0"]
    percent = {quality._compute_bound(p): p for p in quality.DIFFERENCES}
    left = iter(jobs)

    def judge(*_: object) -> Judgement:
        job = next(left)
        value = draw.gauss(1.0, 0.002) * 400e-6 * (1 + percent.get(job.kernel, 0.0) / 100)
        score = Measurement("time_s", value, 150, 0.001, value, low=0.997 * value, high=1.003 * value)
        verdict = Verdict.TIMING_NOT_TRUSTED if job is jobs[4] else Verdict.ACCEPTED
        kept = score if verdict is Verdict.ACCEPTED else None
        return Judgement(verdict, "twice", "1.0.0", DEVICE, BuildReport(True, 1.0), (), kept)

    monkeypatch.setattr(judging.pipeline, "judge", judge)
    monkeypatch.setattr(Backends, "find_device", lambda *_: DEVICE)
    return judging.judge_jobs("cuda:0", jobs, str(tmp_path), 60.0)


def test_every_kernel_is_judged_in_every_round(judged: list[judging.Judged]) -> None:
    assert len(judged) == 120
    assert {one.kernel for one in judged} == {
        "memory-bound",
        "short",
        *(quality._compute_bound(percent) for percent in quality.DIFFERENCES),
    }
    assert [one.verdict for one in judged].count("AC") == 119
    assert judged[4].value is None


def test_the_tables_tell_what_was_put_in(judged: list[judging.Judged]) -> None:
    rows = {row["kernel"]: row for row in quality.repeatability(judged)}
    assert 0.001 < rows["short"]["variation"] < 0.003
    assert rows["memory-bound"]["median_s"] == pytest.approx(400e-6, rel=0.002)
    pairs = {row["difference_percent"]: row for row in quality.ordering(judged)}
    assert pairs[0.0]["pairs"] == 190
    assert pairs[0.0]["told_apart"] < 0.1
    assert pairs[2.0]["right_order"] == 1.0
    assert pairs[2.0]["told_apart"] > 0.95
    assert pairs[2.0]["measured_percent"] == pytest.approx(2.0, abs=0.2)
    assert 0.85 < pairs[0.5]["right_order"] < 1.0
    result = {
        "judgements": 120, "verdicts": {"AC": 119, "TI": 1}, "median_wall_s": 2.0, "bias": [],
        "repeatability": quality.repeatability(judged), "ordering": quality.ordering(judged),
    }  # fmt: skip
    assert "| 2 % |" in quality.tables(result)


def test_what_was_not_measured_is_left_out_of_the_tables() -> None:
    shown = quality.tables({"judgements": 0, "repeatability": [], "ordering": [], "bias": [BIAS]}).splitlines()
    assert shown[0].startswith("| Kernel | Judge |")
    assert shown[2] == "| gemm/tuned.cu | 200.00 µs ± 1.0% | 160.00 µs | +40.00 µs (+25.00%) | 150.00 µs |"
    assert len(shown) == 3


@pytest.mark.parametrize(("found", "code"), [([], 1), ([{"kernel": "a", "problem": "TI: ..."}], 1), ([BIAS, BIAS], 0)])
def test_only_a_whole_comparison_is_a_success(
    monkeypatch: pytest.MonkeyPatch, found: list[dict[str, object]], code: int
) -> None:
    def bias(*_: object) -> list[dict[str, object]]:
        if not found:
            raise quality.NoProfiler("ncu is not installed")
        return found

    monkeypatch.setattr(quality, "bias", bias)
    monkeypatch.setattr("sys.argv", ["timing_quality", "--only-bias"])
    assert quality.main() == code


def test_several_gpus_share_the_pairs_and_no_pair_lies_on_two(tmp_path: Path) -> None:
    jobs = quality.jobs_of(tmp_path, ["cuda:0", "cuda:1", "cuda:2"], 20, 20)
    assert {device: len(part) for device, part in jobs.items()} == {"cuda:0": 60, "cuda:1": 40, "cuda:2": 40}
    one = judging.Judged("cuda:1", "compute-bound", "AC", "", 1.0, 1.0, 1.0, 1.0)
    other = dataclasses.replace(one, device="cuda:2", value=2.0, low=2.0, high=2.0)
    more = [dataclasses.replace(each, kernel=quality._compute_bound(p), value=3.0, low=3.0, high=3.0)
            for each in (one, other) for p in quality.DIFFERENCES[1:]]  # fmt: skip
    rows = quality.ordering([one, dataclasses.replace(one), other, dataclasses.replace(other), *more])
    assert rows[0]["pairs"] == 2, "one on each GPU"


def test_nothing_is_begun_when_the_time_is_up(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(Backends, "find_device", lambda *_: DEVICE)
    jobs = quality.jobs_of(tmp_path, ["cuda:0"], 1, 1)["cuda:0"]
    assert judging.judge_jobs("cuda:0", jobs, str(tmp_path), -1.0) == []
