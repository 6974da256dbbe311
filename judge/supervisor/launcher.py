"""Starts the runner's process in its jail: which files and devices it sees, and how it finds its modules."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import judge
from judge.judgement import DeviceInfo
from judge.sandbox.launch import JailProcess, launch
from judge.sandbox.policy import Bind, run_policy
from judge.settings import JudgeSettings


class Launcher(Protocol):
    """Starts one runner. The thread that calls it must outlive the runner: the jail dies with it."""

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        """``fds``: the channel, the inputs, the outputs, the library; their numbers stay. Raises InternalError."""


class JailLauncher:
    """The launcher for a device under these settings."""

    def __init__(
        self, device: DeviceInfo, settings: JudgeSettings, *, library: Path | None, extra_binds: Sequence[Bind] = ()
    ) -> None:
        gpus = [int(device.details.get("minor", device.details.get("ordinal", 0)))] if device.kind == "cuda" else None
        paths = module_paths()
        binds = [*(Bind.same(path) for path in paths if not _shown_anyway(path)), *extra_binds]
        if library is not None:
            binds.append(Bind.same(library))
        self._policy = run_policy(
            settings.run,
            binds=binds,
            env={
                "PYTHONPATH": os.pathsep.join(str(path) for path in paths),
                "PYTHONHASHSEED": "0",
                # NumPy's OpenBLAS starts a thread a core when it is loaded, and interrupts the process if it may not.
                "OPENBLAS_NUM_THREADS": "1",
            },
            gpus=gpus,
            jail=settings.jail,
        )

    def __call__(self, fds: Sequence[int], output_fd: int) -> JailProcess:
        # No site (-S), no working directory (-P), no user packages: only what PYTHONPATH names.
        command = [sys.executable, "-P", "-S", "-s", "-B", "-m", "judge.runner.main", *map(str, fds)]
        return launch(self._policy, command, pass_fds=fds, stdin=subprocess.DEVNULL, stdout=output_fd, stderr=output_fd)


def module_paths() -> list[Path]:
    """Where this process finds modules, the folder of ``judge`` first; only what exists, and no working directory."""
    home = Path(judge.__file__).resolve().parent.parent
    paths = [home]
    for entry in sys.path:
        path = Path(entry)
        if entry and path.is_absolute() and path.exists() and path.resolve() not in paths:
            paths.append(path.resolve())
    return paths


def _shown_anyway(path: Path) -> bool:
    """Whether the jail has it without asking; of the folder of ``judge`` it shows those packages only that it needs."""
    home = Path(judge.__file__).resolve().parent.parent
    roots = (Path("/usr"), Path(sys.prefix), Path(sys.base_prefix))
    return path == home or any(path.is_relative_to(root) for root in roots)
