"""Finds Nsight Compute (``ncu``) on this machine, and says what it needs there."""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from pathlib import Path

from records import dataclass

#: What to type where it is missing.
INSTALL = (
    "install Nsight Compute: the package cuda-nsight-compute of NVIDIA's repository, or the installer of "
    "https://developer.nvidia.com/nsight-compute; ncu must be on PATH"
)
#: What to type where the driver lets only administrators read the counters.
PERMIT = (
    "echo 'options nvidia NVreg_RestrictProfilingToAdminUsers=0' | sudo tee /etc/modprobe.d/gpujudge-profiling.conf, "
    "then reboot (of a container: on its host). CAP_SYS_ADMIN does not help: a jail has no rights of administrators"
)
#: How the tool names counters that it may not read.
DENIED = "ERR_NVGPUCTRPERM"
_ELSEWHERE = (
    "/opt/nvidia/nsight-compute/*/ncu",
    "/usr/local/NVIDIA-Nsight-Compute*/ncu",
    "/usr/local/cuda*/nsight-compute-*/ncu",
)
#: More launches of one call are not profiled: each is repeated some 40 times.
MOST_LAUNCHES = 24
_SECTIONS = (
    "SpeedOfLight",
    "ComputeWorkloadAnalysis",
    "MemoryWorkloadAnalysis",
    "MemoryWorkloadAnalysis_Chart",
    "MemoryWorkloadAnalysis_Tables",
    "SchedulerStats",
    "WarpStateStats",
    "InstructionStats",
    "LaunchStats",
    "Occupancy",
    "SourceCounters",
)
_VERSION = re.compile(r"Version\s+(\d+(?:\.\d+)+)")
#: A counter that every GPU has.
TRIED = "sm__cycles_elapsed.max"
#: Where the driver says whether only administrators may read counters.
_DRIVER_SETTINGS = Path("/proc/driver/nvidia/params")
_PATIENCE_S = 30.0


class NoProfile(Exception):
    """There is no profile; the message says why, ``remedy`` what the operator of the machine can do."""

    def __init__(self, message: str, remedy: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.remedy = remedy


@dataclass(frozen=True, slots=True)
class Nsight:
    """An installed Nsight Compute. A jail that is to run it shows ``folder``, in which its parts lie."""

    program: Path
    folder: Path
    version: str

    @property
    def name(self) -> str:
        """Its name and version, as a profile has them."""
        return f"Nsight Compute {self.version}" if self.version else "Nsight Compute"


def find_nsight() -> Nsight:
    """Returns the tool on PATH, or else the newest where its installers put it. Raises NoProfile."""
    on_path = shutil.which("ncu")
    # What a CUDA toolkit has on PATH only looks for the installations, which a jail would have to show as well.
    places = [on_path] if on_path and "cuda" not in str(Path(on_path).resolve()) else []
    places += sorted((path for pattern in _ELSEWHERE for path in glob.glob(pattern)), key=_numbers, reverse=True)  # noqa: PTH207
    usable = next((Path(place).resolve() for place in places if os.access(place, os.X_OK)), None)
    if usable is None:
        raise NoProfile("Nsight Compute (ncu) is not installed on this machine", INSTALL)
    return Nsight(usable, usable.parent, _version(usable))


def profile_command(tool: Nsight) -> list[str]:
    """Returns the command that profiles a runner's calls, to which that of the runner is added.

    Clocks stay as they are, since others use the GPU afterwards, and caches are emptied before each pass, as before a
    call that is timed.
    """
    options = ["--profile-from-start", "off", "--clock-control", "none", "--cache-control", "all"]
    options += ["--target-processes", "application-only", "--launch-count", str(MOST_LAUNCHES)]
    return [str(tool.program), *options, *(part for name in _SECTIONS for part in ("--section", name))]


def trial_command(tool: Nsight) -> list[str]:
    """Returns the command that tries to read a counter while the program runs that is added to it."""
    return [str(tool.program), "--clock-control", "none", "--launch-count", "1", "--metrics", TRIED]


def report_command(tool: Nsight, report: str, page: str) -> list[str]:
    """Returns the command that prints a page of the report in the file ``report`` as CSV: ``raw`` or ``source``."""
    views = ["--print-source", "cuda,sass"] if page == "source" else []
    return [str(tool.program), "--import", report, "--csv", "--page", page, "--print-units", "base", *views]


def only_administrators(settings: Path = _DRIVER_SETTINGS) -> bool:
    """Returns whether the driver lets only administrators read counters, as far as it says."""
    try:
        return "RmProfilingAdminOnly: 1" in settings.read_text("utf-8", "replace")
    except OSError:
        return False


def _version(program: Path) -> str:
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, timeout=_PATIENCE_S, check=False, errors="replace"
        )
    except (OSError, subprocess.TimeoutExpired):
        raise NoProfile(f"{program} does not start", INSTALL) from None
    found = _VERSION.search(done.stdout)
    return found[1] if found else ""


def _numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", path)]
