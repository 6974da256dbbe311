"""``gpujudge.Judge``: judges kernels from Python.

It needs nothing but the standard library, and knows no other module of ours: a process of its own, the command
``gpujudge judge --stream``, does the work.

    import gpujudge

    with gpujudge.Judge(devices="all", precision=0.02) as judge:
        for result in judge.judge_all(gpujudge.Kernel(text, "softmax") for text in candidates):
            print(result.verdict, result.time_s)
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import json
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import AsyncIterable, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any, Self

__all__ = ["Case", "Judge", "JudgeError", "Kernel", "Result"]

#: The most kernels of an iterable that are sent ahead of their results.
_AHEAD = 64
_ENDING_S = 60.0
_COMMAND = Path(__file__).resolve().parents[2]


class JudgeError(RuntimeError):
    """The judge cannot work here, or its process has ended: the message is what it said."""


@dataclass(frozen=True, slots=True)
class Kernel:
    """A kernel to judge: its source, and the slug of its challenge.

    ``name`` is yours, and comes back with the result. ``seed`` decides hidden inputs; None: that of the ``Judge``.
    ``language`` is ``cuda`` or ``triton``; None: the challenge's usual one, CUDA C++.
    """

    source: str
    challenge: str
    name: str = ""
    seed: int | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Case:
    """The judgement of one case. ``group`` is ``sample``, ``hidden`` or ``benchmark``."""

    id: str
    group: str
    verdict: str
    wall_s: float
    message: str


@dataclass(frozen=True, slots=True)
class Result:
    """The result of a kernel.

    ``verdict`` is AC, WA, CE, RE, TLE, MLE, OLE, SV, TI or IE, and None where the challenge is unknown: ``message``
    says why. ``time_s`` is the measured time in seconds, on the emulator the modelled one, of an accepted kernel that
    was timed; ``interval_s`` the interval that holds it with 95 %, where it was measured. ``screened``: the emulator
    refused it as a filter. ``judgement`` is all of it, as ``gpujudge judge --json`` prints it.
    """

    kernel: Kernel
    verdict: str | None
    message: str
    device: str
    seed: int | None
    time_s: float | None
    interval_s: tuple[float, float] | None
    cases: tuple[Case, ...]
    build_log: str
    screened: bool
    judgement: Mapping[str, Any] | None = field(repr=False)

    @property
    def accepted(self) -> bool:
        """Whether every case was accepted."""
        return self.verdict == "AC"


class Judge:
    """Judges kernels on the devices of this machine. A context manager, of ``with`` and of ``async with``.

    ``devices`` are ``emulator`` (the default), ``all`` GPUs, or names such as ``cuda:0``. ``jobs`` is how many kernels
    are built, or judged on the emulator, at a time. ``precision`` is half the width of a time's interval that
    suffices, as a share of the time: 0.02. ``untimed`` calls each benchmark once and measures nothing. ``screen``
    ``emulator`` lets no GPU see what the emulator refuses. ``packs`` are folders of challenges, instead of the
    built-in ones. ``data_dir`` is for what is built once. All methods may be called from any thread. Raises JudgeError
    at the first use where the judge cannot work.
    """

    def __init__(
        self,
        devices: str | Sequence[str] = "emulator",
        *,
        jobs: int | None = None,
        precision: float | None = None,
        untimed: bool = False,
        screen: str | None = None,
        packs: Sequence[str | Path] = (),
        data_dir: str | Path | None = None,
        seed: int | None = None,
    ) -> None:
        names = devices if isinstance(devices, str) else ",".join(devices)
        self._command = [
            sys.executable, "-P", str(_entry()), "judge", "--stream", "--devices", names,
            *_option("--jobs", jobs), *_option("--precision", precision), *(["--untimed"] if untimed else []),
            *_option("--screen", screen), *itertools.chain.from_iterable(_option("--packs", each) for each in packs),
            *_option("--data-dir", data_dir), *_option("--seed", seed),
        ]  # fmt: skip
        self._lock = threading.Lock()
        self._numbers = itertools.count()
        self._waiting: dict[int, tuple[Kernel, Future[Result]]] = {}
        self._process: subprocess.Popen[str] | None = None
        self._sending = threading.Lock()
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115 - until close
        self._reader: threading.Thread | None = None
        self._is_closed = False

    def submit(self, kernel: Kernel) -> Future[Result]:
        """Sends a kernel, and returns the future of its result. Raises JudgeError once the judge has ended."""
        future: Future[Result] = Future()
        number = next(self._numbers)
        told = {"id": number, "challenge": kernel.challenge, "source": kernel.source}
        more = {"seed": kernel.seed, "language": kernel.language}
        line = json.dumps({**told, **{name: value for name, value in more.items() if value is not None}})
        with self._lock:
            process = self._started()
            self._waiting[number] = kernel, future
        assert process.stdin is not None
        try:
            # Outside of the lock, since it waits where the judge is far behind.
            with self._sending:
                process.stdin.write(line + "\n")
                process.stdin.flush()
        except (OSError, ValueError):
            with self._lock:
                self._waiting.pop(number, None)
            process.wait()
            raise JudgeError(self._why()) from None
        return future

    def judge(self, source: str, challenge: str, *, name: str = "", seed: int | None = None) -> Result:
        """Judges one kernel. Raises JudgeError."""
        return self.submit(Kernel(source, challenge, name, seed)).result()

    def judge_all(self, kernels: Iterable[Kernel]) -> Iterator[Result]:
        """Yields the results of kernels in the order in which they become known. Raises JudgeError.

        Reads ``kernels`` some way ahead, so that there may be any number.
        """
        under_way: set[Future[Result]] = set()
        left = iter(kernels)
        while True:
            under_way.update(map(self.submit, itertools.islice(left, _AHEAD - len(under_way))))
            if not under_way:
                return
            done, under_way = wait(under_way, return_when=FIRST_COMPLETED)
            yield from (future.result() for future in done)

    async def judge_async(self, source: str, challenge: str, *, name: str = "", seed: int | None = None) -> Result:
        """Judges one kernel without blocking the event loop. Raises JudgeError."""
        return await self._result(Kernel(source, challenge, name, seed))

    async def judge_all_async(self, kernels: Iterable[Kernel] | AsyncIterable[Kernel]) -> AsyncIterator[Result]:
        """Yields results as ``judge_all`` does, of an iterable or an asynchronous one. Raises JudgeError."""
        results: asyncio.Queue[Result | BaseException | None] = asyncio.Queue()
        room = asyncio.Semaphore(_AHEAD)
        tasks: set[asyncio.Task[None]] = set()

        async def one(kernel: Kernel) -> None:
            try:
                results.put_nowait(await self._result(kernel))
            except Exception as error:
                results.put_nowait(error)
            finally:
                room.release()

        async def send_all() -> None:
            try:
                async for kernel in _asynchronous(kernels):
                    await room.acquire()
                    task = asyncio.create_task(one(kernel))
                    tasks.add(task)
                    task.add_done_callback(tasks.discard)
                await asyncio.gather(*tasks)
                results.put_nowait(None)
            except Exception as error:
                results.put_nowait(error)

        sender = asyncio.create_task(send_all())
        try:
            while (result := await results.get()) is not None:
                if isinstance(result, BaseException):
                    raise result
                yield result
        finally:
            for task in (sender, *tasks):
                task.cancel()

    def close(self) -> None:
        """Ends the judge, whatever is under way. Idempotent."""
        with self._lock:
            self._is_closed = True
            process, self._process = self._process, None
        if process is None:
            self._said.close()
            return
        process.terminate()
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        try:
            process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if self._reader is not None:
            self._reader.join()
        self._said.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await asyncio.to_thread(self.close)

    async def _result(self, kernel: Kernel) -> Result:
        future = await asyncio.to_thread(self.submit, kernel)
        return await asyncio.wrap_future(future)

    def _started(self) -> subprocess.Popen[str]:
        if self._is_closed:
            raise JudgeError("this judge is closed")
        if self._process is None:
            # Ctrl-C is for the program, which then closes this.
            self._process = subprocess.Popen(
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                text=True,
                encoding="utf-8",
                errors="surrogateescape",
                start_new_session=True,
            )
            self._reader = threading.Thread(
                target=self._read, args=(self._process,), name="gpujudge-results", daemon=True
            )
            self._reader.start()
        return self._process

    def _read(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with process.stdout:
            for line in process.stdout:
                told = json.loads(line)
                with self._lock:
                    kernel, future = self._waiting.pop(told["id"])
                future.set_result(_read_result(kernel, told))
        process.wait()
        with self._lock:
            left, self._waiting = self._waiting, {}
        for _, future in left.values():
            future.set_exception(JudgeError(self._why()))

    def _why(self) -> str:
        if self._is_closed:
            return "this judge was closed"
        self._said.seek(0)
        said = deque((line.rstrip() for line in self._said), maxlen=20)
        return "\n".join(said).removeprefix("error: ") or "the judge's process has ended without a word"


def _entry() -> Path:
    """Returns the file that runs the command: ``gpujudge/__init__.py`` where it is installed, ``gpujudge.py`` here."""
    installed = _COMMAND / "__init__.py"
    return installed if installed.exists() else _COMMAND / "gpujudge.py"


def _option(name: str, value: object) -> list[str]:
    return [] if value is None else [name, str(value)]


def _read_result(kernel: Kernel, told: dict[str, Any]) -> Result:
    judgement = told["judgement"] or {}
    measurement = judgement.get("measurement") or {}
    low, high = measurement.get("low"), measurement.get("high")
    cases = tuple(
        Case(case["id"], case["group"], case["verdict"], case["wall_s"], case.get("message", ""))
        for case in judgement.get("cases", ())
    )
    return Result(
        kernel=kernel,
        verdict=told["verdict"],
        message=told["message"],
        device=told["device"],
        seed=told["seed"],
        time_s=measurement.get("value"),
        interval_s=None if low is None or high is None else (low, high),
        cases=cases,
        build_log=judgement.get("build", {}).get("log", ""),
        screened=told.get("screened", False),
        judgement=told["judgement"],
    )


async def _asynchronous(kernels: Iterable[Kernel] | AsyncIterable[Kernel]) -> AsyncIterator[Kernel]:
    if isinstance(kernels, AsyncIterable):
        async for kernel in kernels:
            yield kernel
    else:
        for kernel in kernels:
            yield kernel
