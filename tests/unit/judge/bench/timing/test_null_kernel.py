from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.bench.timing.clock_bound import Burst
from judge.bench.timing.null_kernel import NullBaselines
from judge.errors import InternalError
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


def null_bursts(around_s: float = 1e-3 + 5e-4, overhead_s: float = 3e-5, claim_s: float = 2e-6) -> list[Burst]:
    """Bursts of five null calls; by default those of the first baseline."""
    return [Burst(around_s, (claim_s,) * 5, (overhead_s,) * 5)] * 3


def test_a_baseline_holds_for_an_hour(make: MakeBaselines, measured: list[str]) -> None:
    found = make().of(CASE)
    assert found.line.per_call_s == pytest.approx(1e-4)
    assert found.claim_s == pytest.approx(2e-6)
    later = make(at=1000.0 + 3599)
    assert later.of(CASE) == found
    later.confirm(CASE, lambda: pytest.fail("it is not an hour old"))
    assert measured == ["timed"]


def test_an_old_baseline_is_confirmed_by_a_few_calls_and_then_holds_for_another_hour(
    make: MakeBaselines, measured: list[str]
) -> None:
    found = make().of(CASE)
    old = make(at=1000.0 + 3601)
    assert old.of(CASE) == found
    old.confirm(CASE, null_bursts)
    assert old.of(CASE) == found
    make(at=1000.0 + 7000).confirm(CASE, lambda: pytest.fail("it was confirmed within the hour"))
    assert measured == ["timed"]


@pytest.mark.parametrize(
    "bursts",
    [
        null_bursts(around_s=1.8e-3),
        null_bursts(around_s=1.2e-3),
        null_bursts(overhead_s=3.6e-5),
        null_bursts(overhead_s=2.4e-5),
        null_bursts(claim_s=2.6e-6),
    ],
    ids=["slower", "faster", "later replies", "earlier replies", "longer claims"],
)
def test_an_old_baseline_that_null_calls_contradict_is_measured_again(
    make: MakeBaselines, measured: list[str], bursts: list[Burst]
) -> None:
    found = make().of(CASE)
    old = make(at=1000.0 + 3601)
    old.confirm(CASE, lambda: bursts)
    assert old.of(CASE) != found
    assert measured == ["timed", "timed"]


def test_a_baseline_of_another_month_is_not_used(make: MakeBaselines, measured: list[str]) -> None:
    make().of(CASE)
    make(at=1000.0 + 31 * 24 * 3600).of(CASE)
    assert measured == ["timed", "timed"]


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
        {"pack": dataclasses.replace(PACK, build=dataclasses.replace(PACK.build, language="triton"))},
        {"at": 999.0},
    ],
    ids=["card", "driver", "language", "clock set back"],
)
def test_a_baseline_holds_for_what_decides_it_only(
    make: MakeBaselines, measured: list[str], other: dict[str, object]
) -> None:
    make().of(CASE)
    make(**other).of(CASE)
    assert len(measured) == 2


def test_a_gpu_that_others_use_has_no_baseline(tmp_path: Path) -> None:
    claims = iter((3e-4, 2e-6))

    def measure(_: Case) -> list[list[Burst]]:
        claim_s = next(claims)
        return [[Burst(1e-3 * calls, (claim_s,) * calls, (3e-5,) * calls) for calls in (1, 4, 8)]]

    baselines = NullBaselines(PACK, DEVICE, tmp_path, measure)
    with pytest.raises(InternalError, match=r"other programs use the GPU: an empty solve takes 300\.0 µs"):
        baselines.measure_again(CASE)
    assert baselines.age_s(CASE) is None
    assert baselines.measure_again(CASE).claim_s == pytest.approx(2e-6)


def test_a_broken_file_is_ignored(make: MakeBaselines, tmp_path: Path, measured: list[str]) -> None:
    make().of(CASE)
    [kept] = (tmp_path / "lines").iterdir()
    kept.write_text("{")
    make().of(CASE)
    assert len(measured) == 2


def test_a_baseline_holds_for_all_packs_whose_calls_cost_the_same(make: MakeBaselines, measured: list[str]) -> None:
    found = make().of(CASE)
    other = dataclasses.replace(PACK, slug="other", digest="other")
    assert make(other).of(dataclasses.replace(CASE, id="another")) == found
    assert make(other).of(dataclasses.replace(CASE, axes={"N": 2 * CASE.axes["N"]})) != found
    assert len(measured) == 2


def test_the_age_of_a_baseline_is_told(make: MakeBaselines) -> None:
    assert make().age_s(CASE) is None
    make().of(CASE)
    assert make(at=1500.0).age_s(CASE) == 500.0
    assert make(at=1000.0 + 31 * 24 * 3600).age_s(CASE) is None
