"""The requests and responses of the API's part on private packs, as pydantic models."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import StringConstraints

from judge.packs.collection.uploads import UPLOAD_BYTES
from web.api.schemas import NO_NUL, Body
from web.api.stored_form import Answer


class PackFinding(Answer):
    """Something that the verification of a pack found. ``severity`` is ``error``, ``warning`` or ``note``."""

    severity: str
    where: str
    message: str


class PrivatePack(Answer):
    """A pack of a class or a contest. ``title`` and ``version`` are of what is served, null before anything is.

    ``waits``: an upload waits to be verified, or is being verified, and ``progress`` says how far. ``accepted`` and
    ``findings`` are of the last verification.
    """

    challenge: str
    title: str | None
    version: str | None
    uploaded_at: datetime
    waits: bool
    progress: str | None
    verified_at: datetime | None
    accepted: bool | None
    findings: list[PackFinding]


class PrivatePackList(Answer):
    """The packs of a class or a contest, by short name."""

    challenges: list[PrivatePack]


class PackUpload(Body):
    """An archive of one pack's folder: a zip, tar or tar.gz in base64. ``name`` is the file's."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=255, pattern=NO_NUL)]
    archive: Annotated[str, StringConstraints(min_length=1, max_length=-(-UPLOAD_BYTES // 3) * 4)]
