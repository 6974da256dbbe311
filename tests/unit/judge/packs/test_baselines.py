"""The table [baselines] of packs: what is refused, by name, and which packs' functions may run."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from judge.packs import baselines
from judge.packs.baselines import FILE, Baseline, Baselines, load_functions
from judge.packs.collection.archive import pack_contents, restore_pack
from judge.packs.collection.loader import load_pack
from judge.packs.errors import PackError

PACKS = Path(__file__).resolve().parents[4] / "challenges"
TABLE = '\n[baselines]\nlibrary = { library = "cuBLAS", conditions = "TF32 off" }\n'
FUNCTION = "def library(A, B, C, N):\n    return A + B\n"


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A pack without baselines, in a folder that counts as the installation's."""
    monkeypatch.setattr(baselines, "INSTALLED", tmp_path)
    return without_baselines(tmp_path / "vector-add")


def without_baselines(folder: Path) -> Path:
    shutil.copytree(PACKS / "vector-add", folder)
    (folder / FILE).unlink()
    file = folder / "challenge.toml"
    lines = file.read_text().split("\n[baselines]\n")
    file.write_text(lines[0] + "\n\n" + lines[1].split("\n\n", 1)[1])
    return folder


def add(folder: Path, table: str, functions: str | None = FUNCTION) -> Path:
    file = folder / "challenge.toml"
    head, mark, rest = file.read_text().partition("\n[[")
    file.write_text(head + table + mark + rest)
    if functions is not None:
        (folder / FILE).write_text(functions)
    return folder


def test_a_baseline_is_read_and_its_function_found(installed: Path) -> None:
    before = load_pack(installed)
    pack = load_pack(add(installed, TABLE))
    assert pack.baselines == Baselines((Baseline("library", "cuBLAS", "torch", "TF32 off"),))
    assert load_functions(pack.directory, pack.baselines)["library"](1, 2, None, 1) == 3
    assert pack.digest == before.digest, "no judgement depends on baselines"


@pytest.mark.parametrize(
    ("table", "functions", "says"),
    [
        (TABLE, None, "is missing; [baselines] names the function 'library'"),
        (TABLE, "def other(): ...", "library: is not defined"),
        (TABLE, "def library(", "is not Python"),
        (
            TABLE + 'compiled = { library = "torch.compile", compiles = "compiled" }\n',
            FUNCTION,
            "baselines.compiled.compiles: must name another row",
        ),
        (
            TABLE + 'compiled = { library = "torch.compile", module = "cupy", compiles = "library" }\n',
            FUNCTION,
            "goes with module = 'torch'",
        ),
        ("", FUNCTION, "is not used; name its functions in [baselines]"),
        ('\n[baselines]\nlibrary = "cuBLAS does this"\n', FUNCTION, "must be a table that names its library"),
        ('\n[baselines]\nnone = { library = "cuBLAS" }\n', FUNCTION, "must say why no library does this"),
        (TABLE + 'none = "No library does this."\n', FUNCTION, "contradicts 'library'"),
    ],
)
def test_what_contradicts_is_refused(installed: Path, table: str, functions: str | None, says: str) -> None:
    with pytest.raises(PackError) as raised:
        load_pack(add(installed, table, functions))
    assert says in str(raised.value)


def test_a_row_may_be_compiled_from_another(installed: Path) -> None:
    row = 'compiled = { library = "torch.compile", compiles = "library" }\n'
    found = load_pack(add(installed, TABLE + row)).baselines.calls[1]
    assert (found.function, found.on_cpu) == ("library", False), "compiling for a CPU takes a C++ compiler and seconds"


def test_a_pack_may_say_that_no_library_does_it(installed: Path) -> None:
    pack = load_pack(add(installed, '\n[baselines]\nnone = "No library does this."\n', None))
    assert pack.baselines == Baselines(none="No library does this.")


def test_baselines_of_other_packs_are_refused_by_name_and_not_imported(tmp_path: Path) -> None:
    folder = add(without_baselines(tmp_path / "vector-add"), TABLE, "raise SystemExit")
    pack = load_pack(folder)
    assert pack.baselines.calls == ()
    assert "the baselines of vector-add are not run: library." in pack.baselines.refused
    assert "Leave out [baselines] and baselines.py" in pack.baselines.refused


def test_a_kept_version_of_a_pack_has_no_baselines_to_run(tmp_path: Path) -> None:
    pack = load_pack(PACKS / "gemm")
    contents = pack_contents(pack)
    assert contents is not None
    restored = restore_pack(contents, pack.slug, pack.digest, tmp_path)
    assert pack.baselines.calls
    assert restored.baselines.calls == ()


def test_every_challenge_names_a_library_or_says_why_none_does_it() -> None:
    packs = [load_pack(file.parent) for file in sorted(PACKS.glob("*/challenge.toml"))]
    assert [pack.slug for pack in packs if not pack.baselines.calls and not pack.baselines.none] == []
    assert len([pack for pack in packs if pack.baselines.calls]) >= 60
