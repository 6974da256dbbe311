"""Reads a report of Nsight Compute by the tool itself, in a jail without a GPU: the file is not to be trusted."""

from __future__ import annotations

import contextlib

from judge.compile.compiler_jail import memory_file
from judge.gpu.nsight.tool import NoProfile, Nsight, report_command
from judge.sandbox.bind import Bind
from judge.sandbox.launch import run_to_end
from judge.sandbox.policy import MIB, Limits, Policy
from judge.settings import JudgeSettings
from records import dataclass

_WALL_S = 60.0
#: The most that is read of a page.
_PAGE_BYTES = 64 * MIB
_ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}  # noqa: S108 (the jail's own)


@dataclass(frozen=True, slots=True)
class ReportPages:
    """Two pages of a report as CSV: the metrics of each launch, and those of source lines, which may be empty."""

    raw: str
    source: str


def read_report(report: bytes, tool: Nsight, settings: JudgeSettings) -> ReportPages:
    """Returns the pages of a report. Raises NoProfile if it cannot be read."""
    raw = _page(report, tool, settings, "raw")
    if '"Kernel Name"' not in raw:
        said = next((line for line in raw.splitlines() if line.startswith("==ERROR==")), "")
        raise NoProfile(
            f"{tool.name} cannot read its report{': ' + said.removeprefix('==ERROR==').strip() if said else ''}",
            "run `ncu --version`; if it is older than the driver, install a newer Nsight Compute",
        )
    return ReportPages(raw, _page(report, tool, settings, "source"))


def _page(report: bytes, tool: Nsight, settings: JudgeSettings, page: str) -> str:
    limits = Limits(
        memory_bytes=4 << 30,
        processes=64,
        cpu_s=2 * _WALL_S,
        file_bytes=256 * MIB,
        tmpfs_bytes=512 * MIB,
    )
    policy = Policy(limits, (Bind.same(tool.folder),), env=_ENV, jail=settings.jail)
    with contextlib.ExitStack() as stack:
        # Without a jail as well: a file of this name in memory, since the tool goes by the suffix.
        given = memory_file(stack, "report", report)
        script = 'folder=$(mktemp -d) && cat "/proc/self/fd/$0" >"$folder/profile.ncu-rep" && "$@"; rm -rf "$folder"'
        command = report_command(tool, "REPORT", page)
        script = script.replace('"$@"', _quoted(command))
        done = run_to_end(
            policy, ["/bin/sh", "-c", script, str(given)], wall_s=_WALL_S, output_bytes=_PAGE_BYTES, pass_fds=[given]
        )
    if done.timed_out:
        raise NoProfile(f"{tool.name} took more than {_WALL_S:.0f} s to read its report")
    if done.truncated:
        raise NoProfile(f"the report says more than {_PAGE_BYTES >> 20} MiB: profile a case with fewer launches")
    return done.data.decode("utf-8", "replace")


def _quoted(command: list[str]) -> str:
    return " ".join('"$folder/profile.ncu-rep"' if part == "REPORT" else f"'{part}'" for part in command)
