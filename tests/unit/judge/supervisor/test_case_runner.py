"""Cases are prepared ahead of those who take them."""

from __future__ import annotations

import pytest

from judge.supervisor import case_runner
from tests.host_device.judging import twice_pack

CASES = twice_pack().cases
#: The arguments of the three smaller ones: 5, 1 and 1009 numbers in, and as many out.
SMALL_BYTES = 4 * 2 * (5 + 1 + 1009)


@pytest.mark.parametrize(("most_bytes", "ahead"), [(0, 1), (SMALL_BYTES - 1, 2), (SMALL_BYTES, 3), (1 << 30, 4)])
def test_as_many_cases_are_prepared_as_fit(most_bytes: int, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_runner, "_AHEAD_BYTES", most_bytes)
    with case_runner._CasePreparer(twice_pack(), 7, CASES) as preparer:
        assert len(preparer._prepared) == ahead
        for case in CASES:
            prepared = preparer.take()
            assert prepared.case is case
            assert prepared.inputs["N"] == case.axes["N"]
            assert prepared.check({"output": 2 * prepared.inputs["input"]}) is None
            assert prepared.check({"output": prepared.inputs["input"]}) is not None
    assert not preparer._prepared


def test_cases_that_nobody_takes_are_discarded() -> None:
    with case_runner._CasePreparer(twice_pack(), 7, CASES) as preparer:
        preparer.take()
    assert all(future.done() for _, future in preparer._prepared)
