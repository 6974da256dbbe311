from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.packs.data.inputs import make_inputs
from judge.packs.errors import PackError
from judge.packs.judging import reference_outputs

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
        ("schema = 2", "schema = 1", "schema", "2"),
        ("schema = 2", "schema = 3", "schema", "2"),
        ("max = 1000", "max = 0", "axes.N", "above"),
        ("const float* x", "const flaot* x", "signature", "unknown type"),
        ("float factor)", "float factor", "signature", "must have the form"),
        ("float* y", "float y", "arrays", "y is unknown"),
        ("int N,", "int N, int P,", "signature", "'P' is neither an axis nor a parameter"),
        ("float factor", "float x", "signature", "twice"),
        ('[arrays.x]\nshape = ["N"]', '[arrays.x]\nshape = ["P"]', "arrays.x.shape", "neither an axis"),
        ('[arrays.x]\nshape = ["N"]', '[arrays.x]\nshape = ["N +"]', "arrays.x.shape", "not an expression"),
        ('[arrays.x]\nshape = ["N"]', '[arrays.x]\nrole = "out"\nshape = ["N"]', "arrays.x.role", "const"),
        ("low = -1, high = 1", "low = -1", "arrays.x.data", "takes high and low"),
        ("low = -1, high = 1", "low = 1, high = -1", "arrays.x.data", "above"),
        ('kind = "uniform", low = -1, high = 1', 'kind = "gauss"', "arrays.x.data.kind", "uniform"),
        ('data = { kind = "uniform", low = -1, high = 1 }', "", "arrays.x.data", "make_inputs"),
        ('[arrays.y]\nshape = ["N"]', "", "arrays", "lacks y"),
        ("y = { kind", "z = { kind", "tolerance", "z: not an output"),
        ('y = { kind = "elementwise" }', "", "tolerance", "define check"),
        ('kind = "elementwise"', 'kind = "close"', "tolerance.y", "takes absolute"),
        ('kind = "elementwise"', 'kind = "auto", terms = 3', "tolerance.y", "no terms"),
        ("{ hidden = [100] }", "{ hidden = [1001] }", "cases.hidden.axes.N", "not within"),
        ("{ hidden = [100] }", "{ hidden = [100, 3] }", "sizes", "each axis"),
        ("{ hidden = [100] }", "[[7]]", "cases.n-7", "constraint N != 7"),
        ("{ hidden = [100] }", "[[8], [8]]", "sizes", "twice"),
        ("axes = { N = 5 }", "axes = { M = 5 }", "cases.sample.axes", "lacks N"),
        ("factor = -2", "factor = 9", "cases.sample.parameters.factor", "not within"),
        ("factor = -2", "fcator = 2", "cases.sample.parameters", "not among"),
        ("{ hidden = [100] }", "{ sample = [100] }", "cases.0.id", "twice"),
        ('group = "sample"', 'group = "hidden"', "sample_sizes", "Run button"),
        ("benchmark_sizes = { cuda = [[1000]] }", "", "benchmark_sizes", "missing"),
        ('bytes = "8*N"', 'bytes = "8*M"', "bench.bytes", "neither an axis"),
        ('bytes = "8*N"', 'medals = { bronze = 0.5, silver = 0.4, gold = 0.8 }\nbytes = "8*N"', "bench.medals", "rise"),
        ("N != 7", "M != 7", "constraints", "neither an axis"),
        ("schema = 2", 'schema = 2\nrounds = "M"', "rounds", "neither an axis"),
        ("N != 7", "N", "constraints", "compares nothing"),
        ("multiple_of = 1", "multiple_of = 7", "cases.hidden.axes.N", "not within"),
        (
            "[tolerance]",
            '[emulator]\nout_of_bounds_reads = "fatal"\n[tolerance]',
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
    strict = edit("[tolerance]", '[emulator]\nout_of_bounds_reads = "error"\n[tolerance]')
    assert load_pack(strict).emulator.reads_are_errors


def test_broken_toml_says_the_line(edit: Edit) -> None:
    assert "line 1" in refusal(edit("schema = 2", "schema = = 2")).reason


@pytest.mark.parametrize("name", ["challenge.toml", "reference.py", "statement.md"])
def test_missing_files(pack_directory: Path, name: str) -> None:
    (pack_directory / name).unlink()
    error = refusal(pack_directory)
    assert error.file.name == name
    assert "missing" in error.reason


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("def reference(:", "SyntaxError"),
        ("def referense(x): return x", "not defined"),
    ],
)
def test_references_that_cannot_be_used(pack_directory: Path, content: str, reason: str) -> None:
    (pack_directory / "reference.py").write_text(content)
    error = refusal(pack_directory)
    assert error.file.name == "reference.py"
    assert reason in f"{error.key} {error.reason}"


def test_integers_take_no_floating_point_distribution(edit: Edit) -> None:
    error = refusal(edit("const float* x", "const int* x"))
    assert error.key == "arrays.x.data"
    assert "integers" in error.reason


def test_integer_outputs_are_exact(edit: Edit) -> None:
    assert "exact" in refusal(edit("float* y", "int* y")).reason


def test_the_digest_is_over_what_decides(pack_directory: Path, edit: Edit) -> None:
    before = load_pack(pack_directory).digest
    (pack_directory / "statement.md").write_text("Other words.")
    assert load_pack(pack_directory).digest == before
    for old, new in (
        ("number of elements", "how many there are"),
        ("Scale a vector", "Scale it"),
        ('difficulty = "easy"', 'difficulty   =   "hard" # harder'),
    ):
        assert load_pack(edit(old, new)).digest == before, new
    for old, new in (("low = -1", "low = -2"), ("max = 1000", "max = 1001"), ("{ hidden", "{ other")):
        after = load_pack(edit(old, new)).digest
        assert after != before, new
        before = after
    edit("import numpy", "import  numpy", "reference.py")
    assert load_pack(pack_directory).digest != before


def test_an_earlier_key_is_read_as_the_waiver_that_it_became(pack_directory: Path, edit: Edit) -> None:
    digest = load_pack(pack_directory).digest
    reason = "no launch is as short as what this moves"
    pack = load_pack(edit("[bench]", f'[bench]\nwhy_short = "{reason}"'))
    assert dict(pack.waived) == {"bench-short": reason}
    assert pack.digest == digest


def test_loading_leaves_no_bytecode(pack_directory: Path) -> None:
    load_pack(pack_directory)
    assert not (pack_directory / "__pycache__").exists()


def test_a_scalar_that_c_cannot_take_by_value_is_refused(edit: Edit) -> None:
    error = refusal(edit("float factor)", "half factor)"))
    assert error.key == "signature"
    assert "cannot be passed by value" in error.reason


def test_the_reference_is_imported_when_it_is_first_used(pack_directory: Path) -> None:
    path = pack_directory / "reference.py"
    path.write_text("raise SystemExit('too early')\n" + path.read_text())
    pack = load_pack(pack_directory)
    assert pack.reference.defines("reference")
    local = pack.reference.local()
    assert local.spot_check is None
    with pytest.raises(SystemExit, match="too early"):
        _ = local.reference
    with pytest.raises(RuntimeError, match="process of the pack"):
        _ = pack.reference.reference
    with pytest.raises(PackError, match=r"calls sys.exit\(too early\)"):
        reference_outputs(pack, pack.cases[0], make_inputs(pack, pack.cases[0], 1))


def test_rows_get_ids_from_their_sizes(edit: Edit) -> None:
    edit("{ hidden = [100] }", "[[1], [33]]\nsample_sizes = [[4]]")
    pack = load_pack(edit("{ cuda = [[1000]] }", "{ cuda = [[1000], [33]], emulator = [[33]] }"))
    assert [(case.id, case.group) for case in pack.cases] == [
        ("n-4", "sample"),
        ("sample", "sample"),
        ("n-1", "hidden"),
        ("n-33", "hidden"),
    ]
    assert [(case.id, case.devices) for case in pack.benchmarks] == [
        ("n-1000", ("cuda",)),
        ("n-33-timed", ("cuda", "emulator")),
    ]


def test_parameters_that_only_data_uses_are_not_shown(edit: Edit) -> None:
    pack = load_pack(edit("[parameters]", "[parameters]\nspread = { default = 2 }\nk = { default = 1 }"))
    assert {parameter.name: parameter.shown for parameter in pack.parameters} == {
        "spread": False,
        "k": False,
        "factor": True,
    }
    assert [argument.name for argument in pack.arguments] == ["x", "y", "N", "factor"]
    shown = load_pack(edit('"N != 7"', '"N != 7", "k <= N"'))
    assert {parameter.name for parameter in shown.parameters if parameter.shown} == {"k", "factor"}


def test_scalars_may_be_expressions(edit: Edit) -> None:
    edit("int N,", "int N, int twice,")
    pack = load_pack(edit("[tolerance]", '[scalars]\ntwice = "2*N"\n\n[tolerance]'))
    value = pack.arguments[3].value
    assert value is not None
    assert value.evaluate({"N": 21}) == 42


def test_outputs_may_be_left_to_a_check(pack_directory: Path, edit: Edit) -> None:
    (pack_directory / "reference.py").write_text(
        (pack_directory / "reference.py").read_text() + "\n\ndef check(inputs, outputs):\n    return None\n"
    )
    pack = load_pack(edit('y = { kind = "elementwise" }', ""))
    assert pack.outputs[0].tolerance is None
