"""Protocols of a challenge for builds, which ``judge.packs.pack.Pack`` satisfies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from judge.wire.elements import Element


class Options(Protocol):
    """A pack's build options."""

    @property
    def std(self) -> str: ...
    @property
    def libraries(self) -> Sequence[str]: ...


class Extent(Protocol):
    """One extent of a buffer; ``text`` is how the pack writes it."""

    @property
    def text(self) -> str: ...


class Parameter(Protocol):
    """One argument of ``solve``; ``judge.packs.form.argument.Argument`` satisfies it."""

    @property
    def name(self) -> str: ...
    @property
    def c_type(self) -> str: ...
    @property
    def role(self) -> str: ...
    @property
    def element(self) -> Element: ...
    @property
    def shape(self) -> Sequence[Extent]: ...
    @property
    def description(self) -> str: ...
    @property
    def is_pointer(self) -> bool: ...


class Challenge(Protocol):
    """The ``solve`` that a submission has to define, and how it is compiled."""

    @property
    def build(self) -> Options: ...
    @property
    def signature_text(self) -> str: ...
    def header(self) -> str: ...
