"""Host memory as a kind of device, and C++ as a language.

It is the judge's own way from a source to a judgement, with no GPU and no nvcc in it.
"""

from __future__ import annotations

import subprocess
from pathlib import Path

from judge.backends.cuda.backend import CudaBackend
from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import BuildReport, DeviceInfo
from judge.languages.base import Buildable, Language
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.packs.pack import Pack
from judge.sandbox.bind import Bind
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import DeviceBounds, RunnerSpec
from tests.host_device.submissions import EMPTY, build

PACKAGE = Path(__file__).resolve().parent
#: The host device makes its inputs by the trusted side's own functions, which no jail shows.
_JUDGE = PACKAGE.parent.parent / "judge"


class HostBackend(CudaBackend):
    """Stands in for a GPU: measured times, the lock, audits. The jail of a plain process, without GPU nodes."""

    def target(self, device: DeviceInfo) -> Target:  # noqa: ARG002
        return Target("cuda", "sm_90")

    def runner_spec(self, device: DeviceInfo, settings: JudgeSettings) -> RunnerSpec:  # noqa: ARG002
        return RunnerSpec("tests.host_device.device", binds=(Bind.same(PACKAGE), Bind.same(_JUDGE)))

    def bounds(self, pack: Pack, settings: JudgeSettings, argument_bytes: int) -> DeviceBounds:  # noqa: ARG002
        return DeviceBounds(memory_bytes=(pack.limits.memory_mib << 20) + argument_bytes + (1 << 20))


class HostLanguage(Language):
    """C++ for the host."""

    name = "cuda"
    title = "C++ of the host"
    file_name = "kernel.cu"
    suffixes = (".cu",)
    records = True

    def build(
        self, source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, recorded: bool = False
    ) -> tuple[BuildReport, Artifact | None]:
        del challenge, target, settings, recorded
        try:
            return BuildReport(ok=True, wall_s=0.1), build(source.decode())
        except subprocess.CalledProcessError as error:
            return BuildReport(ok=False, wall_s=0.1, log=str(error)), None

    def build_null_kernel(self, challenge: Buildable, target: Target, settings: JudgeSettings) -> Artifact:
        del challenge, target, settings
        return build(EMPTY)

    def headline(self, report: BuildReport) -> str:
        return report.log


#: The built-in ones, but for what a GPU and nvcc do.
BACKENDS = BUILTIN_BACKENDS.with_backend(HostBackend())
LANGUAGES = BUILTIN_LANGUAGES.with_language(HostLanguage())
