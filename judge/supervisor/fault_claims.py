"""Turns a runner's claims of faults and failed calls into the judgement's form, and into words."""

from __future__ import annotations

import bisect
import dataclasses
import re
from collections.abc import Sequence

from judge.compile.source_files import ONE_FILE, OwnLines, own_name
from judge.judgement import MemoryFault, RacingAccess
from judge.supervisor.error_explanations import explain_cuda
from judge.wire.messages import CallClaim, FaultClaim, PartyClaim, ReportClaim

#: The folder of the source in the compiler's jail, which appears in messages.
BUILD_FOLDER = "/tmp/"  # noqa: S108 (the jail's own)
#: Lanes of a warp store different values to one address by one instruction.
CONFLICTING = "conflicting stores"
OUT_OF_BOUNDS = ("out-of-bounds", "read after free")
UNDEFINED_SHUFFLE = "undefined shuffle"
#: Atomics, volatile or relaxed accesses read what another block, or lane of the warp, wrote: no races.
UNORDERED = ("access without a fence", "unordered blocks", "unordered lanes")
#: What explains a wrong answer, and needs no warning beside a right one.
NOTES = (UNDEFINED_SHUFFLE, CONFLICTING, "uninitialized local read", *UNORDERED)
_UNWRITTEN, _RACE_ON_SHARED = "uninitialized shared read", "race on shared memory"
_LAUNCHES = ("cudaLaunch", "__cudaLaunch")
#: No call instruction is longer.
_CALL_BYTES = 8


#: What a message of the emulator calls by names of CUDA that authors of Triton kernels do not use.
_WORDS_OF_TRITON = (("__syncthreads() or __syncwarp()", "tl.debug_barrier()"), ("cudaMalloc #", "scratch array #"))


def racing_reads(report: ReportClaim) -> tuple[FaultClaim, ...]:
    """Returns reads of shared memory which nothing has written yet, on lines that race with a write to it."""
    races = [claim for claim in report.faults if claim.kind == _RACE_ON_SHARED]
    lines = {(claim.file, claim.line) for claim in races}
    lines.update((claim.other.file, claim.other.line) for claim in races if claim.other is not None)
    return tuple(each for each in report.faults if each.kind == _UNWRITTEN and (each.file, each.line) in lines)


def in_terms_of_source(report: ReportClaim) -> ReportClaim:
    """Returns a report without what has another cause than it says, and with Triton's words for its code.

    Where a line reads shared memory too early (``racing_reads``), the race alone is told. Conflicting stores of Triton
    are left out: its compiler gives several lanes a copy of an element and lets each store its own, and sums of other
    orders differ in their last bits. The author has written one store of one value.
    """
    early = racing_reads(report)
    report = dataclasses.replace(report, faults=tuple(claim for claim in report.faults if claim not in early))
    if not any(claim.file.endswith(".py") for claim in report.faults):
        return report
    kept = (claim for claim in report.faults if not (claim.kind == CONFLICTING and claim.file.endswith(".py")))
    return dataclasses.replace(report, faults=tuple(map(_in_words_of_triton, kept)))


def _in_words_of_triton(claim: FaultClaim) -> FaultClaim:
    message = claim.message
    if claim.file.endswith(".py"):
        for cuda, triton in _WORDS_OF_TRITON:
            message = message.replace(cuda, triton)
    return dataclasses.replace(claim, message=message)


def describe(claim: FaultClaim) -> str:
    """Describes a fault in words."""
    if claim.message:
        return without_folder(claim.message)
    return f"{claim.kind} at {file_name(claim.file)}:{claim.line}" if claim.file else claim.kind


def describe_call(call: CallClaim, call_lines: Sequence[tuple[int, int]], own: OwnLines) -> str:
    """Returns which call failed, on which line, and why."""
    what = "a launch" if call.call.startswith(_LAUNCHES) else call.call
    line = _line_of_frames(call.frames, call_lines)
    place = f" at {own.name(line)}" if line else ""
    why = f"{call.name}: {without_folder(call.why)}" if call.why else explain_cuda(call.name, "")
    return f"{what}{place} failed with {why}"


def _line_of_frames(frames: Sequence[int], call_lines: Sequence[tuple[int, int]]) -> int | None:
    """Returns the line of the innermost frame that has one."""
    return next(filter(None, (_line_of(frame, call_lines) for frame in frames)), None)


def _line_of(offset: int, call_lines: Sequence[tuple[int, int]]) -> int | None:
    """Returns the line of the instruction that an offset lies in, before any other in the list."""
    index = bisect.bisect_right(call_lines, offset, key=lambda pair: pair[0]) - 1
    if index < 0 or offset - call_lines[index][0] >= _CALL_BYTES:
        return None
    return call_lines[index][1]


def without_folder(text: str) -> str:
    """Returns a message without the compiler jail's folder."""
    return text.replace(BUILD_FOLDER, "")


def file_name(path: str) -> str:
    """Returns a file's name in the source, or, of a header elsewhere, its path without the folders."""
    name = own_name(path)
    return name.rpartition("/")[2] if name.startswith("/") else name


def fault_of(claim: FaultClaim, call_lines: Sequence[tuple[int, int]] = (), own: OwnLines = ONE_FILE) -> MemoryFault:
    """Returns a fault as the judgement has it. ``call_lines`` tell where in the source the host takes part in it."""
    line = _line_of_frames(claim.frames, call_lines)
    message = without_folder(claim.message)
    other = None if claim.other is None else _racing_access(claim.other)
    if line and other is not None:
        place = own.name(line)
        message = re.sub(r"(?<=, which the host )(reads|writes)\b", rf"\1 at {place}", message, count=1)
        file, _, number = place.rpartition(":")
        other = dataclasses.replace(other, file=file, line=int(number))
    return MemoryFault(
        kind=claim.kind,
        message=message,
        kernel=claim.kernel or None,
        file=file_name(claim.file) or None,
        line=claim.line or None,
        thread=claim.thread,
        block=claim.block,
        other=other,
    )


def _racing_access(claim: PartyClaim) -> RacingAccess:
    return RacingAccess(file_name(claim.file) or None, claim.line or None, claim.thread, claim.block, claim.is_write)
