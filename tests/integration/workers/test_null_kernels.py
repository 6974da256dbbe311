"""Null kernels that a worker times ahead: of which challenges, when again, and not while a submission waits."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, cast

import pytest

from judge.errors import Cancelled, InternalError
from judge.judgement import DeviceInfo
from tests.fake_judge import GPU, FakeJudge
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import Fleet
from workers import null_kernels
from workers.build import build_one
from workers.context import WorkerContext, make_context
from workers.device import run_one
from workers.gpu import DeviceService
from workers.null_kernels import NullKernels


@dataclasses.dataclass(frozen=True)
class Build:
    language: str = "cuda"


@dataclasses.dataclass(frozen=True)
class Pack:
    slug: str
    build: Build = Build()
    version: str = "1.0.0"
    major: int = 1
    title: str = "A pack"
    languages: tuple[str, ...] = ("cuda", "triton")

    @property
    def digest(self) -> str:
        return f"{self.slug:d<64}"

    def in_language(self, name: str) -> Pack:
        return dataclasses.replace(self, build=Build(name))


class Judge(FakeJudge):
    """Keeps which null kernels were timed; what is in ``old`` is too old for those in use."""

    def __init__(self) -> None:
        super().__init__()
        self.timed: list[tuple[str, str]] = []
        self.old: set[tuple[str, str]] = set()
        self.broken = ""
        self.meanwhile: Callable[[], object] = lambda: None

    def lacks_null_kernel(self, pack: Any, device: DeviceInfo, *, older_s: float | None) -> bool:
        del device
        key = pack.slug, pack.build.language
        return key not in self.timed or (older_s is not None and key in self.old)

    def time_null_kernel(
        self, pack: Any, device: DeviceInfo, *, older_s: float | None, cancelled: Callable[[], bool]
    ) -> None:
        del device, older_s
        self.meanwhile()
        if cancelled():
            raise Cancelled
        if pack.slug == self.broken:
            raise InternalError("its starter does not compile")
        key = pack.slug, pack.build.language
        self.timed.append(key)
        self.old.discard(key)


class Service:
    in_service = True

    def job(self) -> Any:
        return nullcontext()


SERVICE = cast("DeviceService", Service())


@dataclasses.dataclass
class Worker:
    fleet: Fleet
    context: WorkerContext
    judge: Judge

    def send(self, slug: str) -> None:
        pack: Any = self.context.packs.load()[slug]
        self.fleet.submit("name=a", ring_bell=False, device_key=GPU.key, pack=pack)

    def all_timed(self) -> list[tuple[str, str]]:
        """Times all there is. Returns what was timed, in order."""
        before = len(self.judge.timed)
        kernels = NullKernels(self.context, GPU)
        while kernels.time_one(SERVICE):
            pass
        return self.judge.timed[before:]


@pytest.fixture
def worker(make_fleet: MakeFleet, monkeypatch: pytest.MonkeyPatch) -> Iterator[Worker]:
    monkeypatch.setattr(null_kernels, "_ASK_S", 0.0)
    fleet = make_fleet()
    judge = Judge()
    packs: Any = {slug: Pack(slug) for slug in ("matmul", "scan", "softmax")}
    given: Any = judge
    context = make_context(fleet.settings, judge=given, packs=packs)
    yield Worker(fleet, context, judge)
    context.doorbell.close()
    context.engine.dispose()


def test_all_are_timed_once_those_in_use_first_and_again(worker: Worker) -> None:
    worker.send("scan")
    assert build_one(worker.context)
    assert run_one(worker.context, GPU)
    assert worker.all_timed() == [("scan", "cuda"), ("matmul", "cuda"), ("softmax", "cuda")]
    assert worker.all_timed() == []
    worker.judge.old = {("scan", "cuda"), ("matmul", "cuda")}
    assert worker.all_timed() == [("scan", "cuda")], "nobody uses the other one"


def test_a_submission_comes_first(worker: Worker) -> None:
    worker.judge.meanwhile = lambda: worker.send("scan")
    assert worker.all_timed() == [], "it came while the first was timed"
    worker.judge.meanwhile = lambda: None
    assert worker.all_timed() == [], "it waits"
    assert build_one(worker.context)
    assert run_one(worker.context, GPU)
    assert len(worker.all_timed()) == 3


def test_a_failure_stops_nothing_else_and_is_not_tried_again(worker: Worker) -> None:
    worker.judge.broken = "matmul"
    kernels = NullKernels(worker.context, GPU)
    turns = [kernels.time_one(SERVICE) for _ in range(4)]
    assert turns == [True, True, True, False]
    assert [slug for slug, _ in worker.judge.timed] == ["scan", "softmax"]
