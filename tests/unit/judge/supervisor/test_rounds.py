from __future__ import annotations

import pytest

from judge.supervisor.rounds import first_wrong_round


@pytest.mark.parametrize("fewest", [0, 1])
@pytest.mark.parametrize("most", [2, 7, 100])
def test_the_first_wrong_round_is_found(fewest: int, most: int) -> None:
    for first in range(fewest, most + 1):
        tried: list[int] = []

        def is_right(rounds: int, first: int = first, tried: list[int] = tried) -> bool:
            tried.append(rounds)
            return rounds < first

        assert first_wrong_round(fewest, most, is_right) == first
        assert tried[0] == fewest
        assert len(tried) <= 9
        assert all(fewest <= rounds < most for rounds in tried)


def test_a_run_that_tells_nothing_ends_the_search() -> None:
    assert first_wrong_round(0, 10, lambda rounds: None if rounds else True) is None
