"""Where medals begin, in words."""

from __future__ import annotations

import pytest

from judge.packs.medals import Medals
from web.submissions.standing import medals_in_words


@pytest.mark.parametrize(
    ("medals", "told"),
    [
        (None, ""),
        (
            Medals.below(0.6),
            "gold from 54 %, silver from 30 %, bronze from 15 % of the roofline; our best kernel reaches 60 %",
        ),
        (Medals(0.2, 0.4, 0.8), "gold from 80 %, silver from 40 %, bronze from 20 % of the roofline"),
        (
            Medals.below(0.00002),
            "gold up to 1.1×, silver up to 2.0×, bronze up to 4.0× the time of our best kernel, "
            "an empty launch left out",
        ),
    ],
)
def test_where_medals_begin(medals: Medals | None, told: str) -> None:
    assert medals_in_words(medals) == told
