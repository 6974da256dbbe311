"""A judge of a few lines for tests of what surrounds the judge: what it does is written in the source it is given.

The source is lines of ``key=value``: ``build_s`` and ``run_s`` (how long the halves take), ``first_run_s`` (how long the first run takes, by the diary), ``verdict`` (CE, AC, WA or IE),
``value`` (the score), ``cases`` (how many), ``die`` (``build``, ``run`` or ``audit``: raise there), ``deaf`` (no cancelling
heard), ``finds`` (``race``, ``unchecked``: what a check finds) and ``recheck_s`` (how long it takes), ``audit_s``, ``audit_value`` and ``audit_verdict`` (of an audit: how long, and what comes of it), ``profile`` (``none``: there can be none) and ``profile_s``.

A device whose details have a ``pace`` takes that many times as long, and scores name the card (``uuid_hash``).
"""
# ruff: noqa: ARG002, E501

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from judge.bench.library.record import LibraryTime
from judge.compile.assembly import Assembly, FunctionAssembly, NotAssembled
from judge.compile.listing import Instruction
from judge.errors import Cancelled, InternalError
from judge.gpu.nsight.tool import NoProfile
from judge.judgement import (
    BuildReport,
    CaseJudgement,
    DeviceInfo,
    Judgement,
    KernelResources,
    MemoryFault,
    RacingAccess,
)
from judge.measurements import Fingerprint, Measurement
from judge.profile import Profile
from judge.profiling import Profiled
from judge.recheck import Recheck, conclude, unchecked
from judge.verdict import Verdict

GPU = DeviceInfo("nvidia-h200", "cuda", "a GPU of tests", "9.0", {"driver": "none"})
EMULATOR = DeviceInfo("emulator", "emulator", "a device of tests", "8.0", {"cpu": "none"})


@dataclass(frozen=True, slots=True)
class FakePack:
    """As much of a pack as the store and the workers look at."""

    slug: str = "reduction"
    title: str = "Reduction"
    version: str = "1.2.0"
    major: int = 1
    digest: str = "d" * 64
    custom_input: dict[str, str] | None = None
    language: str = "cuda"

    def in_language(self, name: str) -> FakePack:
        return replace(self, language=name)


@dataclass(frozen=True, slots=True)
class FakeArtifact:
    data: bytes

    @property
    def digest(self) -> str:
        return hashlib.sha256(self.data).hexdigest()

    def to_bytes(self) -> bytes:
        return self.data


@dataclass(frozen=True, slots=True)
class FakeProgress:
    stage: str
    case_id: str | None = None
    verdict: Verdict | None = None
    done: int = 0
    total: int = 0
    group: str | None = None


class FakeJudge:
    """``diary`` is a file to which every beginning and end is appended, so that tests of several processes see them."""

    def __init__(self, diary: Path | None = None, libraries: Sequence[LibraryTime] = ()) -> None:
        self._diary = diary
        self.libraries = libraries

    def build(self, source: bytes, pack: Any, device: DeviceInfo) -> tuple[BuildReport, FakeArtifact | None]:
        orders = _orders(source)
        self._note(orders, "build")
        _work(float(orders.get("build_s", 0)), lambda: False)
        if orders.get("die") == "build":
            raise InternalError("told to fail in the build")
        ok = orders.get("verdict") != "CE"
        report = BuildReport(ok, 0.1, "the compiler's words", 32, 0, (KernelResources("k"),))
        return report, FakeArtifact(source) if ok else None

    def with_custom_case(self, pack: Any, given: dict[str, str], device: DeviceInfo) -> Any:
        return replace(pack, custom_input=given)

    def compile_error(self, report: BuildReport, pack: Any, device: DeviceInfo) -> Judgement:
        return Judgement(Verdict.COMPILE_ERROR, pack.slug, pack.version, device, report, message="it does not compile")

    def library_times(self, pack: Any, device: DeviceInfo, *, cancelled: Callable[[], bool]) -> Sequence[LibraryTime]:
        del device
        if cancelled():
            raise Cancelled
        if not self.libraries:
            raise InternalError(f"the libraries of {pack.slug} cannot be called")
        return self.libraries

    def lacks_null_kernel(self, pack: Any, device: DeviceInfo, *, older_s: float | None) -> bool:
        return False

    def time_null_kernel(
        self, pack: Any, device: DeviceInfo, *, older_s: float | None, cancelled: Callable[[], bool]
    ) -> None:
        raise InternalError("there is no null kernel")

    def profile(
        self, source: bytes, pack: Any, device: DeviceInfo, *, seed: int, cancelled: Callable[[], bool]
    ) -> Profiled:
        orders = _orders(source)
        self._note(orders, "profile")
        _work(float(orders.get("profile_s", 0)), cancelled)
        if orders.get("die") == "profile":
            raise InternalError("told to fail in the profiler")
        if orders.get("profile") == "none":
            raise NoProfile("no counters here", "type this")
        return Profiled(Profile(gpu=device.name, tool="a profiler of tests"), b"report of " + source)

    def can_recheck(self) -> bool:
        return True

    def recheck(self, source: bytes, pack: Any, kind: str, *, seed: int, cancelled: Callable[[], bool]) -> Recheck:
        orders = _orders(source)
        self._note(orders, "recheck")
        _work(float(orders.get("recheck_s", 0)), cancelled)
        if orders.get("die") == "recheck":
            raise InternalError("told to fail in the check")
        if orders.get("finds") == "unchecked":
            return unchecked("the emulator does not support it", "wgmma", of=3)
        other = RacingAccess("kernel.cu", 44, (1, 0, 0), (0, 0, 0), is_write=True)
        race = MemoryFault(
            "race on shared memory", "thread 0 reads what thread 1 writes", "k", "kernel.cu", 39, other=other
        )
        faults = (race,) if orders.get("finds") == "race" else ()
        return conclude(
            [
                CaseJudgement(f"case-{number}", "hidden", Verdict.ACCEPTED, 0.01, memory_errors=faults)
                for number in range(3)
            ],
            3,
        )

    def assemble(self, source: bytes, pack: Any, arch: str) -> Assembly | NotAssembled:
        orders = _orders(source)
        self._note(orders, "assemble")
        if orders.get("die") == "assemble":
            raise InternalError("told to fail in the disassembler")
        if orders.get("verdict") == "CE":
            return NotAssembled("it does not compile")
        listing = (Instruction("LDG.E R0, [R2.64]", 1), Instruction("EXIT", None))
        return Assembly(arch, (FunctionAssembly("_Z1kv", True, None, KernelResources("_Z1kv", 8), listing, listing),))

    def run(
        self,
        artifact: bytes,
        report: BuildReport,
        pack: Any,
        device: DeviceInfo,
        *,
        source: bytes,
        seed: int,
        mode: str,
        progress: Callable[[Any], None],
        cancelled: Callable[[], bool],
        far_s: float,
    ) -> Judgement:
        orders = _orders(artifact)
        self._note(orders, "run")
        self.far_s = far_s
        wall_s = float(orders.get("first_run_s" if self._runs(orders) == 1 else "run_s", orders.get("run_s", 0)))
        count = int(orders.get("cases", 2))
        verdict = Verdict(orders.get("verdict", "AC"))
        cases = []
        progress(FakeProgress("running", total=count))
        for number in range(1, count + 1):
            _work(wall_s / count, cancelled if "deaf" not in orders else lambda: False)
            case = CaseJudgement(f"case-{number}", "hidden", verdict, 0.01)
            cases.append(case)
            progress(FakeProgress("case", case.id, verdict, number, count, case.group))
        if orders.get("die") == "run":
            raise ZeroDivisionError("told to fail in the run")
        score = None
        if verdict is Verdict.ACCEPTED and mode == "submit":
            progress(FakeProgress("timing", "bench", None, 1, 1))
            value = _pace(device) * float(orders.get("value", 1.0))
            score = Measurement("time_s", value, 20, 0.01, median_s=1.0, gb_per_s=2.0, fingerprint=_fingerprint(device))
        return Judgement(verdict, pack.slug, pack.version, device, report, tuple(cases), score)

    def audit(
        self,
        built: Sequence[tuple[bytes, BuildReport]],
        pack: Any,
        device: DeviceInfo,
        *,
        sources: Sequence[bytes],
        seed: int,
        cancelled: Callable[[], bool],
        on_libraries: Callable[[Sequence[LibraryTime]], None] = lambda _: None,
    ) -> list[Judgement]:
        judged = []
        if self.libraries:
            on_libraries(self.libraries)
        for artifact, report in built:
            orders = _orders(artifact)
            self._note(orders, "audit")
            _work(float(orders.get("audit_s", 0)), cancelled)
            if orders.get("die") == "audit":
                raise InternalError("told to fail in the audit")
            verdict = Verdict(orders.get("audit_verdict", "AC"))
            value = float(orders.get("audit_value", orders.get("value", 1.0)))
            value *= _pace(device)
            score = Measurement(
                "time_s", value, 150, 0.01, low=0.99 * value, high=1.01 * value, fingerprint=_fingerprint(device)
            )
            judged.append(
                Judgement(
                    verdict,
                    pack.slug,
                    pack.version,
                    device,
                    report,
                    measurement=score if verdict is Verdict.ACCEPTED else None,
                    message=orders.get("says", ""),
                )
            )
        return judged

    def _runs(self, orders: dict[str, str]) -> int:
        """Returns how many runs of these orders have begun."""
        lines = self._diary.read_text().splitlines() if self._diary is not None else []
        return lines.count(f"run {orders.get('name', '')}")

    def _note(self, orders: dict[str, str], stage: str) -> None:
        if self._diary is not None:
            with self._diary.open("a") as file:
                file.write(f"{stage} {orders.get('name', '')}\n")


def _pace(device: DeviceInfo) -> float:
    return float(device.details.get("pace", 1.0))


def _fingerprint(device: DeviceInfo) -> Fingerprint:
    return Fingerprint(uuid_hash=device.details.get("uuid_hash"))


def _orders(source: bytes) -> dict[str, str]:
    return dict(line.split("=", 1) for line in source.decode().splitlines() if "=" in line)


def _work(wall_s: float, cancelled: Callable[[], bool]) -> None:
    until_s = time.monotonic() + wall_s
    while (left_s := until_s - time.monotonic()) > 0:
        if cancelled():
            raise Cancelled
        time.sleep(min(left_s, 0.02))
