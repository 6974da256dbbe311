"""Asks a trusted process on the GPU whether the outputs of timed calls are right.

It compares every element with the pack's reference, which CuPy computes there in milliseconds where NumPy takes a
second for a part of them. Only its yes counts: whatever it finds wrong, or cannot compute, NumPy decides. So a
difference between the two libraries accuses nobody.
"""

from __future__ import annotations

import contextlib
import threading
from pathlib import Path
from typing import Any

from judge.bench.oracle.process import OracleProcess, take_spare
from judge.bench.oracle.questions import READY, RIGHT, UNABLE, Begin, Question, Rest
from judge.packs.isolation.messages import BadAnswer, receive_answer, send
from judge.packs.pack import Pack

#: How long somebody waits for an answer before NumPy gives it, and for the process to come up. Whoever takes longer is
#: ended, since it would use the GPU while calls are timed; what it has compiled is kept.
ANSWER_S = _START_S = 3.0
#: A pack that was too slow so often in a row is not tried again.
_MOST_SLOW = 3
#: A GPU with less memory than this needs it for submissions.
LEAST_MEMORY_BYTES = 16 << 30


class Oracle:
    """The process for one pack on one GPU: the spare one, or one that comes up in the background.

    The calling thread must outlive it.

    What it cannot do, or not fast enough, is written to files of the pack's folder, so that nobody starts it again.
    """

    def __init__(self, begin: Begin, *, answer_s: float = ANSWER_S) -> None:
        self._answer_s = answer_s
        self._disabled, self._slow = begin.folder / "unable.txt", begin.folder / "slow.txt"
        self._lock = threading.Lock()
        self._process: OracleProcess | None = None
        self._is_ready = False
        self._asking = 0
        self._pack = begin.pack
        #: How many outputs were found right.
        self.answers = 0
        #: Why nothing is asked any more.
        self.problem = why_not(begin.pack) or _read(self._disabled)
        if not self.problem:
            self._start(begin)

    @property
    def is_up(self) -> bool:
        """Whether the process has come up, or failed to."""
        process = self._process
        return self._is_ready or (process is not None and process.has_answer())

    @property
    def is_busy(self) -> bool:
        """Whether somebody waits for an answer, for which the GPU works."""
        return self._asking > 0

    def settle(self, within_s: float = _START_S) -> None:
        """Returns once the process does not use the GPU: it is up, or it has been ended because it was not."""
        with self._lock:
            if self._process is not None and not self._is_ready:
                if self._process.has_answer(within_s):
                    self._become_ready(self._process)
                else:
                    self._end_slow("it does not come up in time")

    def agrees(self, question: Question) -> bool:
        """Returns whether all outputs are right. False says nothing. Safe with any number of threads."""
        self._asking += 1
        try:
            right = self._ask(question, RIGHT)
        finally:
            self._asking -= 1
        if right and not self.answers:
            self._slow.unlink(missing_ok=True)
        self.answers += right
        return right

    def rest(self) -> None:
        """Has the process free the device's memory until the next question."""
        self._ask(Rest(), READY)

    def _ask(self, message: Question | Rest, wanted: str) -> bool:
        with self._lock:
            process = self._process
            if process is not None and not self._is_ready and process.has_answer():
                self._become_ready(process)
            if process is None or not self._is_ready:
                return False
            try:
                process.channel.settimeout(self._answer_s)
                send(process.channel, message)
                if process.has_answer(self._answer_s):
                    return _take(process, wanted)
            except (OSError, EOFError, BadAnswer, _UnableError) as error:
                self._end(error)
                return False
            self._end_slow(f"an answer takes longer than {self._answer_s:g} s")
            return False

    def _become_ready(self, process: OracleProcess) -> None:
        try:
            process.channel.settimeout(self._answer_s)
            _take(process, READY)
            self._is_ready = True
        except (OSError, EOFError, BadAnswer, _UnableError) as error:
            self._end(error)

    def _end(self, error: Exception) -> None:
        """Ends the process for good if it said that it cannot do this, else for this time."""
        if isinstance(error, _UnableError):
            self.problem = str(error)
            self._write(self._disabled, self.problem)
        else:
            self.problem = f"it does not answer: {type(error).__name__}: {error}"
        self.close()

    def _end_slow(self, how: str) -> None:
        self.problem = how
        times = len(_read(self._slow)) + 1
        self._write(self._slow, "x" * times)
        if times >= _MOST_SLOW:
            self._write(self._disabled, how)
        self.close()

    @staticmethod
    def _write(path: Path, text: str) -> None:
        with contextlib.suppress(OSError):
            path.write_text(text)

    def close(self) -> None:
        """Ends the process. Idempotent."""
        process, self._process = self._process, None
        if process is not None:
            process.close()

    def _start(self, begin: Begin) -> None:
        try:
            begin.folder.mkdir(parents=True, exist_ok=True)
            self._process = take_spare(begin.ordinal) or OracleProcess(begin.ordinal, begin.folder)
            send(self._process.channel, begin)
        except OSError as error:
            self.problem = f"it does not start: {error}"
            self.close()


def _take(process: OracleProcess, wanted: str) -> bool:
    """Returns whether the next answer is the wanted one. Raises _UnableError, and what the channel raises."""
    answer: Any = receive_answer(process.channel)
    word, why = answer if isinstance(answer, tuple) and len(answer) == 2 else (UNABLE, "an answer that is none")
    if word == UNABLE:
        raise _UnableError(str(why)[:500])
    return bool(word == wanted)


class _UnableError(Exception):
    """The process cannot fulfill a request."""


def why_not(pack: Pack) -> str:
    """Returns why a pack's outputs cannot be checked on a GPU; empty if they may be."""
    if pack.confined:
        return "its code may not use a GPU"
    if pack.reference.defines("check"):
        return "its check decides, which is written for NumPy"
    if any(output.tolerance is not None and output.tolerance.kind == "auto" for output in pack.outputs):
        return "its tolerance is derived by NumPy"
    if any(output.tolerance is None for output in pack.outputs):
        return "one of its outputs has no tolerance"
    return ""


def _read(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:
        return ""
