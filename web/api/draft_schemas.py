"""The API's schemas of drafts."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from pydantic import Field

from web.api.schemas import Body, LanguageName
from web.api.stored_form import Answer


class Draft(Answer):
    """The draft of the token's owner for a challenge; version 0, with no source, where there is none yet."""

    challenge: str
    version: int
    saved_at: datetime | None
    source: str
    language: str | None


class DraftSave(Body):
    """A draft to save, in a language of the challenge, by default the first.

    ``base`` is the version that it was written on, 0 for none.
    """

    source: str
    base: Annotated[int, Field(ge=0, lt=2**31)]
    language: LanguageName | None = None
