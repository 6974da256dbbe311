"""Triton as a language: all that the other modules need to know of its submissions."""

from __future__ import annotations

import functools
import importlib.util
from typing import TYPE_CHECKING

from judge.compile.artifact import Artifact
from judge.compile.starter import described
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.base import Buildable, Language
from judge.settings import JudgeSettings

if TYPE_CHECKING:
    from judge.compile.assembly import Assembly, NotAssembled

_INSTALLING = "pip install 'gpujudge[triton]', or in a clone pip install '.[triton]' (290 MB)"
_MISSING = f"Triton is not installed here: {_INSTALLING}"


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
    records = False

    def missing(self) -> str:
        return "" if _is_installed() else _MISSING

    def starter(self, challenge: Buildable) -> str:
        names = ", ".join(argument.name for argument in challenge.arguments)
        lines = described(challenge.title, challenge.arguments, "#")
        lines += ["", "import triton", "import triton.language as tl", "", "", f"def solve({names}):", "    pass", ""]
        return "\n".join(lines)

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        from judge.languages.triton.building import build_submission

        if recorded:
            raise InternalError("what Triton submissions ask of the device is not recorded")
        if not _is_installed():
            raise InternalError("this machine cannot build Triton submissions", _MISSING)
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

        if not _is_installed():
            raise InternalError("this machine cannot build Triton submissions", _MISSING)
        return assemble(source, challenge, arch, settings)

    def headline(self, report: BuildReport) -> str:
        return next((line for line in report.log.splitlines() if line.strip()), "")


@functools.cache
def _is_installed() -> bool:
    return importlib.util.find_spec("triton") is not None
