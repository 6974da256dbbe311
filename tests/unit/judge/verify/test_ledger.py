from __future__ import annotations

import dataclasses
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from judge.packs.collection.loader import load_pack
from judge.verify import Effort, verify_pack
from judge.verify.ledger import (
    _GPUS_ONLY,
    Digests,
    code_of,
    efforts_on_record,
    engine_files,
    read_ledger,
    table,
    write_ledger,
)
from judge.verify.versions import check_version


def test_an_entry_is_of_one_state_of_pack_kernels_and_engine(pack_directory: Path, edit: Callable[..., Path]) -> None:
    # A benchmark long enough for a GPU by its operations: a full verification makes its inputs.
    edit('flops = "N"', 'flops = "10_000*N"')
    edit("{ max = 100_000_000", "{ max = 1_000_000")
    edit("axes = { N = 1_100_000 }", "axes = { N = 70_000 }")
    edit("axes = { N = 100_000_000 }", "axes = { N = 1_000_000 }")
    quick = verify_pack(pack_directory).entry
    entry = verify_pack(pack_directory, effort=Effort.FULL).entry
    assert quick is not None
    assert entry is not None
    assert entry.answer_mutants > 10
    assert Digests.of(pack_directory).are_of_files_in(quick)
    assert not Digests.of(pack_directory).are_in(quick)
    packs = pack_directory.parent
    assert read_ledger(packs) == {}
    write_ledger(packs, {"scale": entry})
    kept = read_ledger(packs)["scale"]
    assert kept == entry
    assert efforts_on_record([pack_directory]) == {pack_directory: "full"}
    assert Digests.of(pack_directory).are_in(kept)
    other_engine = dataclasses.replace(kept, engine="another")
    assert not Digests.of(pack_directory).are_in(other_engine)
    assert Digests.of(pack_directory).are_of_files_in(other_engine)
    assert not Digests.of(pack_directory).are_in(None)
    solutions = packs.parent / "reference_solutions" / "scale"
    solutions.mkdir(parents=True)
    (solutions / "plain.cu").write_text("// new\n")
    assert not Digests.of(pack_directory).are_of_files_in(kept)
    assert efforts_on_record([pack_directory, packs / "another"]) == {pack_directory: "outdated"}
    (solutions / "plain.cu").unlink()
    assert efforts_on_record([pack_directory]) == {pack_directory: "full"}
    (pack_directory / "statement.md").write_text("# Another\n")
    assert not Digests.of(pack_directory).are_in(kept)
    assert efforts_on_record([pack_directory]) == {pack_directory: "outdated"}
    (packs / "verified.json").write_text('{"scale": {"by": "somebody else"}}')
    assert efforts_on_record([pack_directory]) == {}


def test_calls_of_libraries_do_not_count(edit: Callable[..., Path]) -> None:
    directory = edit("[bench]", "[bench]")
    before = Digests.of(directory)
    (directory / "baselines.py").write_text("def eager(x, y, N):\n    return x\n")
    edit("[bench]", '[baselines]\neager = { library = "PyTorch eager" }\n\n[bench]')
    assert Digests.of(directory) == before
    (directory / "helpers.py").write_text("X = 1\n")
    assert Digests.of(directory) != before


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.py", '"""Says."""\nX = 1  # one\n', "X = 1\n"),
        ("a.py", 'def f(a: int = 1):\n    """Says\n\n    more."""\n    g(a)\n', "def f(a: int = 1):\n    g(a)\n"),
        ("a.py", "class A:\n    # comment\n\n    x = 1\n", "class A:\n    x = 1\n"),
        ("a.cu", "int a; // one\n/* two\n lines */ int b;\n", "int a;\n int b;\n"),
        ("a.cpp", 'auto a = R"(// text)"; // comment\n', 'auto a = R"(// text)";\n'),
    ],
)
def test_comments_and_docstrings_do_not_count(name: str, before: str, after: str, tmp_path: Path) -> None:
    codes = []
    for text in (before, after):
        (tmp_path / name).write_text(text)
        codes.append(code_of(tmp_path / name).split())
    assert codes[0] == codes[1]


@pytest.mark.parametrize(
    ("name", "before", "after"),
    [
        ("a.py", "X = '# one'\n", "X = '# two'\n"),
        ("a.py", 'X = """a\nb"""\n', 'X = """a\n\nb"""\n'),
        ("a.py", 'def f():\n    return """a"""\n', 'def f():\n    return """b"""\n'),
        ("a.py", 'f(\n    """a"""\n)\n', 'f(\n    """b"""\n)\n'),
        ("a.cu", 'char const* a = "// one";\n', 'char const* a = "// two";\n'),
        ("a.cu", "int a = 1'000; int b = 1'000;\n", "int a = 1'000; int b = 1'001;\n"),
        ("a.md", "# one\n", "# two\n"),
    ],
)
def test_code_and_strings_count(name: str, before: str, after: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(before)
    one = code_of(tmp_path / name)
    (tmp_path / name).write_text(after)
    assert code_of(tmp_path / name) != one


def test_what_only_gpus_run_is_no_part_of_the_engine() -> None:
    home = Path(__file__).parents[4]
    engine = engine_files(home)
    assert {"judge/verify/ledger.py", "judge/bench/modelled.py", "judge/runner/emulator.py"} <= engine
    for folder in _GPUS_ONLY:
        sources = {path.relative_to(home).as_posix() for path in (home / folder).glob("*.py")}
        assert sources
        assert not sources & engine


def test_a_pack_with_errors_has_no_entry(edit: Callable[..., Path]) -> None:
    assert verify_pack(edit("axes = { N = 1 }", "axes = { N = 2 }")).entry is None


def test_the_table_adds_up(pack_directory: Path) -> None:
    entry = verify_pack(pack_directory).entry
    assert entry is not None
    entries = {
        "a": dataclasses.replace(entry, answer_mutants=5, answer_mutants_equivalent=1, kernel_mutants=9),
        "b": dataclasses.replace(entry, answer_mutants=7, kernel_mutants=4, kernel_mutants_equivalent=2),
    }
    assert "| a | 2.3.4 | 5 | 4 | 1 | 9 | 9 | 0 |" in table(entries)
    assert table(entries).endswith("| all | | 12 | 11 | 1 | 13 | 11 | 2 |\n")


def test_a_version_must_be_raised_where_judgements_can_differ(edit: Callable[..., Path]) -> None:
    directory = edit("[bench]", "[bench]")

    def git(*arguments: str) -> None:
        identity = ("-c", "user.name=a", "-c", "user.email=a@b")
        subprocess.run(["git", "-C", str(directory), *identity, *arguments], check=True, capture_output=True)

    def complaints(ref: str = "HEAD") -> list[str]:
        return [finding.code for finding in check_version(load_pack(directory), ref)]

    git("init")
    git("add", ".")
    git("commit", "-m", "first")
    assert complaints() == []
    assert complaints("nothing") == ["version-unknown"]
    edit('title = "Scale a vector"', 'title = "Scale it"')
    assert complaints() == []
    edit("axes = { N = 33 }", "axes = { N = 65 }")
    assert complaints() == ["version"]
    edit('version = "2.3.4"', 'version = "2.3.5"')
    assert complaints() == []


@pytest.mark.parametrize("reason", ["reading it in half precision is what this test wants"])
def test_declared_equivalents(edit: Callable[..., Path], reason: str) -> None:
    edit('y = { kind = "elementwise" }', 'y = { kind = "elementwise", terms = 100_000 }')
    directory = edit("[bench]", "[bench]")
    toml = directory / "challenge.toml"
    survivors = [finding.key for finding in verify_pack(directory).findings if finding.code == "mutant"]
    assert survivors
    toml.write_text(
        toml.read_text()
        + "\n[equivalent]\n"
        + "".join(f'"{key}" = "{reason}"\n' for key in [*survivors, "output: zeros"])
    )
    found = verify_pack(directory)
    assert found.ok
    assert [finding.code for finding in found.findings] == ["mutant-declared"]
    assert found.entry is not None
    assert found.entry.answer_mutants_equivalent == len(survivors)
