"""Writes the report for programs: one JSON object (README, "As a tool of its own")."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from emulator.model import MODEL_VERSION, Gpu, group_launches, program_time
from emulator.runtime.report import Report
from emulator.standalone.problems import Problem, overruns_of, problems_of
from emulator.standalone.session import Outcome

FORMAT = 1


def report_plain(outcome: Outcome, *, command: Sequence[str], gpu: Gpu | None) -> dict[str, Any]:
    """Returns the report as plain data for ``json.dumps``."""
    return {
        "format": FORMAT,
        "command": list(command),
        "exit_code": outcome.exit_code,
        "signal": outcome.signal,
        "processes": [_process(report, gpu) for report in outcome.reports],
    }


def _process(report: Report, gpu: Gpu | None) -> dict[str, Any]:
    ending = report.ending
    return {
        "process": ending.process if ending else None,
        "program": ending.program if ending else None,
        "ended_regularly": bool(ending and ending.is_regular),
        "running_kernel": ending.kernel if ending else None,
        "problems": [_problem(problem) for problem in problems_of(report)],
        "notes": [asdict(overrun) | {"message": overrun.message} for overrun in overruns_of(report)],
        "findings": [asdict(finding) for finding in report.findings],
        "untold_sites": report.omitted_sites,
        "unchecked": list(report.unchecked),
        "call_error_count": report.call_error_count,
        "leak_count": report.leak_count,
        "leaked_bytes": report.leaked_bytes,
        "limit": report.limit,
        "unsupported": report.unsupported,
        "failure": report.failure,
        "warp_instructions": report.warp_instructions,
        "launch_count": report.launch_count,
        "launches": [asdict(launch) for launch in report.launches],
        "modelled": _modelled(report, gpu) if gpu else None,
    }


def _problem(problem: Problem) -> dict[str, Any]:
    location = problem.location
    return {
        "kind": problem.kind,
        "message": problem.message,
        "count": problem.count,
        "function": location.function if location else None,
        "file": location.file if location else None,
        "line": location.line if location else None,
    }


def _modelled(report: Report, gpu: Gpu) -> dict[str, Any]:
    time = program_time(group_launches(report.launches), gpu)
    return {
        "gpu": gpu.name,
        "model_version": MODEL_VERSION,
        "seconds": time.seconds,
        "limiter": time.limiter,
        "why": list(time.why),
        "kernels": [
            {
                "kernel": kernel.group.kernel,
                "grid": kernel.group.grid,
                "block": kernel.group.block,
                "launches": kernel.group.count,
                "seconds": kernel.seconds,
                "limiter": kernel.each.limiter,
                "parts": dict(kernel.each.parts),
                "occupancy": kernel.each.occupancy,
            }
            for kernel in time.kernels
        ],
    }
