"""C++ for the host, by g++ without a jail: for tests alone."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path

from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.base import Buildable, Language
from judge.settings import JudgeSettings


class ToyLanguage(Language):
    name = "toy-c++"
    title = "Toy C++"
    file_name = "kernel.cpp"
    suffixes = (".toy",)
    companions = ()
    comment = ";;"
    grammar = "toy"
    barrier = "await"
    docs_url = "https://example.org/toy"
    installing = ""
    listings = ()
    records = False

    def missing(self) -> str:
        return ""

    def starter(self, challenge: Buildable) -> str:
        return f";; the starter of {challenge.slug}\n"

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        del challenge, settings
        if recorded:
            raise InternalError(f"{self.name} cannot record")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "kernel.cpp"
            path.write_bytes(source)
            library = path.with_suffix(".so")
            command = ["g++", "-O1", "-fPIC", "-shared", "-o", library, path]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            if done.returncode:
                return BuildReport(ok=False, wall_s=0.1, log=done.stderr), None
            return BuildReport(ok=True, wall_s=0.1), Artifact(library.read_bytes(), target)

    def build_null_kernel(self, challenge: Buildable, target: Target, settings: JudgeSettings) -> Artifact:
        _, artifact = self.build(b'extern "C" void solve() {}', challenge, target, settings)
        assert artifact is not None
        return artifact

    def headline(self, report: BuildReport) -> str:
        return next(line for line in report.log.splitlines() if "error" in line)
