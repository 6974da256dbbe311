"""What a build needs of a challenge, as protocols that ``judge.packs.pack.Pack`` satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


class Options(Protocol):
    """A pack's build options."""

    @property
    def std(self) -> str: ...
    @property
    def libraries(self) -> Sequence[str]: ...


class Challenge(Protocol):
    """The ``solve`` that a submission has to define, and how it is compiled."""

    @property
    def build(self) -> Options: ...
    @property
    def signature_text(self) -> str: ...
    def header(self) -> str: ...
