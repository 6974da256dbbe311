"""Leads kernels through their steps: the filter, the build, the device.

Each process of ``judge.batch.worker`` is led by a thread of its own. Those of the processors build for GPUs ahead and
judge on the emulator. Each GPU has one where kernels are timed, several where not; they get only what is built. While
there is nothing for it, a GPU times the null kernels of the batch's challenges, which each would wait for later. Where
a process ends, its kernel is judged once more in a new one. A device that fails is left out, and its kernel goes to
another one.
"""

from __future__ import annotations

import contextlib
import json
import queue
import subprocess
import threading
from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from judge.batch.kernels import Kernel, Plan, Result, Target, plain
from judge.gpu.process import own_process
from judge.kinds import KINDS
from judge.recheck import is_of_the_program
from judge.settings import JudgeSettings
from judge.verdict import Verdict

#: A kernel whose process has ended so often is given up.
_MOST_ENDS = 2
#: The most kernels in flight per process: one in work, and those that wait for a device.
_ON_THEIR_WAY = 3
#: Verdicts of the filter that say nothing about the kernel on a GPU.
_PASSED_ON = {Verdict.ACCEPTED, Verdict.COMPILE_ERROR, Verdict.INTERNAL_ERROR, Verdict.TIMING_NOT_TRUSTED}
#: How long a process may take to end once nobody asks anything of it.
_ENDING_S = 20.0


@dataclass
class _Task:
    """A kernel on its way. ``steps`` are what is left to do, the next one first.

    One that ``is_ahead`` stands for its challenge: nobody waits for a result.
    """

    kernel: Kernel
    steps: deque[_Step]
    ends: int = 0
    errors: int = 0
    is_ahead: bool = False


@dataclass(frozen=True)
class _Step:
    """``do`` is ``build``, ``judge`` or ``build null`` (a null kernel); ``target`` None is any GPU of the batch."""

    do: str
    mode: str
    target: Target | None
    is_screen: bool = False


class _Ended(Exception):
    """A worker process has ended."""


class _Process:
    """One worker process, started at its first request."""

    def __init__(self, settings: JudgeSettings, packs: tuple[str, ...]) -> None:
        self._first = json.dumps({"settings": settings.to_json(), "packs": packs})
        self._process: subprocess.Popen[str] | None = None

    def ask(self, request: dict[str, Any]) -> dict[str, Any]:
        """Returns the answer. Raises _Ended, after which the next request starts another process."""
        try:
            if self._process is None:
                self._start()
            return self._exchange(json.dumps(request))
        except (OSError, ValueError) as error:
            raise _Ended(self.close() or str(error)) from None

    def end(self) -> None:
        """Lets the process end, whatever it is doing. Another thread may wait for its answer."""
        if self._process is not None and self._process.stdin is not None:
            with contextlib.suppress(OSError):
                self._process.stdin.close()

    def close(self) -> str:
        """Ends the process. Returns how it had ended, in words; empty if it was running."""
        self.end()
        process, self._process = self._process, None
        if process is None:
            return ""
        assert process.stdout is not None
        try:
            code = process.wait(_ENDING_S)
        except subprocess.TimeoutExpired:
            process.kill()
            code = process.wait()
        process.stdout.close()
        return f"by signal {-code}" if code < 0 else f"with exit code {code}"

    def _start(self) -> None:
        command, environment = own_process("judge.batch.worker")
        # Ctrl-C is for the batch alone, which then closes the pipe.
        self._process = subprocess.Popen(
            [command[0], "-P", *command[1:]],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**environment, "OPENBLAS_NUM_THREADS": "1"},
            start_new_session=True,
        )
        self._exchange(self._first)

    def _exchange(self, line: str) -> dict[str, Any]:
        assert self._process is not None
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(line + "\n")
        self._process.stdin.flush()
        answer: dict[str, Any] = json.loads(self._process.stdout.readline())
        return answer


@dataclass
class _Queues:
    """The kernels that wait for processors and for GPUs; by a GPU's name, those whose null kernel it has not timed."""

    processors: deque[_Task] = field(default_factory=deque)
    devices: deque[_Task] = field(default_factory=deque)
    ahead: dict[str, deque[Kernel]] = field(default_factory=dict)


class Batch:
    """Judges kernels by a plan. ``results`` may be iterated over once; ``close`` ends all that is under way."""

    def __init__(self, plan: Plan, settings: JudgeSettings) -> None:
        self._plan = plan
        self._settings = settings
        self._changed = threading.Condition()
        self._queues = _Queues()
        self._results: queue.SimpleQueue[Result | BaseException | None] = queue.SimpleQueue()
        self._on_their_way = 0
        self._all_read = False
        self._closed = False
        self._gpus = [target for target in plan.targets if KINDS[target.device.kind].is_real]
        self._emulator = next((target for target in plan.targets if target not in self._gpus), None)
        self._is_timed = bool(self._gpus) and plan.mode != "check"
        #: The challenges, each in a language, whose null kernels were asked for.
        self._known: set[tuple[str, str | None]] = set()
        self._lost: dict[str, str] = {}
        self._queues.ahead.update((gpu.name, deque()) for gpu in self._gpus)
        self._processes: list[_Process] = []
        self._threads: list[threading.Thread] = []
        self._most = _ON_THEIR_WAY * (plan.jobs + plan.beside * len(self._gpus))

    def results(self, kernels: Iterable[Kernel | Result]) -> Iterator[Result]:
        """Yields the result of each kernel as soon as it is there. A Result among the kernels is passed on.

        Reads ahead of what is judged, but not far. Raises what reading ``kernels`` raises.
        """
        for _ in range(self._plan.jobs):
            self._lead(self._queues.processors, None)
        for target in self._gpus:
            for _ in range(self._plan.beside):
                self._lead(self._queues.devices, target)
        threading.Thread(target=self._read, args=(kernels,), name="batch-reader", daemon=True).start()
        while (result := self._results.get()) is not None:
            if isinstance(result, BaseException):
                raise result
            yield result

    def close(self) -> None:
        """Ends all processes. Idempotent."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        for process in self._processes:
            process.end()
        for thread in self._threads:
            thread.join()

    def _read(self, kernels: Iterable[Kernel | Result]) -> None:
        try:
            for each in kernels:
                with self._changed:
                    while self._on_their_way >= self._most and not self._closed:
                        self._changed.wait()
                    if self._closed:
                        return
                    if isinstance(each, Result):
                        self._results.put(each)
                        continue
                    self._on_their_way += 1
                    self._begin_ahead(each)
                    self._put(_Task(each, self._steps()))
        except BaseException as error:
            self._results.put(error)
            return
        with self._changed:
            self._all_read = True
            self._end_if_done()

    def _begin_ahead(self, kernel: Kernel) -> None:
        """Has the null kernel of a challenge built at its first kernel, so that GPUs can time it meanwhile."""
        key = kernel.challenge, kernel.language
        if self._is_timed and key not in self._known:
            self._known.add(key)
            self._put(_Task(kernel, deque([_Step("build null", self._plan.mode, self._gpus[0])]), is_ahead=True))

    def _steps(self) -> deque[_Step]:
        plan, steps = self._plan, deque[_Step]()
        if plan.screen is not None and self._gpus:
            steps.append(_Step("judge", "check", plan.screen, is_screen=True))
        if self._gpus:
            steps.append(_Step("build", plan.mode, self._gpus[0]))
            steps.append(_Step("judge", plan.mode, None))
        else:
            steps.append(_Step("judge", plan.mode, self._emulator))
        return steps

    def _put(self, task: _Task, *, first: bool = False) -> None:
        """Lets a task wait for its next step. Kernels that have begun come before those that have not."""
        waiting = self._queues.devices if task.steps[0].target is None else self._queues.processors
        (waiting.appendleft if first else waiting.append)(task)
        self._changed.notify_all()

    def _lead(self, waiting: deque[_Task], target: Target | None) -> None:
        process = _Process(self._settings, self._plan.packs)
        self._processes.append(process)
        thread = threading.Thread(target=self._work, args=(process, waiting, target), name="batch", daemon=True)
        self._threads.append(thread)
        thread.start()

    def _work(self, process: _Process, waiting: deque[_Task], target: Target | None) -> None:
        ahead = self._queues.ahead[target.name] if target else deque[Kernel]()
        while True:
            with self._changed:
                while not waiting and not ahead and not self._closed:
                    self._changed.wait()
                if self._closed:
                    break
                task = waiting.popleft() if waiting else None
                first = ahead.popleft() if task is None else None
            if target is not None and first is not None:
                self._time_null_kernel(process, first, target)
            elif task is not None and not self._do(process, task, target):
                break
        process.close()

    def _time_null_kernel(self, process: _Process, kernel: Kernel, target: Target) -> None:
        """Has a GPU time a null kernel. Whatever goes wrong shows in the results of kernels."""
        with contextlib.suppress(_Ended):
            process.ask(self._request("time null", self._plan.mode, target, kernel))

    def _do(self, process: _Process, task: _Task, target: Target | None) -> bool:
        """Makes the next step of a task. Returns False once the device can judge nothing any more."""
        step = task.steps[0]
        on = step.target or target
        assert on is not None
        request = self._request(step.do, step.mode, on, task.kernel)
        seed = request["seed"]
        try:
            answer = process.ask(request)
        except _Ended as ended:
            if self._closed:
                return False
            if task.is_ahead:
                return True
            task.ends += 1
            if task.ends < _MOST_ENDS:
                self._again(task)
            else:
                why = f"the process that judged it ended {ended}, {task.ends} times"
                self._finish(Result(task.kernel, on.name, Verdict.INTERNAL_ERROR, seed, problem=why))
            return True
        if task.is_ahead:
            with self._changed:
                for gpu in self._gpus:
                    self._queues.ahead[gpu.name].append(task.kernel)
                self._changed.notify_all()
            return True
        if "lost" in answer:
            self._lose(on, answer["lost"], task)
            return False
        if "unusable" in answer:
            self._finish(Result(task.kernel, problem=answer["unusable"]))
            return True
        judgement = answer.get("judgement")
        if judgement is not None and judgement["verdict"] == Verdict.INTERNAL_ERROR and step.target is None:
            # Perhaps the device's fault, which its next check tells.
            task.errors += 1
            if task.errors == 1:
                self._again(task)
                return True
        if judgement is None or (step.is_screen and not _refuses(judgement)):
            task.steps.popleft()
            with self._changed:
                self._put(task, first=True)
            return True
        verdict = Verdict(judgement["verdict"])
        self._finish(Result(task.kernel, on.name, verdict, seed, judgement, screened=step.is_screen))
        return True

    def _request(self, do: str, mode: str, target: Target, kernel: Kernel) -> dict[str, Any]:
        return {
            "do": do, "mode": mode, "device": plain(target.device), "challenge": kernel.challenge,
            "source": kernel.source.decode("utf-8", "surrogateescape"),
            "seed": self._plan.seed if kernel.seed is None else kernel.seed, "language": kernel.language,
        }  # fmt: skip

    def _again(self, task: _Task) -> None:
        with self._changed:
            self._put(task, first=True)

    def _lose(self, target: Target, problem: str, task: _Task) -> None:
        """Leaves a device out. Where it was the last one, the kernels that need one end with a problem."""
        with self._changed:
            is_news = target.name not in self._lost
            self._lost[target.name] = problem
            self._put(task, first=True)
            is_last = is_news and len(self._lost) == len(self._gpus)
        if is_last:
            threading.Thread(target=self._give_up, name="batch-without-device", daemon=True).start()

    def _give_up(self) -> None:
        why = "no device is left: " + "; ".join(f"{name}: {problem}" for name, problem in self._lost.items())
        while True:
            with self._changed:
                while not self._queues.devices and not self._closed:
                    self._changed.wait()
                if self._closed:
                    return
                task = self._queues.devices.popleft()
            self._finish(Result(task.kernel, "", Verdict.INTERNAL_ERROR, None, problem=why))

    def _finish(self, result: Result) -> None:
        with self._changed:
            self._on_their_way -= 1
            self._results.put(result)
            self._changed.notify_all()
            self._end_if_done()

    def _end_if_done(self) -> None:
        if self._all_read and not self._on_their_way:
            self._results.put(None)


def _refuses(judgement: dict[str, Any]) -> bool:
    """Returns whether the filter holds a kernel back: it failed, and not because of what the emulator lacks.

    What does not compile for the emulator may do so for a GPU, which the next step finds.
    """
    return Verdict(judgement["verdict"]) not in _PASSED_ON and is_of_the_program(judgement["message"])
