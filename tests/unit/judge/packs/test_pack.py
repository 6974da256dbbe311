from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from judge.packs.checkers import complaint_of_check
from judge.packs.collection.loader import load_pack
from judge.packs.data.drawing import fill_by_recipe
from judge.packs.data.inputs import host_inputs, input_recipes, lazy_inputs, make_inputs, scalar_values
from judge.packs.data.lazy_input import LazyInput
from judge.packs.errors import PackError
from judge.packs.form.statement import read_statement
from judge.packs.judging import check_outputs, spot_check
from judge.packs.pack import Case, Pack
from judge.packs.sizes import OutputSpec, case_bytes, case_flops, output_specs
from judge.wire.elements import Element

Edit = Callable[..., Path]


def sample(pack: Pack) -> Case:
    return pack.cases[0]


def test_inputs_are_those_of_the_signature(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    inputs = make_inputs(pack, sample(pack), 1)
    assert list(inputs) == ["x", "N", "factor"]
    assert inputs["x"].shape == (5,)
    assert inputs["x"].dtype == np.float32
    assert inputs["N"] == 5
    assert inputs["N"].dtype == np.int32
    assert inputs["factor"] == -2.0
    assert inputs["factor"].dtype == np.float32


def test_contents_follow_from_seed_and_call(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    made = {
        (seed, call): make_inputs(pack, sample(pack), seed, call)["x"].tobytes() for seed in (1, 2) for call in (0, 1)
    }
    assert len(set(made.values())) == 4
    assert make_inputs(pack, sample(pack), 2, 1)["x"].tobytes() == made[2, 1]


def test_a_case_may_have_its_own_distribution(edit: Edit) -> None:
    own = 'axes = { N = 5 }\ndata.x = { kind = "constant", value = 4 }'
    pack = load_pack(edit("axes = { N = 5 }", own))
    assert set(make_inputs(pack, pack.cases[0], 1)["x"]) == {4.0}
    assert set(make_inputs(pack, pack.cases[1], 1)["x"]) != {4.0}


def test_check_and_spot_check_without_one_in_the_reference(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    case = sample(pack)
    inputs = make_inputs(pack, case, 1)
    right = {"y": inputs["x"] * np.float32(-2)}
    assert check_outputs(pack, case, inputs, right) is None
    assert spot_check(pack, case, inputs, right, seed=3) is None
    wrong = {"y": right["y"].copy()}
    wrong["y"][3] += 1
    for mismatch in (
        check_outputs(pack, case, inputs, wrong),
        spot_check(pack, case, inputs, wrong, seed=3),
        spot_check(pack, case, lazy_inputs(pack, case, 1), wrong, seed=3),
    ):
        assert mismatch is not None
        assert mismatch.indices == ((3,),)
        assert (mismatch.count, mismatch.total) == (1, 5)


def test_flat_outputs_are_taken_for_shaped_ones(edit: Edit) -> None:
    directory = edit('[arrays.y]\nshape = ["N"]', '[arrays.y]\nshape = ["N", 1]')
    pack = load_pack(directory)
    case = sample(pack)
    inputs = make_inputs(pack, case, 1)
    assert output_specs(pack, case)["y"].shape == (5, 1)
    assert check_outputs(pack, case, inputs, {"y": inputs["x"] * np.float32(-2)}) is None


def test_spot_checks_compare_the_rows_they_choose(pack_directory: Path) -> None:
    (pack_directory / "reference.py").write_text(
        "import numpy as np\n"
        "def reference(x, N, factor): raise AssertionError('too dear')\n"
        "def spot_check(rng, inputs, outputs):\n"
        "    rows = np.argsort(-np.abs(outputs['y']))[:2]\n"
        "    return {'y': (rows, inputs['x'][rows].astype(np.float64) * float(inputs['factor']), None)}\n"
    )
    pack = load_pack(pack_directory)
    case = sample(pack)
    inputs = make_inputs(pack, case, 1)
    outputs = {"y": inputs["x"] * np.float32(-2)}
    assert spot_check(pack, case, inputs, outputs, seed=1) is None
    outputs["y"][4] = 77
    mismatch = spot_check(pack, case, inputs, outputs, seed=1)
    assert mismatch is not None
    assert mismatch.indices == ((4,),), "indices are those of the whole output"
    assert "y[4] is 77.0" in mismatch.message
    assert "elements checked differ" in mismatch.message


def test_rows_checked_in_parts_are_judged_as_one(pack_directory: Path) -> None:
    """The same is said as of all of them at once."""
    path = pack_directory / "reference.py"
    source = (
        "import numpy as np\n"
        "def reference(x, N, factor): raise AssertionError('too dear')\n"
        "def spot_check(rng, inputs, outputs):\n"
        "    order = rng.permutation(len(inputs['x']))\n"
        "    for rows in np.array_split(order, {parts}):\n"
        "        part = {{'y': (rows, inputs['x'][rows].astype(np.float64) * float(inputs['factor']), None)}}\n"
        "        {hand}\n"
    )
    found = []
    for parts, hand in ((1, "return part"), (1, "yield part"), (7, "yield part")):
        path.write_text(source.format(parts=parts, hand=hand))
        pack = load_pack(pack_directory)
        case = pack.benchmarks[0]
        inputs = make_inputs(pack, case, 1)
        outputs = {"y": inputs["x"] * inputs["factor"]}
        assert spot_check(pack, case, inputs, outputs, seed=1) is None
        outputs["y"][::50] += np.arange(len(outputs["y"][::50])) + 1
        outputs["y"][77] = np.nan
        found.append(spot_check(pack, case, inputs, outputs, seed=1))
    assert found[0] is not None
    assert found[0].count > len(found[0].indices)
    assert found[0] == found[1] == found[2]


def test_structured_inputs_come_from_the_reference(pack_directory: Path, edit: Edit) -> None:
    edit('data = { kind = "uniform", low = -1, high = 1 }', "")
    path = pack_directory / "reference.py"
    path.write_text(
        path.read_text() + "\ndef make_inputs(rng, N, factor):\n    return {'x': np.sort(rng.standard_normal(N))}\n"
    )
    pack = load_pack(pack_directory)
    made = make_inputs(pack, pack.cases[1], 1)["x"]
    assert made.dtype == np.float32
    assert np.all(np.diff(made) >= 0)
    assert np.array_equal(made, make_inputs(pack, pack.cases[1], 1)["x"])
    assert not np.array_equal(made, make_inputs(pack, pack.cases[1], 2)["x"])


def test_drawn_inputs_are_the_inputs(edit: Edit) -> None:
    directory = edit("[arrays.y]", '[arrays.y]\nrole = "inout"')
    path = directory / "reference.py"
    path.write_text(path.read_text() + "\ndef make_inputs(rng, N, factor):\n    return {'y': rng.standard_normal(N)}\n")
    pack = load_pack(directory)
    case = pack.benchmarks[0]
    for call, like in ((0, None), (3, 2)):
        drawn = lazy_inputs(pack, case, 1, call, like=like, threads=2)
        inputs = make_inputs(pack, case, 1, call, like=like)
        assert list(drawn) == list(inputs) == ["x", "y", "N", "factor"]
        assert [type(value) for value in drawn.values()] == [LazyInput, np.ndarray, np.int32, np.float32]
        assert [type(value) for value in inputs.values()] == [np.ndarray, np.ndarray, np.int32, np.float32]
        assert all(np.asarray(drawn[name]).tobytes() == inputs[name].tobytes() for name in inputs)


def test_a_whole_check_gets_whole_arrays(pack_directory: Path) -> None:
    path = pack_directory / "reference.py"
    path.write_text(path.read_text().replace("    return", "    assert type(x) is np.ndarray\n    return"))
    pack = load_pack(pack_directory)
    case = sample(pack)
    right = {"y": make_inputs(pack, case, 1)["x"] * np.float32(-2)}
    assert spot_check(pack, case, lazy_inputs(pack, case, 1), right, seed=3) is None


def test_recipes_make_the_inputs_and_a_near_copy_differs_a_little(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    case = pack.benchmarks[0]
    for call, like in ((3, None), (3, 2)):
        made = np.empty(make_inputs(pack, case, 1)["x"].size, np.float32)
        recipe = input_recipes(pack, case, 1, call, like=like)["x"]
        assert recipe is not None
        fill_by_recipe(recipe, made)
        assert np.array_equal(made, make_inputs(pack, case, 1, call, like=like)["x"])
    near, earlier = make_inputs(pack, case, 1, 3, like=2)["x"], make_inputs(pack, case, 1, 2)["x"]
    assert 0 < np.count_nonzero(near != earlier) < near.size // 100
    assert scalar_values(pack, case) == {
        name: value for name, value in make_inputs(pack, case, 1).items() if name != "x"
    }


def test_a_near_copy_never_repeats_a_call(pack_directory: Path, edit: Edit) -> None:
    """Where nothing is declared, there is nothing to change but everything."""
    edit('data = { kind = "uniform", low = -1, high = 1 }', "")
    path = pack_directory / "reference.py"
    path.write_text(path.read_text() + "\ndef make_inputs(rng, N, factor):\n    return {'x': rng.standard_normal(N)}\n")
    pack = load_pack(pack_directory)
    case = pack.benchmarks[0]
    assert input_recipes(pack, case, 1, 3, like=2) == {"x": None}
    near = make_inputs(pack, case, 1, 3, like=2)["x"]
    assert np.array_equal(near, host_inputs(pack, case, 1, 3, like=2)["x"])
    assert not np.array_equal(near, make_inputs(pack, case, 1, 2)["x"])


def test_what_the_runner_has_to_know(edit: Edit) -> None:
    pack = load_pack(edit("[arrays.y]", '[arrays.y]\ninitial = "poison"'))
    assert output_specs(pack, sample(pack)) == {"y": OutputSpec((5,), Element.FLOAT32, "poison")}


def test_figures_of_the_benchmark(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    assert case_bytes(pack, pack.benchmarks[0]) == 8000.0
    assert case_flops(pack, pack.benchmarks[0]) == 1000.0


def test_texts(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    assert pack.signature_text == "void solve(const float* x, float* y, int N, float factor)"
    assert pack.prototype() in pack.header()
    assert "#include <cuda_fp16.h>" not in pack.header()
    statement = read_statement(pack)
    assert pack.prototype() in statement
    assert r"$1 \le N \le 1{,}000$ (number of elements)" in statement
    assert r"$-8 \le \texttt{factor} \le 8$" in statement
    assert "- `N != 7`" in statement
    assert "At most 1,000 in 5 s." in statement


def with_check(directory: Path, body: str) -> Pack:
    path = directory / "reference.py"
    path.write_text(path.read_text() + f"\n\ndef check(inputs, outputs):\n{body}")
    return load_pack(directory)


def test_a_check_decides_where_several_answers_are_right(pack_directory: Path, edit: Edit) -> None:
    edit('y = { kind = "elementwise" }', "")
    body = "    wrong = np.flatnonzero(np.sort(outputs['y']) != np.sort(inputs['x']))\n"
    pack = with_check(pack_directory, body + "    return f'{wrong.size} values are gone' if wrong.size else None\n")
    case = sample(pack)
    inputs = make_inputs(pack, case, 1)
    assert check_outputs(pack, case, inputs, {"y": inputs["x"][::-1]}) is None
    assert spot_check(pack, case, lazy_inputs(pack, case, 1), {"y": inputs["x"]}, seed=1) is None
    for mismatch in (
        check_outputs(pack, case, inputs, {"y": inputs["x"] * 0}),
        spot_check(pack, case, lazy_inputs(pack, case, 1), {"y": inputs["x"] * 0}, seed=1),
    ):
        assert mismatch is not None
        assert (mismatch.output, mismatch.message) == ("y", "5 values are gone")


def test_outputs_that_a_check_fails_on_are_wrong_if_it_takes_the_references(pack_directory: Path) -> None:
    body = "    places = np.abs(outputs['y']).astype(int)\n    inputs['x'][places]\n"
    pack = with_check(pack_directory, body)
    case = sample(pack)
    inputs = make_inputs(pack, case, 1)
    right = {"y": inputs["x"] * np.float32(-2)}
    assert check_outputs(pack, case, inputs, right) is None
    far = complaint_of_check(pack, case, inputs, {"y": right["y"] + 1000})
    assert far is not None
    assert "cannot be checked: IndexError" in far.message
    broken = with_check(pack_directory, "    return 1 / 0\n")
    with pytest.raises(PackError, match="ZeroDivisionError"):
        check_outputs(broken, case, inputs, right)


def test_close_allows_what_it_says(edit: Edit) -> None:
    pack = load_pack(edit('kind = "elementwise"', 'kind = "close", absolute = 0.25, relative = 0.5'))
    case = sample(pack)
    inputs = make_inputs(pack, case, 1)
    right = inputs["x"] * np.float32(-2)
    assert check_outputs(pack, case, inputs, {"y": right * np.float32(1.5) + np.sign(right) * np.float32(0.2)}) is None
    assert check_outputs(pack, case, inputs, {"y": right * np.float32(1.5) + np.sign(right) * np.float32(0.3)})


def test_auto_derives_the_bound_from_the_reference(edit: Edit) -> None:
    pack = load_pack(edit('kind = "elementwise"', 'kind = "auto"'))
    case = pack.cases[1]
    inputs = make_inputs(pack, case, 1)
    right = inputs["x"] * inputs["factor"]
    assert check_outputs(pack, case, inputs, {"y": right * np.float32(1 + 1e-6)}) is None
    assert check_outputs(pack, case, inputs, {"y": right.astype(np.float16).astype(np.float32)})


def test_make_inputs_is_called_where_something_has_no_data_of_its_own(pack_directory: Path, edit: Edit) -> None:
    """To make what a case declares again would take the host as long as the array is large."""
    edit('data = { kind = "uniform", low = -1, high = 1 }', "")
    edit("axes = { N = 5 }", 'axes = { N = 5 }\ndata.x = { kind = "zeros" }')
    reference = pack_directory / "reference.py"
    coded = "import numpy as np\n\ndef make_inputs(rng, N, **_):\n    assert N != 5\n    return {'x': np.ones(N)}\n\n"
    reference.write_text(coded + reference.read_text())
    pack = load_pack(pack_directory)
    declared, made = pack.cases[:2]
    assert declared.axes["N"] == 5
    np.testing.assert_array_equal(make_inputs(pack, declared, 1)["x"], 0)
    np.testing.assert_array_equal(make_inputs(pack, made, 1)["x"], 1)
