"""The ends of sizes, parameters and constraints that no case reaches are findings."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.verify import Severity
from judge.verify.reach import check_reach
from tests.builds import ROOT

Edit = Callable[..., Path]


def found(directory: Path) -> dict[str, str]:
    return {finding.key: finding.message for finding in check_reach(load_pack(directory))}


def test_nothing_is_found_where_every_end_is_reached(pack_directory: Path) -> None:
    assert found(pack_directory) == {}


def test_sizes_at_which_kernels_go_wrong_have_a_case_on_the_emulator(edit: Edit) -> None:
    edit("max = 100_000_000", "max = 1_000_000")
    edit("axes = { N = 100_000_000 }", "axes = { N = 1_000_000 }")
    edit("axes = { N = 100_000 }", "axes = { N = 65_535 }")
    found_of = found(edit("axes = { N = 1_100_000 }", "axes = { N = 65_535 }"))
    assert "reaches 65,535 of 1,000,000 on the emulator, where a case of 65,537 is cheap" in found_of["axes.N"]
    edit("max = 1_000_000", "max = 131_072")
    edit("axes = { N = 1_000_000 }", "axes = { N = 131_072 }")
    pack = edit("axes = { N = 65_535 }", "axes = { N = 131_071 }")
    assert "reaches 131,071 of 131,072 on the emulator" in found(pack)["axes.N"]


def test_a_vector_has_more_than_a_block_combines_of_a_thousand(edit: Edit) -> None:
    pack = edit("axes = { N = 1_100_000 }", "axes = { N = 1_048_576 }")
    message = "reaches 1,048,576 of 100,000,000 on the emulator, where a case of 1,048,577 is cheap"
    assert message in found(pack)["axes.N"]
    edit('shape = ["N"]', 'shape = ["2*N"]')
    assert found(pack) == {}, "more than three million elements are not cheap"


def test_what_is_too_dear_for_the_emulator_is_reached_on_gpus(edit: Edit) -> None:
    pack = edit("axes = { N = 100_000_000 }", "axes = { N = 49_999_999 }")
    assert found(pack)["axes.N"].startswith("reaches 49,999,999 of 100,000,000; write a case")
    gpus_alone = '[[cases]]\nid = "large"\ndevices = ["cuda"]\naxes = { N = 50_000_000 }\n\n[[benchmarks]]'
    assert found(edit("[[benchmarks]]", gpus_alone)) == {}


def test_both_ends_of_a_parameter(edit: Edit) -> None:
    edit("factor = 8 }", "factor = 7 }")
    message = found(edit("factor = -8 }", "factor = 1 }"))["parameters.factor"]
    assert message.startswith("reaches -2.0 of -8.0")
    assert "; reaches 7.0 of 8.0" in message
    hidden = edit("N, float factor)", "N)")
    assert "parameters.factor" not in found(hidden), "a parameter for data alone has no stated range"


@pytest.mark.parametrize(
    ("constraint", "wanted"),
    [
        ("factor <= N", ""),
        ("factor - 1 < N", ""),
        ("factor - 2 < N", "in which the sides differ by 1"),
        ("factor <= N + 2", "in which both sides are equal"),
        ("2*N + 7 >= factor", "in which both sides are equal"),
        ("N <= 100_000_000", ""),
        ("N <= 300_000_000", "reaches 100,000,000 of 300,000,000"),
        ("N*3 != 4", ""),
    ],
)
def test_a_constraint_is_met_with_equality(constraint: str, wanted: str, edit: Edit) -> None:
    edit("factor = { default = 3.0, min = -8, max = 8 }", "factor = { default = 1, min = -9, max = 9, integer = true }")
    edit("factor = 8 }", "factor = 9 }")
    edit("factor = -8 }", "factor = -9 }")
    pack = edit("[axes]", f'constraints = ["{constraint}"]\n\n[axes]')
    assert (wanted or "nothing") in found(pack).get(f"constraints ({constraint})", "nothing")


def test_a_reason_makes_it_a_note(edit: Edit) -> None:
    edit("axes = { N = 1_100_000 }", "axes = { N = 3000 }")
    pack = edit("[bench]", '[unreached]\nN = "the reference takes minutes"\nM = "there is no such size"\n\n[bench]')
    findings = {finding.key: finding for finding in check_reach(load_pack(pack))}
    assert findings["axes.N"].severity is Severity.NOTE
    assert findings["axes.N"].message.endswith("but: the reference takes minutes")
    assert findings["unreached.M"].severity is Severity.WARNING


def test_some_output_has_more_elements_than_a_small_grid_has_threads() -> None:
    pack = load_pack(ROOT / "challenges" / "jacobi-2d")
    assert "cases" not in {finding.key for finding in check_reach(pack)}
    fewer = dataclasses.replace(pack, cases=tuple(case for case in pack.cases if case.id != "many-outputs"))
    (finding,) = check_reach(fewer)
    assert (finding.key, finding.severity) == ("cases", Severity.ERROR)
    assert finding.message.startswith(
        "no output has more than 49,152 elements on the emulator, where a case of rows = "
    )
    waived = dataclasses.replace(fewer, unreached={"outputs": "each takes seconds"})
    assert [found.severity for found in check_reach(waived)] == [Severity.NOTE]
