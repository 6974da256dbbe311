"""``python -m judge.batch.worker``: builds and judges kernels one after the other, as a batch's process asks.

The first line on stdin has the settings; each further one is a request, which is answered by one line on stdout. When
stdin ends so does the process, whatever it is doing: the batch is gone.
"""

from __future__ import annotations

import json
import os
import queue
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from judge import pipeline
from judge.backends.registry import BUILTIN_BACKENDS
from judge.backends.sessions import warm_runners
from judge.bench.background import Background
from judge.errors import InternalError
from judge.judgement import DeviceInfo, Judgement
from judge.judgement_json import to_json
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.null_baselines import time_null_kernel
from judge.packs.collection.registry import Registry, UnknownChallenge
from judge.packs.isolation.client import PROCESSES
from judge.settings import JudgeSettings
from judge.verdict import Verdict

if TYPE_CHECKING:
    from judge.gpu.health import GpuHealth
    from judge.packs.pack import Pack
    from judge.supervisor.warm_pool import WarmPool

#: On the emulator a runner waits for the cases; those of the benchmarks start while the cases are judged.
_RUNNERS_BESIDE_OTHERS = 1


class Unusable(Exception):
    """A request that no judgement can come of: its challenge is unknown or broken."""


class Worker:
    """Answers requests. Keeps warm runners of the device that it judges on."""

    def __init__(self, settings: JudgeSettings, packs: list[Path]) -> None:
        self._settings = settings
        self._packs = packs
        self._background = Background()
        self._device: DeviceInfo | None = None
        self._warm: WarmPool | None = None
        self._health: GpuHealth | None = None

    def answer(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer to one request: ``judgement``, ``built``, ``timed``, ``unusable`` or ``lost``."""
        device = DeviceInfo(**request["device"])
        source = request["source"].encode("utf-8", "surrogateescape")
        try:
            pack = self._pack(request["challenge"], request["language"])
        except Unusable as error:
            return {"unusable": str(error)}
        if not pack.cases_for(device.kind):
            return {"unusable": f"{pack.slug} has no case for {device.kind}"}
        try:
            if request["do"] == "build":
                return self._build(source, pack, device, is_timed=request["mode"] != pipeline.Mode.CHECK)
            if request["do"] == "build null":
                return self._build_null_kernel(pack, device)
            if (problem := self._hold(device, shared=request["mode"] == pipeline.Mode.CHECK)) is not None:
                return {"lost": problem}
            if request["do"] == "time null":
                time_null_kernel(pack, device, self._settings, warm=self._warm)
                return {"timed": True}
            return self._judge(source, pack, device, request["seed"], request["mode"])
        except InternalError as error:
            return {"judgement": to_json(_internal_error(error, pack, device))}

    def close(self) -> None:
        """Ends all running work."""
        self._background.close()
        if self._warm is not None:
            self._warm.close()
        PROCESSES.close()

    def _pack(self, slug: str, language: str | None) -> Pack:
        found = Registry.load(self._packs, only=slug)
        if slug not in found.packs:
            found = Registry.load(self._packs)
        try:
            pack = found.find(slug)
            pack = pack.in_language(language or pack.languages[0])
        except ValueError as error:
            raise Unusable(str(error)) from None
        except UnknownChallenge as error:
            broken = next((problem for problem in found.problems if problem.file.parent.name == slug), None)
            raise Unusable(f"challenge {slug} is broken: {broken}" if broken else str(error)) from None
        missing = BUILTIN_LANGUAGES.of(pack.build.language).missing()
        if missing:
            raise Unusable(missing)
        return pack

    def _build(self, source: bytes, pack: Pack, device: DeviceInfo, *, is_timed: bool) -> dict[str, Any]:
        report, artifact = pipeline.build(source, pack, device, self._settings)
        if artifact is None:
            return {"judgement": to_json(pipeline.compile_error(report, pack, device))}
        return self._build_null_kernel(pack, device) if is_timed else {"built": True}

    def _build_null_kernel(self, pack: Pack, device: DeviceInfo) -> dict[str, Any]:
        """Builds what is timed beside every kernel of the challenge, so that no GPU waits for its compiler."""
        target = BUILTIN_BACKENDS.of(device.kind).target(device)
        BUILTIN_LANGUAGES.of(pack.build.language).build_null_kernel(pack, target, self._settings)
        return {"built": True}

    def _judge(self, source: bytes, pack: Pack, device: DeviceInfo, seed: int, mode: str) -> dict[str, Any]:
        report, artifact = pipeline.build(source, pack, device, self._settings)
        if artifact is None:
            return {"judgement": to_json(pipeline.compile_error(report, pack, device))}
        self._background.wait()
        judgement = pipeline.run(
            artifact,
            report,
            pack,
            device,
            seed,
            self._settings,
            source=source,
            mode=pipeline.Mode(mode),
            warm=self._warm,
            background=self._background,
        )
        if self._health is not None:
            self._health.job_ended(failed=judgement.verdict is Verdict.INTERNAL_ERROR)
        return {"judgement": to_json(judgement)}

    def _hold(self, device: DeviceInfo, *, shared: bool) -> str | None:
        """Prepares the device at the first request for it. Returns why it can judge nothing, None if it can."""
        if self._device != device:
            backend = BUILTIN_BACKENDS.of(device.kind)
            backend.prepare(self._settings)
            count = _RUNNERS_BESIDE_OTHERS if backend.fills_processors else backend.warm_runners(device)
            self._health = backend.open_health(device, self._settings, runners=count)
            self._warm = warm_runners(backend, device, self._settings, count, _complain)
            self._device = device
        if self._health is None:
            return None
        self._background.wait()
        while not self._health.fit(shared=shared):
            if self._health.problem:
                return self._health.problem
            threading.Event().wait(0.2)
        return None


def _internal_error(error: InternalError, pack: Pack, device: DeviceInfo) -> Judgement:
    from judge.judgement import BuildReport

    report = BuildReport(ok=False, wall_s=0.0)
    return Judgement(Verdict.INTERNAL_ERROR, pack.slug, pack.version, device, report, message=str(error))


def _complain(problem: str) -> None:
    print(f"no warm runner: {problem}", file=sys.stderr, flush=True)


def serve(take: Callable[[], str], put: Callable[[str], None]) -> None:
    """Answers the lines that ``take`` returns, until it returns an empty one."""
    told = json.loads(take())
    worker = Worker(JudgeSettings.from_json(told["settings"]), [Path(folder) for folder in told["packs"]])
    PROCESSES.start()
    put(json.dumps({"ready": True}))
    while line := take():
        put(json.dumps(worker.answer(json.loads(line))))
    worker.close()


def main() -> None:
    """Serves standard input; at its end a process that is busy exits at once, with status 0."""
    lines: queue.SimpleQueue[str] = queue.SimpleQueue()
    answers = os.fdopen(os.dup(1), "w")
    # What a library prints is not an answer.
    os.dup2(2, 1)
    busy = threading.Event()

    def read() -> None:
        for line in sys.stdin:
            lines.put(line)
        if busy.is_set():
            os._exit(0)
        lines.put("")

    def take() -> str:
        busy.clear()
        line = lines.get()
        busy.set()
        return line

    def put(line: str) -> None:
        answers.write(line + "\n")
        answers.flush()

    threading.Thread(target=read, name="requests", daemon=True).start()
    serve(take, put)


if __name__ == "__main__":
    main()
