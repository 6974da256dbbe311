"""Asks a trusted process on the GPU whether the outputs of timed calls are right.

It compares every element with the pack's reference, which CuPy computes there in milliseconds where NumPy takes a
second for a part of them. Only its yes counts: whatever it finds wrong, or cannot compute, NumPy decides. So a
difference between the two libraries accuses nobody.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

from judge.bench.oracle.questions import READY, RIGHT, UNABLE, Begin, Question
from judge.packs.isolation.messages import BadAnswer, receive_answer, send
from judge.packs.pack import Pack

#: The module of the process: nobody imports it.
_SERVER = "judge.bench.oracle.server"
#: How long the process may take to come up, and to answer. Whoever does not answer is not asked again.
_START_S, _ANSWER_S = 20.0, 5.0
#: A GPU with less memory than this needs it for submissions.
LEAST_MEMORY_BYTES = 16 << 30


class Oracle:
    """The process for one pack on one GPU. Comes up in the background; the calling thread must outlive it.

    ``disabled`` is a file that says why the pack cannot be checked there; it is written when that is found out, so that
    nobody waits for it again.
    """

    def __init__(self, begin: Begin, disabled: Path) -> None:
        self._disabled = disabled
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._channel: socket.socket | None = None
        self._is_ready = False
        self._pack = begin.pack
        #: How many outputs were found right.
        self.answers = 0
        #: Why nothing is asked any more.
        self.problem = _read(disabled) or why_not(begin.pack)
        if not self.problem:
            self._start(begin)

    def agrees(self, question: Question) -> bool:
        """Returns whether all outputs are right. False says nothing. Safe with any number of threads."""
        with self._lock:
            channel = self._channel
            if channel is None:
                return False
            try:
                if not self._is_ready:
                    channel.settimeout(_START_S)
                    self._take(channel, READY)
                    self._is_ready = True
                channel.settimeout(_ANSWER_S)
                send(channel, question)
                right = self._take(channel, RIGHT)
            except (OSError, EOFError, BadAnswer) as error:
                self._give_up(f"it does not answer: {type(error).__name__}: {error}")
                return False
            except _UnableError as error:
                self._give_up(str(error))
                return False
            self.answers += right
            return right

    def close(self) -> None:
        """Ends the process. Idempotent."""
        channel, self._channel = self._channel, None
        if channel is not None:
            channel.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            self._process = None

    def _start(self, begin: Begin) -> None:
        self._channel, theirs = socket.socketpair()
        home = Path(__file__).resolve().parents[3]
        paths = [str(home), *(entry for entry in sys.path if entry and Path(entry).is_absolute())]
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join(paths),
            # It may write no file.
            "CUPY_CACHE_IN_MEMORY": "1",
            "CUDA_CACHE_DISABLE": "1",
        }
        try:
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-B", "-m", _SERVER, str(theirs.fileno())],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=environment,
                cwd="/", pass_fds=(theirs.fileno(),), start_new_session=True,
            )  # fmt: skip
            send(self._channel, begin)
        except OSError as error:
            self.problem = f"it does not start: {error}"
            self.close()
        finally:
            theirs.close()

    def _take(self, channel: socket.socket, wanted: str) -> bool:
        """Returns whether the next answer is the wanted one. Raises _UnableError, and what the channel raises."""
        answer: Any = receive_answer(channel)
        word, why = answer if isinstance(answer, tuple) and len(answer) == 2 else (UNABLE, "an answer that is none")
        if word == UNABLE:
            raise _UnableError(str(why)[:500])
        return bool(word == wanted)

    def _give_up(self, problem: str) -> None:
        self.problem = problem
        with contextlib.suppress(OSError):
            self._disabled.parent.mkdir(parents=True, exist_ok=True)
            self._disabled.write_text(problem)
        self.close()


class _UnableError(Exception):
    """What the process cannot do."""


def why_not(pack: Pack) -> str:
    """Returns why a pack's outputs cannot be checked on a GPU; empty if they may be."""
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
