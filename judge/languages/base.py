"""The protocol of a language: how a source becomes an artifact."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from judge.compile.artifact import Artifact
from judge.compile.challenge import Challenge
from judge.compile.target import Target
from judge.judgement import BuildReport
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.compile.assembly import Assembly, NotAssembled


class Buildable(Challenge, Protocol):
    """What a language needs of a challenge; ``judge.packs.pack.Pack`` satisfies it."""

    @property
    def slug(self) -> str: ...
    def starter(self) -> str: ...


class Language(Protocol):
    """One language. Stateless."""

    #: Its name in ``judge.languages.registry`` and in packs.
    name: str

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        """Compiles an untrusted source. No artifact means a compile error, which the report's log explains.

        A ``recorded`` program records what it asks of the device. Raises InternalError where the source is not at
        fault, and where this language cannot record.
        """

    def build_null_kernel(self, challenge: Buildable, target: Target, settings: JudgeSettings) -> Artifact:
        """Compiles a ``solve`` of the judge's own that does nothing. Raises InternalError."""

    def assemble(
        self, source: bytes, challenge: Buildable, arch: str, settings: JudgeSettings
    ) -> Assembly | NotAssembled:
        """Returns the machine code that a source becomes on a GPU of the architecture ``arch`` (``sm_80``).

        Raises InternalError where the source is not at fault, and where this language has none to show.
        """

    def headline(self, report: BuildReport) -> str:
        """Returns the line of a failed build's log that says what is wrong; empty where none does."""
