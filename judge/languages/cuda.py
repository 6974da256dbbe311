"""CUDA C++, compiled by nvcc in a jail."""

from __future__ import annotations

from typing import TYPE_CHECKING

from judge.compile.artifact import Artifact
from judge.compile.source_files import MAIN, SUFFIXES
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.base import Buildable, Language
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.compile.assembly import Assembly, NotAssembled


class CudaLanguage(Language):
    """A ``.cu`` file that defines ``solve``, and headers of its own."""

    name = "cuda"
    title = "CUDA C++"
    file_name = MAIN
    suffixes = (".cu", ".cpp", ".cc")
    companions = SUFFIXES
    comment = "//"
    grammar = "cuda"
    barrier = "__syncthreads()"
    installing = ""
    docs_url = "https://docs.nvidia.com/cuda/cuda-c-programming-guide/"
    listings = ("ptx", "sass")
    records = True

    def missing(self) -> str:
        # A build says what is missing; to look for nvcc takes as long as a page.
        return ""

    def starter(self, challenge: Buildable) -> str:
        from judge.compile.starter import starter

        return starter(challenge.title, challenge.arguments, challenge.signature_text)

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        from judge.compile.nvcc import build_submission

        return build_submission(source, challenge, target, settings, recorded=recorded)

    def build_null_kernel(self, challenge: Buildable, target: Target, settings: JudgeSettings) -> Artifact:
        report, artifact = self.build(self.starter(challenge).encode(), challenge, target, settings)
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
        from judge.compile.diagnostics import headline

        return headline(report.log)


def make_language() -> Language:
    """Returns the language ``cuda``."""
    return CudaLanguage()
