"""Decides whether a GPU may get the next job.

A GPU that is faulty, or that another program uses, is taken out of service and tried again after some minutes. While it
is out of service, a file in the data folder says why, for ``gpujudge doctor``. Errors of a submission's own context are
no fault of the board: the driver reports them (``APPLICATION_XIDS``), and the context ends with its process.
"""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from judge.gpu.calibration import device_hash
from judge.gpu.nvml import GpuState, GpuWatch
from judge.judgement import DeviceInfo
from judge.settings import JudgeSettings

#: The Xids that user programs cause: a bad access or instruction (13), an MMU fault (31), a channel that was reset (43)
#: or torn down with its process (45).
APPLICATION_XIDS = frozenset({13, 31, 43, 45})
RETRY_S = 180.0
#: A disturbance that lasts longer than this takes the GPU out of service.
_SETTLE_S = 10.0
#: NVML reports the utilisation of the last second or so, which includes the last kernels of a job.
_UTILISATION_LAG_S = 2.0
_BUSY = 0.5
#: An upper bound on the memory of a waiting process' context.
_CONTEXT_BYTES = 1 << 30
_SLACK_BYTES = 256 << 20

#: Tries the GPU in a process of its own and returns what is wrong with it, or the empty string.
Trial = Callable[[], str]


class GpuHealth:
    """The health of one GPU, checked by its worker before each job.

    ``waiting`` is how many processes, with a context each, may wait on it for jobs.
    """

    def __init__(
        self,
        device: DeviceInfo,
        settings: JudgeSettings,
        watch: GpuWatch | None,
        trial: Trial,
        *,
        waiting: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._path = _path(settings, device)
        self._watch = watch
        self._trial = trial
        self._clock = clock
        used = self._sample().memory_used_bytes
        self._most_bytes = None if used is None else used + waiting * _CONTEXT_BYTES + _SLACK_BYTES
        self._job_ended_s = -_UTILISATION_LAG_S
        self._disturbed_since_s: float | None = None
        self._retry_s: float | None = None
        self._suspected = False
        #: Why the GPU is out of service; empty while it is in service.
        self.problem = ""
        self._path.unlink(missing_ok=True)

    @property
    def is_watched(self) -> bool:
        """Whether NVML reports on this GPU."""
        return self._watch is not None

    def fit(self, *, shared: bool = False) -> bool:
        """Returns whether the GPU may get a job now. Takes some seconds where the GPU is to be tried again.

        What others do on it does not matter to a job that shares it.
        """
        now_s = self._clock()
        if self.problem:
            return self._retry_s is not None and now_s >= self._retry_s and self._try_again()
        if self._suspected:
            self._suspected = False
            if wrong := self._trial():
                return self._take_out(wrong)
        state = self._sample()
        if fault := _fault(state):
            return self._take_out(fault)
        disturbance = "" if shared else self._disturbance(state, now_s)
        if not disturbance:
            self._disturbed_since_s = None
            return True
        if self._disturbed_since_s is None:
            self._disturbed_since_s = now_s
        if now_s - self._disturbed_since_s >= _SETTLE_S:
            self._take_out(disturbance)
        return False

    def job_ended(self, *, failed: bool) -> None:
        """Notes the end of a job. ``failed``: by the machine's fault, so the GPU is tried before the next one."""
        self._job_ended_s = self._clock()
        self._suspected = self._suspected or failed

    def close(self) -> None:
        if self._watch is not None:
            self._watch.close()

    def _sample(self) -> GpuState:
        return GpuState() if self._watch is None else self._watch.sample()

    def _disturbance(self, state: GpuState, now_s: float) -> str:
        if state.other_pids:
            return f"other programs use it (process {', '.join(map(str, state.other_pids))})"
        if self._most_bytes is not None and (state.memory_used_bytes or 0) > self._most_bytes:
            return f"{(state.memory_used_bytes or 0) / 2**30:.1f} GiB of its memory stay in use"
        rested = now_s - self._job_ended_s >= _UTILISATION_LAG_S
        if rested and (state.utilisation or 0.0) >= _BUSY:
            return "it stays busy with no job on it"
        return ""

    def _try_again(self) -> bool:
        state = self._sample()
        wrong = _fault(state) or self._disturbance(state, self._clock()) or self._trial()
        if wrong:
            return self._take_out(wrong)
        self.problem, self._retry_s, self._disturbed_since_s = "", None, None
        self._path.unlink(missing_ok=True)
        return True

    def _take_out(self, problem: str) -> bool:
        self.problem = problem
        self._retry_s = self._clock() + RETRY_S
        _write(self._path, {"problem": problem, "since": datetime.now(UTC).isoformat(timespec="seconds")})
        return False


def out_of_service(settings: JudgeSettings, device: DeviceInfo) -> str:
    """Returns why, and since when, a worker has the GPU out of service; empty if it is in service."""
    try:
        found = json.loads(_path(settings, device).read_text())
        return f"{found['problem']} (since {found['since']})"
    except (OSError, ValueError, KeyError, TypeError):
        return ""


def _fault(state: GpuState) -> str:
    faults = sorted(set(state.xids) - APPLICATION_XIDS)
    return f"the driver reported Xid {', '.join(map(str, faults))}" if faults else ""


def _path(settings: JudgeSettings, device: DeviceInfo) -> Path:
    return settings.data_dir / "health" / f"{device_hash(device)}.json"


def _write(path: Path, found: dict[str, str]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(prefix=".health.", dir=path.parent)
    with os.fdopen(handle, "w") as file:
        json.dump(found, file)
    Path(temporary).replace(path)
