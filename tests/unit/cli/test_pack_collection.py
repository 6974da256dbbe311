from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Cli

BUILTIN = Path(__file__).resolve().parents[3] / "challenges" / "vector-add"


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    folder = tmp_path / "some" / "my-add"
    shutil.copytree(BUILTIN, folder, ignore=shutil.ignore_patterns("submissions"))
    return folder


def test_packs_are_added_from_folders_archives_and_repositories(cli: Cli, pack: Path, tmp_path: Path) -> None:
    archive = shutil.make_archive(str(tmp_path / "packed"), "gztar", pack.parent)
    zipped = shutil.make_archive(str(tmp_path / "packed"), "zip", pack.parent)
    for command in (("init",), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-m", "first")):
        subprocess.run(["git", "-C", str(pack.parent), *command], check=True, capture_output=True)
    for number, source in enumerate((str(pack), archive, zipped, f"git+{pack.parent}")):
        target = tmp_path / f"packs-{number}"
        ended = cli("pack", "add", source, "--to", str(target))
        assert ended.exit_code == 0, ended.stderr
        assert (target / "my-add" / "challenge.toml").read_text() == (pack / "challenge.toml").read_text()
        assert "GPUJUDGE_PACK_PATHS" in ended.stderr
        assert cli("pack", "add", source, "--to", str(target)).exit_code == 2
        assert cli("pack", "add", source, "--to", str(target), "--replace").exit_code == 0


def test_a_broken_pack_is_not_added(cli: Cli, pack: Path, tmp_path: Path) -> None:
    (pack / "reference.py").write_text("def reference(:\n")
    ended = cli("pack", "add", str(pack), "--to", str(tmp_path / "packs"))
    assert ended.exit_code == 1
    assert "reference.py" in ended.stderr
    assert not (tmp_path / "packs").exists()


def test_what_links_lead_to_is_neither_read_nor_added(cli: Cli, pack: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "secret.md"
    (pack / "statement.md").rename(elsewhere)
    (pack / "statement.md").symlink_to(elsewhere)
    ended = cli("pack", "add", str(pack), "--to", str(tmp_path / "packs"))
    assert ended.exit_code == 1
    assert "statement.md" in ended.stderr
    assert not (tmp_path / "packs").exists()


def test_of_two_packs_of_one_name_none_is_added(cli: Cli, pack: Path, tmp_path: Path) -> None:
    shutil.copytree(pack, pack.parent / "more" / pack.name)
    ended = cli("pack", "add", str(pack.parent), "--to", str(tmp_path / "packs"))
    assert ended.exit_code == 2
    assert "several challenges named my-add" in ended.stderr
    assert not (tmp_path / "packs").exists()


def test_half_an_archive_is_refused_in_words(cli: Cli, pack: Path, tmp_path: Path) -> None:
    archive = Path(shutil.make_archive(str(tmp_path / "packed"), "gztar", pack.parent))
    archive.write_bytes(archive.read_bytes()[:2000])
    ended = cli("pack", "add", str(archive), "--to", str(tmp_path / "packs"))
    assert ended.exit_code == 2
    assert "cannot be unpacked" in ended.stderr


@pytest.mark.parametrize("source", ["nothing", "."])
def test_what_has_no_pack(cli: Cli, source: str, tmp_path: Path) -> None:
    assert cli("pack", "add", source, "--to", str(tmp_path / "packs")).exit_code in (1, 2)


def test_the_list_has_built_in_and_own_packs(cli: Cli, pack: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GPUJUDGE_PACK_PATHS", str(pack.parent))
    found = cli("pack", "list", "--json").json
    slugs = {each["challenge"] for each in found["challenges"]}
    assert {"vector-add", "my-add"} <= slugs
    assert found["broken"] == []
