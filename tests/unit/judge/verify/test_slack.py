from __future__ import annotations

import numpy as np
import pytest

from judge.packs.pack import Pack
from judge.verify.prepared import PreparedCase
from judge.verify.slack import Slack, measure_slack, slack_table, with_bits


def slack_of(pack: Pack, case_id: str) -> dict[str, Slack]:
    (case,) = (case for case in pack.cases if case.id == case_id)
    return {slack.argument: slack for slack in measure_slack(PreparedCase(pack, case))}


def test_a_softmax_lets_pass_neither_codes_of_16_bits_nor_inputs_left_out(packs: dict[str, Pack]) -> None:
    found = slack_of(packs["softmax"], "spikes")
    assert found["input"].bits is not None
    assert found["input"].bits > 16
    assert (found["input"].zeroed, found["input"].copied, found["output"].unwritten) == (0.0, 0.0, 0.0)


def test_an_input_that_the_reference_does_not_take_is_refused(packs: dict[str, Pack]) -> None:
    found = slack_of(packs["spmv-csr"], "m-33-n-65-nnz-700")
    assert (found["row_offsets"].zeroed, found["row_offsets"].copied) == (0.0, 0.0)


def test_bits_are_those_that_are_kept() -> None:
    values = np.array([1.0, 1.25, 3.0, -0.1, np.inf], np.float32)
    assert with_bits(values, 2).tolist()[:3] == [1.0, 1.0, 3.0]
    assert with_bits(values, 24).tolist() == values.tolist()
    assert with_bits(values, 3)[3] == pytest.approx(-0.1, rel=1 / 8)


def test_the_table_shows_shares_as_one_in_so_many() -> None:
    table = slack_table([Slack("small", "x", 12, zeroed=1 / 64, copied=0.0), Slack("small", "y", None, unwritten=0.5)])
    assert table.splitlines()[2] == "| small | x | 12 | 1 in 64 | – | – |"
    assert table.splitlines()[3] == "| small | y | – | – | – | 1 in 2 |"
