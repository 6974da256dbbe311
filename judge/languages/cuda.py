"""CUDA C++, compiled by nvcc in a jail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.compile.artifact import Artifact
from judge.compile.diagnostics import headline
from judge.compile.nvcc import build_submission
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.base import Buildable, Language
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.compile.assembly import Assembly, NotAssembled


class CudaLanguage(Language):
    """A ``.cu`` file that defines ``solve``."""

    name = "cuda"

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        return build_submission(source, challenge, target, settings, recorded=recorded)

    def build_null_kernel(self, challenge: Buildable, target: Target, settings: JudgeSettings) -> Artifact:
        report, artifact = self.build(challenge.starter().encode(), challenge, target, settings)
        if artifact is None:
            raise InternalError(f"the starter of {challenge.slug} does not compile: {report.log[:300]}")
        return artifact

    def assemble(
        self, source: bytes, challenge: Buildable, arch: str, settings: JudgeSettings
    ) -> Assembly | NotAssembled:
        # Here, since few judgements show machine code.
        from judge.compile.assembly import assemble

        return assemble(source, challenge, arch, settings)

    def headline(self, report: BuildReport) -> str:
        return headline(report.log)


def make_language() -> Language:
    """Returns the language ``cuda``."""
    return CudaLanguage()
