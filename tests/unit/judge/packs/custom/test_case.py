from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.collection.registry import Registry
from judge.packs.custom.case import CustomInputError, custom_case, custom_fields, with_custom_case
from judge.packs.custom.contents import MAX_VALUES
from judge.packs.data.distributions import Constant, Normal, Sparse, Uniform
from judge.packs.data.inputs import make_inputs
from judge.packs.pack import Pack

#: A whole number that no float holds.
HUGE = "1" + "0" * 400
CHALLENGES = Path(__file__).resolve().parents[5] / "challenges"


@pytest.fixture
def pack(pack_directory: Path) -> Pack:
    return load_pack(pack_directory)


def _wrong(pack: Pack, **given: str) -> dict[str, str]:
    with pytest.raises(CustomInputError) as error:
        custom_case(pack, given, "cuda")
    return error.value.fields


def test_what_is_not_given_is_as_in_the_first_public_case(pack: Pack) -> None:
    case = custom_case(pack, {}, "cuda")
    assert (case.axes, case.parameters, case.typed) == ({"N": 5}, {"factor": -2.0}, {})
    assert [(field.name, field.kind, field.default) for field in custom_fields(pack)] == [
        ("N", "size", "5"),
        ("factor", "parameter", "-2"),
        ("x", "contents", "uniform -1 1"),
    ]


def test_sizes_parameters_and_values_are_those_given(pack: Pack) -> None:
    case = custom_case(pack, {"N": "3", "factor": "1.5", "x": "[1, -2.5; 3e2]"}, "cuda")
    inputs = make_inputs(pack, case, 1)
    np.testing.assert_array_equal(inputs["x"], np.float32([1, -2.5, 300]))
    assert (inputs["N"], inputs["factor"]) == (3, 1.5)


@pytest.mark.parametrize(
    ("text", "made"),
    [
        ("uniform -3 4", Uniform(-3, 4)),
        ("Normal 1, 0.5", Normal(1, 0.5)),
        ("zeros", Constant(0)),
        ("sparse 0.9 uniform 0 1", Sparse(0.9, Uniform(0, 1))),
    ],
)
def test_a_distribution_is_written_in_words(pack: Pack, text: str, made: object) -> None:
    assert custom_case(pack, {"x": text}, "cuda").distributions == {"x": made}


@pytest.mark.parametrize(
    ("field", "text", "told"),
    [
        ("N", "-4", "from 1 to 1,000"),
        ("N", "1001", "from 1 to 1,000"),
        ("N", "five", "not a whole number"),
        ("N", HUGE, "from 1 to 1,000"),
        ("N", "7", "wants N != 7"),
        ("N", "101", "choose smaller sizes"),
        ("factor", "9", "from -8 to 8"),
        ("factor", "nan", "finite"),
        ("factor", HUGE, "finite"),
        ("x", "1 2 3", "3 values for 5 elements"),
        ("x", "1 2 nan 4 5", "finite"),
        ("x", "1 2 inf 4 5", "finite"),
        ("x", f"1 2 {HUGE} 4 5", "finite"),
        ("x", f"constant {HUGE}", "finite"),
        ("x", "1 2 1e39 4 5", "larger than the type can hold"),
        ("x", "1 2 three 4 5", "'three' is not a number"),
        ("x", "uniform 2 1", "write uniform LOW HIGH"),
        ("x", "gauss 0 1", "is none of uniform LOW HIGH"),
        ("x", "permutation", "whole numbers"),
        ("z", "1", "there are N, factor, x"),
    ],
)
def test_a_wrong_text_is_told_at_its_field(pack: Pack, field: str, text: str, told: str) -> None:
    fields = _wrong(pack, **{field: text})
    assert [*fields] == [field]
    assert told in fields[field]


def test_every_wrong_size_is_told_at_once(pack: Pack) -> None:
    assert {*_wrong(pack, N="0", factor="many")} == {"N", "factor"}


def test_long_inputs_are_not_typed(edit: object, pack_directory: Path) -> None:
    edit("hidden = [100]", "hidden = [9999]")  # type: ignore[operator]
    edit("max = 1000", "max = 10000")  # type: ignore[operator]
    many = _wrong(load_pack(pack_directory), N=str(MAX_VALUES + 1), x="1")
    assert "at most 4,096 values" in many["x"]


def test_indices_stay_within_what_the_challenge_declares(edit: object, pack_directory: Path) -> None:
    edit("const float* x", "const int* x")  # type: ignore[operator]
    edit('kind = "uniform", low = -1, high = 1', 'kind = "integers", low = 0, high = 4')  # type: ignore[operator]
    pack = load_pack(pack_directory)
    assert custom_case(pack, {"x": "0 1 2 3 4"}, "cuda").typed == {"x": (0, 1, 2, 3, 4)}
    for text in ("0 1 2 3 5", "0 1 2 3 -1", "integers 0 5", "0 1 2 3 1.5", "uniform 0 1"):
        assert [*_wrong(pack, x=text)] == ["x"]


def test_every_challenge_takes_what_it_shows_as_its_defaults() -> None:
    packs = Registry.load([CHALLENGES], entry_points=False).packs
    assert packs
    for pack in packs.values():
        given = {field.name: field.default for field in custom_fields(pack)}
        for kind in ("emulator", "cuda"):
            made = with_custom_case(pack, given, kind)
            assert [case.group for case in made.cases] == ["custom"]
            assert [(case.id, case.axes, case.group) for case in made.benchmarks] == [
                (made.cases[0].id, made.cases[0].axes, "benchmark")
            ]
