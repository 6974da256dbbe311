from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.bench.timing.clock_bound import Burst
from judge.bench.timing.null_kernel import NullBaselines
from judge.judgement import DeviceInfo
from judge.packs.pack import Case, Pack
from tests.host_device.judging import twice_pack

PACK = twice_pack()
CASE = PACK.benchmarks[0]
DEVICE = DeviceInfo("gpu", "cuda", "GPU", "9.0", {"uuid_hash": "abc", "driver": "580"})
MakeBaselines = Callable[..., NullBaselines]


@pytest.fixture
def measured() -> list[str]:
    return []


@pytest.fixture
def make(tmp_path: Path, measured: list[str]) -> MakeBaselines:
    def measure(case: Case) -> list[list[Burst]]:
        measured.append(case.id)
        per_call_s = len(measured) * 1e-4
        return [[Burst(1e-3 + calls * per_call_s, (2e-6,) * calls, (3e-5,) * calls) for calls in (1, 4, 8)]]

    def make(pack: Pack = PACK, device: DeviceInfo = DEVICE, at: float = 1000.0) -> NullBaselines:
        return NullBaselines(pack, device, tmp_path / "lines", measure, lambda: at)

    return make


def test_a_baseline_is_kept_for_an_hour(make: MakeBaselines, measured: list[str]) -> None:
    found = make().of(CASE)
    assert found.line.per_call_s == pytest.approx(1e-4)
    assert found.claim_s == pytest.approx(2e-6)
    assert make(at=1000.0 + 3599).of(CASE) == found
    assert measured == ["timed"]
    assert make(at=1000.0 + 3601).of(CASE) != found


def test_a_baseline_is_measured_again_on_demand_and_replaced(make: MakeBaselines, measured: list[str]) -> None:
    first = make()
    first.of(CASE)
    again = first.measure_again(CASE)
    assert again.line.per_call_s == pytest.approx(2e-4)
    assert first.of(CASE) == make().of(CASE) == again
    assert len(measured) == 2


@pytest.mark.parametrize(
    "other",
    [
        {"device": dataclasses.replace(DEVICE, details={"uuid_hash": "def", "driver": "580"})},
        {"device": dataclasses.replace(DEVICE, details={"uuid_hash": "abc", "driver": "590"})},
        {"pack": dataclasses.replace(PACK, digest="other")},
        {"at": 999.0},
    ],
    ids=["board", "driver", "pack", "clock set back"],
)
def test_a_baseline_holds_for_its_board_driver_and_pack_only(
    make: MakeBaselines, measured: list[str], other: dict[str, object]
) -> None:
    make().of(CASE)
    make(**other).of(CASE)
    assert len(measured) == 2


def test_a_broken_file_is_ignored(make: MakeBaselines, tmp_path: Path, measured: list[str]) -> None:
    make().of(CASE)
    [kept] = (tmp_path / "lines").iterdir()
    kept.write_text("{")
    make().of(CASE)
    assert len(measured) == 2
