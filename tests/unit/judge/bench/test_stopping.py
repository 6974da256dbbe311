from judge.bench.stopping import StoppingRule

RULE = StoppingRule(least=20, most=60, spread=0.005, budget_s=10.0)
STEADY = [1.0, 1.001] * 30
SHAKY = [1.0, 1.5] * 30


def test_never_before_the_least_number_even_out_of_time() -> None:
    assert not RULE.is_enough(STEADY[:19], 1e9)


def test_stops_once_the_samples_agree() -> None:
    assert RULE.is_enough(STEADY[:20], 0.0)
    assert not RULE.is_enough(SHAKY[:20], 0.0)


def test_stops_when_the_time_is_up_or_there_are_enough() -> None:
    assert RULE.is_enough(SHAKY[:20], 10.0)
    assert RULE.is_enough(SHAKY, 0.0)
