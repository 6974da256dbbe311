import pytest

from judge.bench.measurement import TimedCase, measurement
from tests.host_device.judging import twice_pack


def test_times_become_rates_by_the_packs_bytes_and_flops() -> None:
    pack = twice_pack()
    case = pack.benchmarks[0]
    score = measurement("time_s", pack, [TimedCase(case, (1e-3, 2e-3, 3e-3))])
    assert (score.value, score.median_s, score.runs) == (pytest.approx(2e-3), pytest.approx(2e-3), 3)
    assert score.spread == pytest.approx(0.25)
    assert score.gb_per_s == pytest.approx(8 * 500_000 / 2e-3 / 1e9)
    assert score.gflop_per_s == pytest.approx(500_000 / 2e-3 / 1e9)
    assert score.cases[0]["samples"] == [1e-3, 2e-3, 3e-3]


def test_several_cases_are_combined_by_their_geometric_mean() -> None:
    pack = twice_pack()
    case = pack.benchmarks[0]
    score = measurement("time_s", pack, [TimedCase(case, (1e-3,) * 3), TimedCase(case, (4e-3,) * 2)])
    assert score.value == pytest.approx(2e-3)
    assert score.runs == 5


def test_instructions_have_no_rates() -> None:
    pack = twice_pack()
    score = measurement("warp_instructions", pack, [TimedCase(pack.benchmarks[0], (12345.0,))])
    assert (score.value, score.runs, score.spread) == (pytest.approx(12345.0), 1, 0.0)
    assert score.median_s is score.gb_per_s is score.gflop_per_s is None
