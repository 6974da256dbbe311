"""Cases are prepared ahead of those who take them."""

from __future__ import annotations

import numpy as np
import pytest

from judge.supervisor import case_preparer
from judge.supervisor.case_preparer import CasePreparer, PreparedCase, prepare_case, scaled_down
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


def test_inputs_are_scaled_down_by_a_power_of_two() -> None:
    pack = twice_pack()
    case = next(case for case in CASES if case.axes["N"] == 5)
    values = np.array([3.0, -6.5, 0.1, 0.0, 1.0], np.float32)
    check = prepare_case(pack, 7, case).check
    smaller = scaled_down(pack, PreparedCase(case, {"input": values, "N": np.int32(5)}, check))
    assert smaller is not None
    assert smaller.inputs["input"].tolist() == (values / 8).tolist()
    assert smaller.inputs["N"] == 5
    assert smaller.check({"output": values / 4}) is None
    for unfit in (values / 8, np.full(5, np.inf, np.float32)):
        assert scaled_down(pack, PreparedCase(case, {"input": unfit, "N": np.int32(5)}, check)) is None


def test_public_cases_have_the_same_inputs_under_every_seed() -> None:
    def drawn(seed: int) -> dict[str, list[float]]:
        with CasePreparer(twice_pack(), seed, CASES) as preparer:
            prepared = [preparer.take() for _ in CASES]
        return {each.case.id: each.inputs["input"].tolist() for each in prepared}

    public = {case.id for case in CASES if case.is_public}
    first, second = drawn(7), drawn(8)
    assert public
    assert {name for name in first if first[name] == second[name]} == public
