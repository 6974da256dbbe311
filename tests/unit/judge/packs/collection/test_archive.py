from __future__ import annotations

from pathlib import Path

import pytest

from judge.packs.collection.archive import pack_contents, restore_pack
from judge.packs.collection.loader import load_pack
from judge.packs.errors import PackError


def test_a_pack_is_restored_as_it_was(pack_directory: Path, tmp_path: Path) -> None:
    pack = load_pack(pack_directory)
    data = pack_contents(pack)
    assert data is not None
    assert pack_contents(pack) == data, "the same bytes for the same files"
    (pack_directory / "reference.py").unlink()
    for _ in range(2):
        restored = restore_pack(data, pack.slug, pack.digest, tmp_path / "past")
        assert (restored.slug, restored.digest, restored.cases) == (pack.slug, pack.digest, pack.cases)
        assert restored.directory.is_relative_to(tmp_path / "past")


def test_files_that_changed_after_they_were_loaded_are_not_taken_for_what_judged(pack_directory: Path) -> None:
    pack = load_pack(pack_directory)
    (pack_directory / "reference.py").write_text((pack_directory / "reference.py").read_text() + "\nMORE = 1\n")
    assert pack_contents(pack) is None
    (pack_directory / "reference.py").unlink()
    assert pack_contents(pack) is None


@pytest.mark.parametrize("data", [b"", b"PK\3\4 and what is no archive"])
def test_what_is_no_archive_of_this_pack_is_refused(data: bytes, pack_directory: Path, tmp_path: Path) -> None:
    with pytest.raises(PackError, match="cannot be unpacked"):
        restore_pack(data, "scale", "0" * 64, tmp_path / "past")
    archive = pack_contents(load_pack(pack_directory))
    assert archive is not None
    with pytest.raises(PackError, match="has the digest"):
        restore_pack(archive, "scale", "1" * 64, tmp_path / "past")
