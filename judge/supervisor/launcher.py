"""Starts a runner's process in its jail, with the files and devices it may see."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Protocol

from judge.sandbox.bind import Bind
from judge.sandbox.launch import JailProcess, launch_with_parent
from judge.sandbox.policy import Policy, run_policy
from judge.sandbox.python_paths import PYTHON_OPTIONS, is_shown_anyway, module_paths
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import RunnerSpec


class Launcher(Protocol):
    """Starts one runner. The calling thread must outlive the runner, since the jail dies with it."""

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        """Passes ``fds`` under their own numbers: channel, inputs, outputs, library. Raises InternalError."""


class JailLauncher:
    """Launches the runners of one device under these settings."""

    def __init__(self, spec: RunnerSpec, settings: JudgeSettings) -> None:
        self._policy = runner_policy(spec, settings)

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        command = [sys.executable, *PYTHON_OPTIONS, "-m", "judge.runner.parent"]
        return launch_with_parent(self._policy, command, fds, stdout=output_fd, stderr=output_fd)


def runner_policy(spec: RunnerSpec, settings: JudgeSettings) -> Policy:
    """Returns the jail of a device's runners."""
    paths = module_paths(settings.data_dir)
    binds = [*(Bind.same(path) for path in paths if not is_shown_anyway(path)), *spec.binds]
    if spec.library is not None:
        binds.append(Bind.same(spec.library))
    return run_policy(
        settings.run,
        binds=binds,
        env={
            "PYTHONPATH": os.pathsep.join(str(path) for path in paths),
            "PYTHONHASHSEED": "0",
            # NumPy's OpenBLAS starts a thread a core when it is loaded, and interrupts the process if it may not.
            "OPENBLAS_NUM_THREADS": "1",
            # PyTorch's, too, where that is imported.
            "OMP_NUM_THREADS": "1",
        },
        gpus=spec.gpu_minors,
        busy_threads=spec.busy_threads,
        jail=settings.jail,
    )
