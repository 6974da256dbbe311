"""A pack's files as one archive, so that what judged a submission can judge it again after the pack has changed.

The archive has what loading needs: ``challenge.toml``, ``reference.py``, ``statement.md`` and the files that inputs
come from. Its bytes depend on nothing but these files.
"""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from pathlib import Path

from judge.packs.collection.loader import FILES, load_pack
from judge.packs.data.data_files import NAME as DATA_FILE
from judge.packs.errors import PackError
from judge.packs.pack import Pack


def pack_contents(pack: Pack) -> bytes | None:
    """Returns the archive of a pack, or None if its files are no longer those that were loaded."""
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        try:
            for name in (*FILES, *pack.data_files):
                file.writestr(zipfile.ZipInfo(name), (pack.directory / name).read_bytes(), zipfile.ZIP_DEFLATED)
        except OSError:
            return None
    data = archive.getvalue()
    with tempfile.TemporaryDirectory(prefix="gpujudge-pack-") as folder:
        try:
            return data if restore_pack(data, pack.slug, pack.digest, Path(folder)) else None
        except PackError:
            return None


def restore_pack(data: bytes, slug: str, digest: str, folder: Path, *, confined: bool = False) -> Pack:
    """Returns the pack of an archive, whose files then lie below ``folder``, ``confined`` if nobody vouches for it.

    Raises PackError if it is another one.
    """
    home = folder / digest / slug
    if not home.exists():
        (folder / digest).mkdir(parents=True, exist_ok=True)
        unpacked = Path(tempfile.mkdtemp(prefix=".", dir=folder / digest))
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as file:
                data_files = (name for name in file.namelist() if DATA_FILE.fullmatch(name))
                for name in (*FILES, *data_files):
                    (unpacked / name).write_bytes(file.read(name))
            unpacked.replace(home)
        except (zipfile.BadZipFile, KeyError, OSError) as error:
            shutil.rmtree(unpacked, ignore_errors=True)
            if not home.exists():  # another process may have been quicker
                raise PackError(home, "", f"cannot be unpacked: {error}") from None
    pack = load_pack(home, confined=confined)
    if pack.digest != digest:
        raise PackError(home, "", f"has the digest {pack.digest}, not {digest}")
    return pack
