from itertools import count

import numpy as np
import pytest

from judge.bench.stopping import OutOfTime, Plateau, Precise, StoppingRule

STEADY = [1.0, 1.001] * 100
SHAKY = [1.0, 1.5] * 100


def test_precise_where_the_median_is_known_to_the_target() -> None:
    assert Precise(0.002).is_met(STEADY[:50], 0.0)
    assert not Precise(0.002).is_met(SHAKY[:50], 0.0)


def test_the_time_is_up_when_it_is() -> None:
    assert not OutOfTime(2.0).is_met(SHAKY, 1.99)
    assert OutOfTime(2.0).is_met([], 2.0)


def test_a_plateau_is_where_the_error_no_longer_falls() -> None:
    plateau = Plateau(window=4)
    assert [plateau.is_met(SHAKY[:size], 0.0) for size in (50, 60, 70, 80)] == [False, False, False, True]


def test_no_plateau_while_noise_still_averages_out() -> None:
    plateau = Plateau()
    samples = np.random.default_rng(3).normal(1.0, 0.05, 1 << 12).tolist()
    assert not any(plateau.is_met(samples[: 64 << step], 0.0) for step in range(7))


def test_never_before_the_least_number_even_out_of_time() -> None:
    assert StoppingRule().reason_to_stop(STEADY[:49], 1e9) == ""
    assert StoppingRule().reason_to_stop(STEADY[:50], 1e9) == "precise"


@pytest.mark.parametrize(("samples", "reason"), [(STEADY, "precise"), (SHAKY, "plateau")])
def test_stops_for_the_first_reason_there_is(samples: list[float], reason: str) -> None:
    rule = StoppingRule()
    reasons = (rule.reason_to_stop(samples[: 50 + 8 * burst], 0.01 * burst) for burst in count())
    assert next(filter(None, reasons)) == reason


def test_stops_when_the_time_is_up() -> None:
    rule = StoppingRule(budget_s=1.0)
    assert rule.reason_to_stop(SHAKY[:50], 0.9) == ""
    assert rule.reason_to_stop(SHAKY[:58], 1.0) == "out of time"


def test_what_is_not_settled_goes_on_until_the_time_is_up() -> None:
    rule = StoppingRule(budget_s=1.0)
    assert rule.reason_to_stop(STEADY[:50], 0.9, settled=False) == ""
    assert rule.reason_to_stop(STEADY[:50], 0.9, settled=True) == "precise"
    assert rule.reason_to_stop(STEADY[:50], 1.0, settled=False) == "out of time"
