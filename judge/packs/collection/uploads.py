"""Reads an archive with one pack that somebody uploaded, as data: nothing of it is run, loaded or written here.

Zip, tar and tar.gz are read. Whatever could reach outside of the pack's folder, links included, and whatever unpacks to
too much is refused as a whole, before it is unpacked.
"""

from __future__ import annotations

import gzip
import io
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from judge.packs.collection.loader import FILES, SLUG
from records import dataclass

#: Bounds on an archive, on what it unpacks to, and on what it is called.
UPLOAD_BYTES, UNPACKED_BYTES, MOST_FILES, NAME_CHARACTERS = 16 << 20, 64 << 20, 200, 60
#: Headers and padding of a tar.
_TAR_EXTRA_BYTES = 1 << 20
#: A pack's files beside those that it must have.
_WANTED = re.compile(r"[\w.-]+\.(toml|py|md|npy)|submissions/[\w-]+/[\w.-]+\.cu", re.ASCII)


class UploadError(ValueError):
    """An archive that is refused; the message says why and what to do."""


@dataclass(frozen=True, slots=True)
class UploadedPack:
    """A pack's ``name``, which its folder in the archive has, and its files by their path in that folder."""

    name: str
    files: dict[str, bytes]

    def archive(self) -> bytes:
        """Returns the files as a zip."""
        archive = io.BytesIO()
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
            for name, content in sorted(self.files.items()):
                file.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
        return archive.getvalue()

    def write(self, folder: Path) -> None:
        """Writes the files into a new folder."""
        for name, content in self.files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)


def read_upload(data: bytes, filename: str) -> UploadedPack:
    """Returns the pack of an archive. ``filename`` names it where its files lie in no folder. Raises UploadError."""
    if len(data) > UPLOAD_BYTES:
        raise UploadError(f"An archive may have {UPLOAD_BYTES >> 20} MiB. Larger data is better drawn than stored.")
    try:
        found = dict(_zip_files(data) if zipfile.is_zipfile(io.BytesIO(data)) else _tar_files(data))
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        NotImplementedError,
        RuntimeError,
        EOFError,
        OSError,
        zlib.error,
        ValueError,
    ) as error:
        if isinstance(error, UploadError):
            raise
        raise UploadError("This is not a whole zip, tar or tar.gz without a password.") from None
    homes = [path.parent for path in found if path.name == "challenge.toml" and len(path.parts) <= 2]
    if len(homes) != 1:
        what = "several challenges: send each by itself" if homes else "no challenge.toml, at its top or in a folder"
        raise UploadError(f"The archive has {what}.")
    (home,) = homes
    name = home.name or re.sub(r"(\.tar)?\.\w+$", "", filename)
    if not SLUG.fullmatch(name) or len(name) > NAME_CHARACTERS:
        raise UploadError(
            f"“{name[:NAME_CHARACTERS]}” is no name of a challenge. Name its folder in small letters and digits with "
            f"single hyphens, at most {NAME_CHARACTERS} characters."
        )
    files = {str(path.relative_to(home)): content for path, content in found.items() if path.is_relative_to(home)}
    files = {path: content for path, content in files.items() if _WANTED.fullmatch(path)}
    missing = [each for each in FILES if each not in files]
    if missing:
        raise UploadError(f"{missing[0]} is missing beside challenge.toml.")
    return UploadedPack(name, files)


def _zip_files(data: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        entries = archive.infolist()
        _bound(len(entries), sum(entry.file_size for entry in entries))
        left = UNPACKED_BYTES
        for entry in entries:
            path = _safe(entry.filename)
            kind = stat.S_IFMT(entry.external_attr >> 16)
            if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise UploadError(f"{path} is a link or a device. Send plain files.")
            if entry.is_dir():
                continue
            # What the entry says of its size need not be true.
            with archive.open(entry) as file:
                content = file.read(left + 1)
            left -= len(content)
            _bound(0, UNPACKED_BYTES - left)
            yield path, content


def _tar_files(data: bytes) -> Iterator[tuple[PurePosixPath, bytes]]:
    most = UNPACKED_BYTES + _TAR_EXTRA_BYTES
    if data[:2] == b"\x1f\x8b":
        with gzip.GzipFile(fileobj=io.BytesIO(data)) as packed:
            data = packed.read(most + 1)
    _bound(0, max(0, len(data) - _TAR_EXTRA_BYTES))
    with tarfile.open(fileobj=io.BytesIO(data), mode="r:") as archive:
        for count, entry in enumerate(archive, start=1):
            _bound(count, entry.size)
            path = _safe(entry.name)
            if entry.isdir():
                continue
            if not entry.isreg() or entry.issparse():
                raise UploadError(f"{path} is a link or a device. Send plain files.")
            file = archive.extractfile(entry)
            assert file is not None
            yield path, file.read()


def _bound(count: int, size_bytes: int) -> None:
    if count > MOST_FILES:
        raise UploadError(f"The archive has more than {MOST_FILES} files.")
    if size_bytes > UNPACKED_BYTES:
        raise UploadError(f"The archive unpacks to more than {UNPACKED_BYTES >> 20} MiB.")


def _safe(name: str) -> PurePosixPath:
    """Returns the path of an entry. Raises UploadError for one that could lead out of the folder."""
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts or "\\" in name or not name.isprintable() or len(name) > 200:
        raise UploadError(f"“{ascii(name)[1:-1][:80]}” is no path inside of the archive. Pack the folder itself.")
    return path
