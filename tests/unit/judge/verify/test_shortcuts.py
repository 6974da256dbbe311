from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.pack import Pack
from judge.verify.shortcuts import Passed, passing_shortcuts, shortcuts_table


@pytest.mark.parametrize("slug", ["mse", "rms-norm", "sparse-matvec", "vector-add"])
def test_nothing_may_be_left_out_of_our_means_and_sums(packs: dict[str, Pack], slug: str) -> None:
    # The reference of sparse-matvec does not read how many elements there are: the rows' ends say so.
    (case,) = packs[slug].benchmarks_for("emulator")
    assert [each.shortcut for each in passing_shortcuts(packs[slug], case)] == []


def test_a_wide_tolerance_lets_samples_and_fewer_bits_pass(edit: Callable[..., Path]) -> None:
    pack = load_pack(edit('y = { kind = "elementwise" }', 'y = { kind = "close", absolute = 1e6 }'))
    case = pack.benchmarks_for("emulator")[0]
    found = [each.shortcut for each in passing_shortcuts(pack, case)]
    assert any("without five of eight" in each for each in found)
    assert any(" in tf32" in each for each in found)


def test_the_table_names_challenge_benchmark_and_what_passes() -> None:
    table = shortcuts_table([("sum", Passed("small", "shortcut: x without one in 24"))])
    assert table.splitlines()[2] == "| sum | small | x without one in 24 |"
