"""The protocol of a language: what a source is called, what it begins with, and how it becomes an artifact.

All that the rest of the judge, the site and the command line have to know of a language, they ask here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from judge.compile.artifact import Artifact
from judge.compile.challenge import Challenge, Parameter
from judge.compile.target import Target
from judge.judgement import BuildReport, DeviceKind
from judge.settings import JudgeSettings
from judge.wire.call_shapes import CallShape
from judge.wire.python_program import Choice, TunedKernel

if TYPE_CHECKING:
    from judge.compile.assembly import Assembly, NotAssembled


class Buildable(Challenge, Protocol):
    """The part of a challenge that languages need; ``judge.packs.pack.Pack`` satisfies it."""

    @property
    def slug(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def arguments(self) -> Sequence[Parameter]: ...
    def call_shapes(self, kind: DeviceKind) -> Sequence[CallShape]:
        """Returns the arguments of the calls that a submission is judged by on a kind of device, without contents."""


class Language(Protocol):
    """One language. Stateless, and light to make: what compiles is imported when it is needed."""

    #: Its name in ``judge.languages.registry``, in challenges and in requests.
    name: str
    #: What people call it.
    title: str
    #: The name under which a source is compiled, and by which messages name its lines.
    file_name: str
    #: The endings of files that define ``solve``, the usual one first.
    suffixes: tuple[str, ...]
    #: The endings of files that such a file may bring along.
    companions: tuple[str, ...]
    #: How a comment of one line begins.
    comment: str
    #: The grammar by which pages and the editor color a source (``web/source.py``, ``web/frontend/src/comforts.js``).
    grammar: str
    #: What makes the threads of a block wait for each other.
    barrier: str
    #: How to install what sources of it need where that is missing; empty where nothing more is needed.
    installing: str
    #: Its documentation.
    docs_url: str
    #: The kinds of listings that ``assemble`` makes (``judge.compile.assembly.LISTINGS``), in the order of compilation.
    listings: tuple[str, ...]
    #: Whether ``build`` makes programs that record what they ask of the device.
    records: bool

    def missing(self) -> str:
        """Returns the parts that this machine lacks to build sources, and how to install them; empty if nothing."""

    def starter(self, challenge: Buildable) -> str:
        """Returns the text that the editor begins with, which builds and does nothing yet."""

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

    def tuned(self, artifact: Artifact) -> Sequence[TunedKernel]:
        """Returns the kernels of an artifact with several configurations to choose from."""
        del artifact
        return ()

    def choose(self, artifact: Artifact, rounds: Sequence[Choice]) -> Artifact:
        """Returns the artifact with these choices of configurations: the first call has the first one, and so on."""
        del rounds
        return artifact

    def headline(self, report: BuildReport) -> str:
        """Returns the line of a failed build's log that says what is wrong; empty where none does."""
