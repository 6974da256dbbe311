"""Questions that are posed ahead of those who take them."""

from __future__ import annotations

import pytest

from judge.supervisor import feeder
from tests.host_device.judging import twice_pack

CASES = twice_pack().cases
#: The arguments of the three smaller ones: 5, 1 and 1009 numbers in, and as many out.
SMALL_BYTES = 4 * 2 * (5 + 1 + 1009)


@pytest.mark.parametrize(("most_bytes", "ahead"), [(0, 1), (SMALL_BYTES - 1, 2), (SMALL_BYTES, 3), (1 << 30, 4)])
def test_as_many_as_there_is_room_for(most_bytes: int, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feeder, "_AHEAD_BYTES", most_bytes)
    with feeder._Questions(twice_pack(), 7, CASES) as questions:
        assert len(questions._coming) == ahead
        for case in CASES:
            question = questions.take()
            assert question.case is case
            assert question.inputs["N"] == case.axes["N"]
            assert question.expected["output"].values.size == case.axes["N"]
    assert not questions._coming


def test_what_nobody_takes_is_let_go() -> None:
    with feeder._Questions(twice_pack(), 7, CASES) as questions:
        questions.take()
    assert all(coming.done() for _, coming in questions._coming)
