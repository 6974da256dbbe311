"""Triton as a language: all that the other modules need to know of its submissions."""

from __future__ import annotations

import dataclasses
import functools
import importlib.metadata
import importlib.util
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from judge.compile.artifact import Artifact
from judge.compile.starter import described
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.base import Buildable, Language
from judge.settings import JudgeSettings
from judge.wire.python_program import Choice, TunedKernel, pack_program, unpack_program

if TYPE_CHECKING:
    from judge.compile.assembly import Assembly, NotAssembled

_INSTALLING = "pip install 'gpujudge[triton]', or in a clone pip install '.[triton]' (290 MB)"
_MISSING = f"Triton is not installed here: {_INSTALLING}"
#: The first release whose compiler ``judge.runner.triton.compiler`` can call, and whose kernels take the parameters of
#: ``judge.runner.triton.parameters``. PyTorch brings one of its own: 3.6 does for GPUs.
_FIRST_RELEASE = (3, 6)


class TritonLanguage(Language):
    """A ``.py`` file that defines ``solve``, which launches kernels under ``@triton.jit``."""

    name = "triton"
    title = "Triton"
    file_name = "kernel.py"
    suffixes = (".py",)
    companions = ()
    comment = "#"
    grammar = "python"
    barrier = "tl.debug_barrier()"
    installing = _INSTALLING
    docs_url = "https://triton-lang.org/main/python-api/triton.language.html"
    listings = ("ttir", "ttgir", "ptx", "sass")
    #: What it asks of the device goes through the runner, which writes it down.
    records = True

    def missing(self) -> str:
        return _too_old() if _is_installed() else _MISSING

    def starter(self, challenge: Buildable) -> str:
        names = ", ".join(argument.name for argument in challenge.arguments)
        lines = described(challenge.title, challenge.arguments, "#")
        lines += ["", "import triton", "import triton.language as tl", "", "", f"def solve({names}):", "    pass", ""]
        return "\n".join(lines)

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        from judge.languages.triton.building import build_submission

        del recorded
        if missing := self.missing():
            raise InternalError("this machine cannot build Triton submissions", missing)
        return build_submission(source, challenge, target, settings)

    def build_null_kernel(self, challenge: Buildable, target: Target, settings: JudgeSettings) -> Artifact:
        # It launches nothing, so that a machine which only runs submissions needs no Triton.
        from judge.languages.triton.building import build_submission

        report, artifact = build_submission(self.starter(challenge).encode(), challenge, target, settings)
        if artifact is None:
            raise InternalError(f"the starter of {challenge.slug} does not build: {report.log[:300]}")
        return artifact

    def assemble(
        self, source: bytes, challenge: Buildable, arch: str, settings: JudgeSettings
    ) -> Assembly | NotAssembled:
        from judge.languages.triton.assembling import assemble

        if missing := self.missing():
            raise InternalError("this machine cannot build Triton submissions", missing)
        return assemble(source, challenge, arch, settings)

    def tuned(self, artifact: Artifact) -> Sequence[TunedKernel]:
        return unpack_program(artifact.library).tuned

    def choose(self, artifact: Artifact, rounds: Sequence[Choice]) -> Artifact:
        program = dataclasses.replace(unpack_program(artifact.library), rounds=tuple(rounds))
        return dataclasses.replace(artifact, library=pack_program(program))

    def headline(self, report: BuildReport) -> str:
        return next((line for line in report.log.splitlines() if line.strip()), "")


@functools.cache
def _is_installed() -> bool:
    return importlib.util.find_spec("triton") is not None


@functools.cache
def _too_old() -> str:
    """Returns the remedy where the installed Triton is too old; empty where it is not, or nobody knows its release."""
    try:
        found = importlib.metadata.version("triton")
    except importlib.metadata.PackageNotFoundError:
        return ""
    release = re.match(r"(\d+)\.(\d+)", found)
    if release is None or (int(release[1]), int(release[2])) >= _FIRST_RELEASE:
        return ""
    return f"Triton {found} is installed here, which is too old for the judge: {_INSTALLING}"
