"""Inputs that come from ``.npy`` files of a pack."""

from __future__ import annotations

import hashlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from judge.packs.collection.archive import pack_contents, restore_pack
from judge.packs.collection.loader import files_state, load_pack
from judge.packs.custom.case import CustomInputError, custom_case, custom_fields
from judge.packs.data.inputs import input_recipes, make_inputs
from judge.packs.errors import PackError
from judge.packs.pack import Pack

Edit = Callable[..., Path]

DECLARED = 'data = { kind = "uniform", low = -1, high = 1 }'
VALUES = np.arange(1200, dtype=np.float32) + np.float32(0.5)


def put(directory: Path, array: np.ndarray[Any, Any], name: str = "measured.npy") -> str:
    """Writes a file and returns what challenge.toml says of it."""
    np.save(directory / name, array)
    digest = hashlib.sha256((directory / name).read_bytes()).hexdigest()
    return f'data = {{ kind = "file", file = "{name}", sha256 = "{digest}" }}'


@pytest.fixture
def pack(pack_directory: Path, edit: Edit) -> Pack:
    """One whose x is measured: more numbers than any case needs."""
    return load_pack(edit(DECLARED, put(pack_directory, VALUES)))


def test_a_case_gets_consecutive_rows_that_its_seed_chooses(pack: Pack) -> None:
    case = pack.benchmarks[0]
    assert input_recipes(pack, case, 1)["x"] is None
    firsts = set()
    for seed in range(1, 6):
        made = make_inputs(pack, case, seed)["x"]
        assert made.dtype == np.float32
        np.testing.assert_array_equal(np.diff(made), 1)
        np.testing.assert_array_equal(made, make_inputs(pack, case, seed)["x"])
        firsts.add(float(made[0]))
    assert len(firsts) > 1
    assert not np.array_equal(make_inputs(pack, case, 1, call=1)["x"], make_inputs(pack, case, 1, call=2)["x"])


def test_a_file_of_just_the_size_is_taken_whole(pack_directory: Path, edit: Edit) -> None:
    pack = load_pack(edit(DECLARED, put(pack_directory, VALUES[:1000])))
    for seed in (1, 2):
        np.testing.assert_array_equal(make_inputs(pack, pack.benchmarks[0], seed)["x"], VALUES[:1000])


def test_other_axes_get_the_beginning(pack_directory: Path, edit: Edit) -> None:
    edit('shape = ["N"]', 'shape = ["N", 3]')
    edit('shape = ["N"]', 'shape = ["N", 3]')
    table = np.arange(8000, dtype=np.float32).reshape(1000, 8)
    pack = load_pack(edit(DECLARED, put(pack_directory, table)))
    made = make_inputs(pack, pack.cases[0], 1)["x"]
    assert made.shape == (5, 3)
    first = int(made[0, 0]) // 8
    np.testing.assert_array_equal(made, table[first : first + 5, :3])


def test_one_case_may_have_data_of_its_own(pack_directory: Path, edit: Edit) -> None:
    own = put(pack_directory, VALUES[:5], "five.npy").replace("data", "data.x", 1)
    pack = load_pack(edit("axes = { N = 5 }", f"axes = {{ N = 5 }}\n{own}"))
    np.testing.assert_array_equal(make_inputs(pack, pack.cases[0], 1)["x"], VALUES[:5])
    assert make_inputs(pack, pack.cases[1], 1)["x"].max() <= 1
    assert pack.data_files == ("five.npy",)


@pytest.mark.parametrize(
    ("array", "told"),
    [
        (VALUES.astype(np.float64), r"holds <f8, and const float\* takes float32"),
        (VALUES.astype(">f4"), "holds >f4"),
        (VALUES[:999], r"has the shape \(999,\), and x needs \(1000,\)"),
        (VALUES.reshape(600, 2), r"has the shape \(600, 2\), and x needs"),
        (np.float32(3), r"has the shape \(\)"),
        (np.array([{}] * 1000), "is not an array that numpy.save wrote"),
    ],
)
def test_what_does_not_fit_is_told(array: np.ndarray[Any, Any], told: str, pack_directory: Path, edit: Edit) -> None:
    with pytest.raises(PackError, match=told):
        load_pack(edit(DECLARED, put(pack_directory, array)))


@pytest.mark.usefixtures("pack")
def test_a_file_that_is_not_the_one_meant(pack_directory: Path) -> None:
    file = pack_directory / "measured.npy"
    np.save(file, VALUES[::-1])
    found = hashlib.sha256(file.read_bytes()).hexdigest()
    with pytest.raises(PackError, match=f"arrays.x.data: measured.npy has the SHA-256 {found}; write that here"):
        load_pack(pack_directory)
    file.unlink()
    with pytest.raises(PackError, match=r"measured.npy is missing; put it beside challenge.toml"):
        load_pack(pack_directory)
    with file.open("wb") as large:
        large.truncate((64 << 20) + 1)
    with pytest.raises(PackError, match="has 64 MiB; at most 64 are read"):
        load_pack(pack_directory)


@pytest.mark.parametrize("name", ["../measured.npy", "data/measured.npy", ".npy", "measured.npz", "measured.npy\\n"])
def test_files_lie_beside_challenge_toml(name: str, edit: Edit) -> None:
    declared = f'data = {{ kind = "file", file = "{name}", sha256 = "{"0" * 64}" }}'
    with pytest.raises(PackError, match=r"arrays.x.data.file: String should match pattern"):
        load_pack(edit(DECLARED, declared))


def test_the_digest_of_the_pack_follows_the_data(pack: Pack, pack_directory: Path, edit: Edit) -> None:
    before = files_state(pack_directory)
    old = hashlib.sha256((pack_directory / "measured.npy").read_bytes()).hexdigest()
    put(pack_directory, VALUES + 1)
    assert files_state(pack_directory) != before
    new = hashlib.sha256((pack_directory / "measured.npy").read_bytes()).hexdigest()
    assert load_pack(edit(old, new)).digest != pack.digest


def test_a_version_that_judged_is_kept_with_its_files(pack: Pack, pack_directory: Path, tmp_path: Path) -> None:
    data = pack_contents(pack)
    assert data is not None
    np.save(pack_directory / "measured.npy", VALUES + 1)
    restored = restore_pack(data, pack.slug, pack.digest, tmp_path / "past")
    case = pack.cases[0]
    np.testing.assert_array_equal(np.diff(make_inputs(restored, case, 1)["x"]), 1)
    assert make_inputs(restored, case, 1)["x"][0] + 1 == make_inputs(pack, case, 1)["x"][0]
    assert pack_contents(pack) is None, "its file is no longer what was loaded"


def test_bf16_comes_rounded_from_float32(pack_directory: Path, edit: Edit) -> None:
    edit("const float* x", "const __nv_bfloat16* x")
    exact = np.float32([1 + 2**-10] * 1000)
    pack = load_pack(edit(DECLARED, put(pack_directory, exact)))
    np.testing.assert_array_equal(make_inputs(pack, pack.cases[0], 1)["x"], 1)


def test_users_choose_sizes_that_the_file_has(pack_directory: Path, edit: Edit) -> None:
    own = put(pack_directory, VALUES[:50], "fifty.npy").replace("data", "data.x", 1)
    pack = load_pack(edit("axes = { N = 5 }", f"axes = {{ N = 5 }}\n{own}"))
    assert [field.name for field in custom_fields(pack)] == ["N", "factor"]
    np.testing.assert_array_equal(np.diff(make_inputs(pack, custom_case(pack, {"N": "50"}, "cuda"), 1)["x"]), 1)
    with pytest.raises(CustomInputError) as error:
        custom_case(pack, {"N": "51"}, "cuda")
    assert error.value.fields == {"N": "x comes from a file with 50 elements, and 51 would be needed"}
    with pytest.raises(CustomInputError) as error:
        custom_case(pack, {"x": "1 2 3"}, "cuda")
    assert error.value.fields == {"x": "this comes from a file of the challenge; it cannot be chosen"}


def test_an_archive_takes_no_other_files(pack: Pack, tmp_path: Path) -> None:
    data = pack_contents(pack)
    assert data is not None
    changed = io.BytesIO(data)
    with zipfile.ZipFile(changed, "a") as file:
        file.writestr("../outside.npy", b"")
        file.writestr("extra.txt", b"")
    home = restore_pack(changed.getvalue(), pack.slug, pack.digest, tmp_path / "past").directory
    assert sorted(path.name for path in home.iterdir()) == [
        "challenge.toml", "measured.npy", "reference.py", "statement.md",
    ]  # fmt: skip
    assert not list(tmp_path.rglob("outside.npy"))
