from __future__ import annotations

import sys
from collections.abc import Callable
from importlib import metadata
from pathlib import Path

import pytest

from judge.packs.collection.registry import Registry, UnknownChallenge


def test_a_folder_of_packs_and_a_pack(pack_directory: Path, second_pack: Path) -> None:
    assert list(Registry.load([pack_directory.parent]).packs) == ["another", "scale"]
    assert list(Registry.load([second_pack]).packs) == ["another"]


def test_one_alone_is_loaded_by_name(pack_directory: Path, second_pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (second_pack / "challenge.toml").write_text("schema = ")
    registry = Registry.load([pack_directory.parent], only="scale")
    assert (list(registry.packs), registry.problems) == (["scale"], ())
    monkeypatch.chdir(pack_directory)
    assert list(Registry.load([Path()], only="scale").packs) == ["scale"]
    assert not Registry.load([pack_directory.parent], only="scales").packs


def test_a_broken_pack_hinders_no_other(pack_directory: Path, second_pack: Path) -> None:
    (second_pack / "challenge.toml").write_text("schema = ")
    registry = Registry.load([pack_directory.parent])
    assert list(registry.packs) == ["scale"]
    (problem,) = registry.problems
    assert problem.file == second_pack / "challenge.toml"


def test_the_same_folder_twice_is_no_problem(pack_directory: Path) -> None:
    registry = Registry.load([pack_directory.parent, pack_directory])
    assert list(registry.packs) == ["scale"]
    assert not registry.problems


def test_two_packs_of_one_name(pack_directory: Path, tmp_path: Path) -> None:
    other = tmp_path / "elsewhere" / "scale"
    other.parent.mkdir()
    import shutil

    shutil.copytree(pack_directory, other)
    registry = Registry.load([pack_directory, other])
    assert registry.packs["scale"].directory == pack_directory
    assert "already provided" in registry.problems[0].reason


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    registry = Registry.load([tmp_path / "nowhere"])
    assert not registry.packs
    assert "not a directory" in registry.problems[0].reason


def test_near_names_are_offered(pack_directory: Path) -> None:
    registry = Registry.load([pack_directory])
    assert registry.find("scale").slug == "scale"
    with pytest.raises(UnknownChallenge) as caught:
        registry.find("scael")
    assert caught.value.nearest == ("scale",)
    assert str(caught.value) == "there is no challenge 'scael'; did you mean scale?"


def test_installed_packages_bring_packs(pack_directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # A namespace package: its folder is one that holds packs.
    package = pack_directory.parent
    monkeypatch.syspath_prepend(str(package.parent))
    monkeypatch.delitem(sys.modules, package.name, raising=False)
    entry = metadata.EntryPoint("mine", package.name, "gpujudge.packs")
    missing = metadata.EntryPoint("theirs", "no_such_package_at_all", "gpujudge.packs")
    (package / "__init__.py").write_text("")
    monkeypatch.setattr(metadata, "entry_points", lambda group: [entry, missing] if group == "gpujudge.packs" else [])
    registry = Registry.load([])
    assert list(registry.packs) == ["scale"]
    assert "cannot be imported" in registry.problems[0].reason
    assert not Registry.load([], entry_points=False).packs


@pytest.mark.usefixtures("second_pack")
def test_a_pack_is_read_again_only_if_it_changed(pack_directory: Path, edit: Callable[..., Path]) -> None:
    first = Registry.load([pack_directory.parent]).packs
    edit('version = "2.3.4"', 'version = "2.3.5"')
    second = Registry.load([pack_directory.parent]).packs
    assert second["another"] is first["another"]
    assert second["scale"] is not first["scale"]
    assert second["scale"].version == "2.3.5"
