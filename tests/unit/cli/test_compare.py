"""Judgements side by side: the rows, the lines that differ, and what cannot be compared."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from cli import baselines
from cli.comparison import Compared, as_json, cells, line_differences, rows
from judge.bench.library.record import LibraryTime
from judge.judgement import DeviceInfo, Judgement
from judge.judgement_json import read_judgement
from judge.measurements import ModelledCase, ModelledKernel, ModelledLine
from judge.packs.collection.loader import load_pack
from judge.settings import JudgeSettings
from judge.verdict import Verdict
from tests.fake_judge import EMULATOR
from tests.stored_judgements import load_stored
from tests.unit.cli.conftest import Cli

PACKS = Path(__file__).resolve().parents[3] / "challenges"
VECTOR_ADD = load_pack(PACKS / "vector-add")
SLOW = "first\nshared line\nslow line\n"
FAST = "shared line\nfast line\n"


def judged(seconds: float, lines: dict[int, float], *, requests: int = 0, sectors: int = 0) -> Judgement:
    """A judgement with one benchmark case of that time; ``lines`` are shares of it."""
    stored = read_judgement(load_stored("v3_modelled_time"))
    assert stored.measurement is not None
    [case] = stored.measurement.cases
    assert isinstance(case, ModelledCase)
    kernel = ModelledKernel(
        kernel="k",
        grid=(1,),
        block=(1,),
        launches=1,
        seconds=seconds,
        share=1.0,
        limiter="latency",
        occupancy=1.0,
        global_requests=requests,
        global_sectors=sectors,
    )
    case = dataclasses.replace(
        case,
        value=seconds,
        kernels=(kernel,),
        lines=tuple(ModelledLine(file="kernel.cu", line=number, share=share) for number, share in lines.items()),
    )
    measurement = dataclasses.replace(stored.measurement, value=seconds, cases=(case,))
    return dataclasses.replace(stored, measurement=measurement)


@pytest.fixture
def pair() -> list[Compared]:
    return [
        Compared(Path("slow.cu"), SLOW, judged(8e-6, {2: 0.25, 3: 0.75}, requests=2, sectors=64)),
        Compared(Path("fast.cu"), FAST, judged(2e-6, {1: 0.5, 2: 0.5}, requests=4, sectors=16)),
    ]


def test_rows_tell_times_and_what_makes_them(pair: list[Compared]) -> None:
    slow, fast = rows(pair)
    assert (slow.times, fast.times) == (4.0, 1.0)
    assert (slow.sectors_per_request, fast.sectors_per_request) == (32.0, 4.0)
    assert cells(slow) == ("slow.cu", "AC", "8 µs", "", "4", "DRAM bandwidth", 18, "0 B", "32")


def test_lines_are_found_again_by_their_text(pair: list[Compared]) -> None:
    slow, shared, fast = line_differences(pair)
    assert [one.text for one in (slow, shared, fast)] == ["slow line", "shared line", "fast line"]
    assert [(cost.line, cost.seconds) for cost in slow.costs] == [(3, 6e-6), (None, 0.0)]
    assert [(cost.line, cost.seconds) for cost in shared.costs] == [(2, 2e-6), (1, 1e-6)]
    assert [(cost.line, cost.seconds) for cost in fast.costs] == [(None, 0.0), (2, 1e-6)]


def test_what_was_not_timed_is_left_blank(pair: list[Compared]) -> None:
    wrong = dataclasses.replace(pair[0].judgement, verdict=Verdict.WRONG_ANSWER, measurement=None)
    compared = [dataclasses.replace(pair[0], judgement=wrong), pair[1]]
    first, second = rows(compared)
    assert cells(first)[1:5] == ("WA", "", "", "")
    assert second.times == 1.0
    assert line_differences(compared) == []


def test_the_json_is_plain(pair: list[Compared]) -> None:
    told: Any = json.loads(json.dumps(as_json(pair)))
    assert told.keys() == {"challenge", "device", "compared", "lines"}
    assert told["compared"][1]["value"] == 2e-6
    assert told["lines"][0]["costs"][0] == {"file": "slow.cu", "line": 3, "seconds": 6e-6}


def test_the_command_judges_all_on_one_seed(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, pair: list[Compared]
) -> None:
    seeds = []

    def judge_source(source: Any, _pack: Any, _device: Any, seed: int, *_: Any) -> Judgement:
        seeds.append(seed)
        return next(one.judgement for one in pair if one.file.name == source.path.name)

    monkeypatch.setattr("cli.commands.compare.judge_source", judge_source)
    for one in pair:
        (tmp_path / one.file).write_text(one.source)
    argv = ["compare", "slow.cu", "fast.cu", "-c", "vector-add", "--data-dir", "data"]
    ended = cli(*argv)
    assert ended.exit_code == 0, ended.stderr
    assert seeds[0] == seeds[1]
    assert "slow line\t6 µs (line 3)\t\n" in ended.stdout
    told = cli(*argv, "--seed", "7", "--json").json
    assert (told["seed"], seeds[2:]) == (7, [7, 7])


@pytest.mark.parametrize(
    ("files", "why"),
    [
        (["a.cu"], "takes two files or more"),
        (["a.cu", "b.cu"], "for different challenges: gemm, softmax"),
        (["a.cu", "c.cu"], "for different devices: cuda:0, emulator"),
    ],
)
def test_what_cannot_be_compared(cli: Cli, tmp_path: Path, files: list[str], why: str) -> None:
    (tmp_path / "a.cu").write_text("// gpujudge: challenge=softmax\n")
    (tmp_path / "b.cu").write_text("// gpujudge: challenge=gemm\n")
    (tmp_path / "c.cu").write_text("// gpujudge: challenge=softmax device=cuda:0\n")
    ended = cli("compare", *files)
    assert ended.exit_code == 2
    assert why in ended.stderr


def test_libraries_stand_beside_a_file_with_a_ratio(pair: list[Compared], monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0")
    times = (
        LibraryTime("cublas", "cuBLAS", "TF32 off", 4e-6, 3.9e-6, 4.1e-6),
        LibraryTime("cub", "CUB", "", problem="the baseline cub of x is refused: wrong in the case one"),
    )
    monkeypatch.setattr(baselines, "library_times", lambda *_: times)
    found = baselines.unranked(VECTOR_ADD, gpu, JudgeSettings(Path("/data")), pair)
    assert [row.library for row in found.rows] == ["cuBLAS"]
    assert found.messages == ("the baseline cub of x is refused: wrong in the case one",)
    words = [f"{file}: {baselines.in_words(ratio, row)}" for file, row, ratio in baselines.ratios(pair, found.rows)]
    assert words == ["slow.cu: 0.50× cuBLAS (0.49 to 0.51)", "fast.cu: 2.00× cuBLAS (1.95 to 2.05)"]
    assert baselines.cells(found.rows[0]) == ("cuBLAS", "4 µs", "3.9 to 4.1 µs", "TF32 off")
    assert baselines.as_json(found, pair)["times_as_fast"][1]["value"] == pytest.approx(2.0)


def test_a_gpu_without_libraries_says_what_to_do(pair: list[Compared], monkeypatch: pytest.MonkeyPatch) -> None:
    gpu = DeviceInfo("nvidia-h200", "cuda", "NVIDIA H200", "9.0")
    monkeypatch.setattr("judge.libraries.versions", dict)
    found = baselines.unranked(VECTOR_ADD, gpu, JudgeSettings(Path("/data")), pair)
    assert found.rows == ()
    assert "pip install torch" in found.messages[0]
    none = load_pack(PACKS / "sha-256")
    assert baselines.unranked(none, gpu, JudgeSettings(Path("/data")), pair).messages == (
        f"no library does sha-256: {none.baselines.none}",
    )


def test_the_emulator_has_our_kernels_in_their_place(pair: list[Compared]) -> None:
    found = baselines.unranked(VECTOR_ADD, EMULATOR, JudgeSettings(Path("/data")), pair)
    assert found.rows
    assert all(row.conditions == "modelled" for row in found.rows)
    assert "has no library" in found.messages[0]
