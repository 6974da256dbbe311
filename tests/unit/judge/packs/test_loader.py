from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.packs.errors import PackError
from judge.packs.loader import load_pack

Edit = Callable[..., Path]


def refusal(directory: Path) -> PackError:
    with pytest.raises(PackError) as caught:
        load_pack(directory)
    return caught.value


def test_a_good_pack(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    assert (pack.slug, pack.version, pack.major, pack.difficulty) == ("scale", "2.3.4", 2, "easy")
    assert [argument.name for argument in pack.arguments] == ["x", "y", "N", "factor"]
    assert [case.id for case in pack.cases] == ["sample", "hidden"], "samples come first"
    assert pack.cases[0].parameters == {"factor": -2}
    assert pack.cases[1].parameters == {"factor": 3}
    assert pack.benchmarks_for("cuda") == pack.benchmarks
    assert pack.benchmarks_for("emulator") == ()


@pytest.mark.parametrize(
    ("old", "new", "key", "reason"),
    [
        ('title = "Scale a vector"', 'tilte = "Scale a vector"', "title", "required"),
        ('difficulty = "easy"', 'difficulty = "trivial"', "difficulty", "easy"),
        ('version = "2.3.4"', 'version = "2.3"', "version", "match"),
        ("schema = 1", "schema = 2", "schema", "1"),
        ('id = "scale"', 'id = "other"', "id", "directory"),
        ("max = 1000", "max = 0", "axes.N", "above"),
        ('type = "const float*"', 'type = "const flaot*"', "arguments.x.type", "unknown type"),
        ('type = "const float*"', 'type = "float*"', "arguments.x.type", "const"),
        ('type = "float*"', 'type = "float"', "arguments.y.type", "role"),
        ('shape = ["N"]\ndistribution', 'shape = ["P"]\ndistribution', "arguments.x.shape", "neither an axis"),
        ('shape = ["N"]\ndistribution', 'shape = ["N +"]\ndistribution', "arguments.x.shape", "not an expression"),
        ("low = -1, high = 1", "low = -1", "arguments.0.distribution", "takes high and low"),
        ("low = -1, high = 1", "low = 1, high = -1", "arguments.0.distribution", "above"),
        ('kind = "uniform", low = -1, high = 1', 'kind = "gauss"', "arguments.0.distribution.kind", "uniform"),
        ('distribution = { kind = "uniform", low = -1, high = 1 }', "", "arguments.x.distribution", "make_inputs"),
        ("[tolerance.y]", "[tolerance.z]", "tolerance", "exactly one table"),
        ("axes = { N = 100 }", "axes = { N = 1001 }", "cases.hidden.axes.N", "not within"),
        ("axes = { N = 100 }", "axes = { M = 100 }", "cases.hidden.axes", "exactly"),
        ("factor = -2", "factor = 9", "cases.sample.parameters.factor", "not within"),
        ("factor = -2", "fcator = 2", "cases.sample.parameters", "not among"),
        ('id = "hidden"', 'id = "sample"', "cases", "twice"),
        ('group = "sample"', 'group = "hidden"', "cases", "sample"),
        ('bytes = "8*N"', 'bytes = "8*M"', "bench.bytes", "neither an axis"),
        ('name = "factor"', 'name = "x"', "arguments", "twice"),
        ("multiple_of = 1", "multiple_of = 7", "cases.hidden.axes.N", "not within"),
        (
            "[tolerance.y]",
            '[emulator]\nout_of_bounds_reads = "fatal"\n[tolerance.y]',
            "emulator.out_of_bounds_reads",
            "error",
        ),
    ],
)
def test_what_is_wrong_is_said_with_its_key(edit: Edit, old: str, new: str, key: str, reason: str) -> None:
    error = refusal(edit(old, new))
    assert error.key == key
    assert reason in error.reason
    assert error.file.name == "challenge.toml"
    assert str(error.file) in str(error)


def test_reads_out_of_bounds_are_warnings_unless_the_pack_says_otherwise(pack_directory: Path, edit: Edit) -> None:
    assert not load_pack(pack_directory).emulator.reads_are_errors
    strict = edit("[tolerance.y]", '[emulator]\nout_of_bounds_reads = "error"\n[tolerance.y]')
    assert load_pack(strict).emulator.reads_are_errors


def test_broken_toml_says_the_line(edit: Edit) -> None:
    assert "line 1" in refusal(edit("schema = 1", "schema = = 1")).reason


@pytest.mark.parametrize("name", ["challenge.toml", "reference.py", "statement.md"])
def test_missing_files(pack_directory: Path, name: str) -> None:
    (pack_directory / name).unlink()
    error = refusal(pack_directory)
    assert error.file.name == name
    assert "missing" in error.reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("import no_such_module_at_all", "ModuleNotFoundError"),
        ("def reference(:", "SyntaxError"),
        ("def referense(x): return x", "not defined"),
        ("reference = 3", "must be a function"),
    ],
)
def test_references_that_cannot_be_used(pack_directory: Path, content: str, reason: str) -> None:
    (pack_directory / "reference.py").write_text(content)
    error = refusal(pack_directory)
    assert error.file.name == "reference.py"
    assert reason in f"{error.key} {error.reason}"


def test_integers_take_no_floating_point_distribution(edit: Edit) -> None:
    error = refusal(edit('type = "const float*"', 'type = "const int*"'))
    assert error.key == "arguments.x.distribution"
    assert "integers" in error.reason


def test_integer_outputs_are_exact(edit: Edit) -> None:
    assert "exact" in refusal(edit('type = "float*"', 'type = "int*"')).reason


def test_the_digest_is_over_what_decides(pack_directory: Path, edit: Edit) -> None:
    before = load_pack(pack_directory).digest
    (pack_directory / "statement.md").write_text("Other words.")
    assert load_pack(pack_directory).digest == before
    assert load_pack(edit("low = -1", "low = -2")).digest != before


def test_loading_leaves_no_bytecode(pack_directory: Path) -> None:
    load_pack(pack_directory)
    assert not (pack_directory / "__pycache__").exists()


def test_a_scalar_that_c_cannot_take_by_value_is_refused(edit: Edit) -> None:
    with pytest.raises(PackError, match="cannot be passed by value") as caught:
        load_pack(edit('type = "float"\nrole = "scalar"', 'type = "half"\nrole = "scalar"'))
    assert caught.value.key == "arguments.factor.type"
