"""Starts a runner's process in its jail, with the files and devices it may see."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import judge
from judge.sandbox.bind import Bind
from judge.sandbox.launch import JailProcess, launch_with_parent
from judge.sandbox.policy import run_policy
from judge.settings import JudgeSettings
from judge.supervisor.runner_spec import RunnerSpec


class Launcher(Protocol):
    """Starts one runner. The calling thread must outlive the runner, since the jail dies with it."""

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        """Passes ``fds`` under their own numbers: channel, inputs, outputs, library. Raises InternalError."""


class JailLauncher:
    """Launches the runners of one device under these settings."""

    def __init__(self, spec: RunnerSpec, settings: JudgeSettings) -> None:
        paths = module_paths(settings.data_dir)
        binds = [*(Bind.same(path) for path in paths if not _shown_anyway(path)), *spec.binds]
        if spec.library is not None:
            binds.append(Bind.same(spec.library))
        self._policy = run_policy(
            settings.run,
            binds=binds,
            env={
                "PYTHONPATH": os.pathsep.join(str(path) for path in paths),
                "PYTHONHASHSEED": "0",
                # NumPy's OpenBLAS starts a thread a core when it is loaded, and interrupts the process if it may not.
                "OPENBLAS_NUM_THREADS": "1",
            },
            gpus=spec.gpu_minors,
            busy_threads=spec.busy_threads,
            jail=settings.jail,
        )

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        # No site (-S), no working directory (-P), no user packages: only what PYTHONPATH names.
        command = [sys.executable, "-P", "-S", "-s", "-B", "-m", "judge.runner.parent"]
        return launch_with_parent(self._policy, command, fds, stdout=output_fd, stderr=output_fd)


def module_paths(data_dir: Path) -> list[Path]:
    """Returns where this process finds modules, the folder of ``judge`` first; no working directory.

    An entry above that folder or the data folder (``PYTHONPATH=/srv``) is left out: a jail that showed it would show
    the trusted code, and no bind below it could be made. One that the jail shows anyway stays: the packages of an
    installed gpujudge are one of those there.
    """
    home = Path(judge.__file__).resolve().parent.parent
    paths = [home]
    for entry in sys.path:
        path = Path(entry)
        if not entry or not path.is_absolute() or not path.exists():
            continue
        found = path.resolve()
        above = home.is_relative_to(found) and not _shown_anyway(found)
        if found not in paths and not above and not data_dir.resolve().is_relative_to(found):
            paths.append(found)
    return paths


def _shown_anyway(path: Path) -> bool:
    """Returns whether the jail shows the path without a bind; of ``judge`` it shows only what the runner needs."""
    home = Path(judge.__file__).resolve().parent.parent
    roots = (Path("/usr"), Path(sys.prefix), Path(sys.base_prefix))
    return path == home or any(path.is_relative_to(root) for root in roots)
