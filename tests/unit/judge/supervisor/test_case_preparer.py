"""Cases are prepared ahead of those who take them."""

from __future__ import annotations

import pytest

from judge.supervisor import case_preparer
from judge.supervisor.case_preparer import CasePreparer
from tests.host_device.judging import twice_pack

CASES = twice_pack().cases
#: The arguments of the three smaller ones: 5, 1 and 1009 numbers in, and as many out.
SMALL_BYTES = 4 * 2 * (5 + 1 + 1009)


@pytest.mark.parametrize(("most_bytes", "ahead"), [(0, 1), (SMALL_BYTES - 1, 2), (SMALL_BYTES, 3), (1 << 30, 4)])
def test_as_many_cases_are_prepared_as_fit(most_bytes: int, ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(case_preparer, "_AHEAD_BYTES", most_bytes)
    with CasePreparer(twice_pack(), 7, CASES) as preparer:
        assert len(preparer._prepared) == ahead
        for case in CASES:
            prepared = preparer.take()
            assert prepared.case is case
            assert prepared.inputs["N"] == case.axes["N"]
            assert prepared.check({"output": 2 * prepared.inputs["input"]}) is None
            assert prepared.check({"output": prepared.inputs["input"]}) is not None
    assert not preparer._prepared


def test_cases_that_nobody_takes_are_discarded() -> None:
    with CasePreparer(twice_pack(), 7, CASES) as preparer:
        preparer.take()
    assert all(future.done() for _, future in preparer._prepared)


def test_public_cases_have_the_same_inputs_under_every_seed() -> None:
    def drawn(seed: int) -> dict[str, list[float]]:
        with CasePreparer(twice_pack(), seed, CASES) as preparer:
            prepared = [preparer.take() for _ in CASES]
        return {each.case.id: each.inputs["input"].tolist() for each in prepared}

    public = {case.id for case in CASES if case.is_public}
    first, second = drawn(7), drawn(8)
    assert public
    assert {name for name in first if first[name] == second[name]} == public
