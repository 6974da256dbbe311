"""Archives of packs that somebody uploads: what is read of them, and what is refused."""

from __future__ import annotations

import gzip
import io
import stat
import tarfile
import zipfile
from pathlib import Path

import pytest

from judge.packs.collection import uploads
from judge.packs.collection.uploads import UploadError, read_upload

FILES = {"challenge.toml": b"toml", "reference.py": b"def reference(): ...", "statement.md": b"text"}
KERNEL = {"submissions/accepted/plain.cu": b"code"}


def zipped(files: dict[str, bytes], *, link: str | None = None) -> bytes:
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        if link is not None:
            entry = zipfile.ZipInfo(link)
            entry.external_attr = (stat.S_IFLNK | 0o777) << 16
            archive.writestr(entry, "/etc/passwd")
    return data.getvalue()


def tarred(files: dict[str, bytes], *, link: str | None = None, kind: bytes = tarfile.SYMTYPE) -> bytes:
    data = io.BytesIO()
    with tarfile.open(fileobj=data, mode="w") as archive:
        for name, content in files.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
        if link is not None:
            entry = tarfile.TarInfo(link)
            entry.type, entry.linkname = kind, "/etc/passwd"
            archive.addfile(entry)
    return data.getvalue()


def gzipped(data: bytes) -> bytes:
    """The same bytes whenever it is made, since tests are named by them."""
    return gzip.compress(data, mtime=0)


def inside(folder: str, files: dict[str, bytes]) -> dict[str, bytes]:
    return {f"{folder}/{name}": content for name, content in files.items()}


@pytest.mark.parametrize(
    ("data", "filename"),
    [
        (zipped(inside("sum-rows", FILES | KERNEL)), "anything.zip"),
        (zipped(FILES | KERNEL), "sum-rows.zip"),
        (tarred(inside("sum-rows", FILES | KERNEL)), "x.tar"),
        (gzipped(tarred(inside("./sum-rows", FILES | KERNEL))), "x.tar.gz"),
        (gzipped(tarred(FILES | KERNEL)), "sum-rows.tar.gz"),
    ],
)
def test_a_pack_is_read_from_its_folder_or_the_top(data: bytes, filename: str, tmp_path: Path) -> None:
    found = read_upload(data, filename)
    assert (found.name, found.files) == ("sum-rows", FILES | KERNEL)
    assert read_upload(found.archive(), "sum-rows.zip") == found
    found.write(tmp_path)
    assert (tmp_path / "submissions" / "accepted" / "plain.cu").read_bytes() == b"code"


def test_what_packs_do_not_have_is_left_out() -> None:
    other = {"p/.git/config": b"x", "p/run.sh": b"x", "p/submissions/accepted/a.so": b"x", "__MACOSX/p/._x": b"x"}
    assert read_upload(zipped(inside("p", FILES) | other), "p.zip").files == FILES


PACK = inside("p", FILES)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "not a whole zip"),
        (b"PK\x03\x04 half", "not a whole zip"),
        (gzipped(tarred(PACK))[:100], "not a whole zip"),
        (zipped(PACK | {"../evil.py": b""}), "no path inside"),
        (zipped(PACK | {"p/../../evil.py": b""}), "no path inside"),
        (zipped(PACK | {"/etc/cron.d/evil": b""}), "no path inside"),
        (zipped(PACK | {"p\\..\\evil.py": b""}), "no path inside"),
        (tarred(PACK | {"../evil.py": b""}), "no path inside"),
        (tarred(PACK | {"/etc/cron.d/evil": b""}), "no path inside"),
        (zipped(PACK, link="p/data.npy"), "is a link"),
        (tarred(PACK, link="p/data.npy"), "is a link"),
        (tarred(PACK, link="p/data.npy", kind=tarfile.LNKTYPE), "is a link"),
        (tarred(PACK, link="p/data.npy", kind=tarfile.CHRTYPE), "is a link or a device"),
        (zipped({"p/readme.md": b""}), "no challenge.toml"),
        (zipped(PACK | inside("q", FILES)), "several challenges"),
        (zipped(inside("Not_A_Slug", FILES)), "no name of a challenge"),
        (zipped(inside("a" * 61, FILES)), "no name of a challenge"),
        (zipped(inside("p", {"challenge.toml": b""})), "reference.py is missing"),
        (zipped(PACK | {f"p/{number}.npy": b"" for number in range(200)}), "more than 200 files"),
    ],
)
def test_what_is_refused(data: bytes, message: str) -> None:
    with pytest.raises(UploadError, match=message):
        read_upload(data, "p.zip")


@pytest.mark.parametrize("pack", [zipped, tarred, lambda files: gzipped(tarred(files))])
def test_what_unpacks_to_too_much_is_refused(pack: object, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UNPACKED_BYTES", 1 << 20)
    monkeypatch.setattr(uploads, "_TAR_EXTRA_BYTES", 1 << 16)
    assert callable(pack)
    bomb = pack(PACK | {"p/data.npy": bytes(2 << 20)})
    with pytest.raises(UploadError, match="unpacks to more than 1 MiB"):
        read_upload(bomb, "p.zip")


def test_a_zip_that_lies_about_its_sizes_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UNPACKED_BYTES", 1 << 20)
    honest = zipped(PACK | {"p/data.npy": bytes(2 << 20)})
    size = (2 << 20).to_bytes(4, "little")
    assert honest.count(size) == 2
    with pytest.raises(UploadError):
        read_upload(honest.replace(size, (100).to_bytes(4, "little")), "p.zip")


def test_too_large_an_archive_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uploads, "UPLOAD_BYTES", 10)
    with pytest.raises(UploadError, match="An archive may have"):
        read_upload(zipped(PACK), "p.zip")
