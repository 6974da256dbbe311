"""From what happened to a verdict: pure functions, and the only place where that is decided.

The order matters: what stopped the kernel comes before what it computed, and the outputs decide whenever they exist.
"""

from __future__ import annotations

import dataclasses
import re
import signal
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from judge.errors import InternalError
from judge.judgement import MemoryFault, Mismatch, OtherSide
from judge.runner.frames import Failure, Op
from judge.runner.messages import (
    MAX_FAULTS,
    FailedReply,
    FaultClaim,
    FetchReply,
    PartyClaim,
    ReportClaim,
    RunReply,
)
from judge.supervisor.explanations import explain_cuda, explain_signal
from judge.supervisor.process import Ending
from judge.verdict import Verdict

#: The runner's own exit code when it cannot go on (``judge/runner/main.py``).
_RUNNER_FAILED = 70
#: Where the compiler's jail has the source: what line information and messages are full of.
_BUILD_FOLDER = "/tmp/"
#: How the emulator says that it is to blame (emulator/runtime/modules.py): looked at for what the user is told alone.
_EMULATOR_FAULT = "a fault of the emulator itself"
#: What a thread that the jail does not allow throws, and what its author is told: text that decides nothing.
_NOT_PERMITTED = "Operation not permitted"
_THREADS = ": was a thread to be started? A submission starts none, as the user guide says"
_DRIVER_LIBRARY = "libcuda.so.1"
_OUT_OF_BOUNDS = ("out-of-bounds", "read after free")
#: Errors after which a CUDA context is of no more use: every later call in the process fails.
STICKY = frozenset({
    "cudaErrorIllegalAddress", "cudaErrorLaunchTimeout", "cudaErrorAssert", "cudaErrorHardwareStackError",
    "cudaErrorIllegalInstruction", "cudaErrorMisalignedAddress", "cudaErrorInvalidAddressSpace", "cudaErrorInvalidPc",
    "cudaErrorLaunchFailure", "cudaErrorECCUncorrectable", "cudaErrorUnknown",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class Outcome:
    """The verdict on one call and why."""

    verdict: Verdict
    message: str = ""
    mismatch: Mismatch | None = None
    memory_errors: tuple[MemoryFault, ...] = ()


def outcome_of_ending(ending: Ending, limit_s: float) -> Outcome:
    """The verdict on a call whose runner did not survive it; ``limit_s`` is how long ``solve`` was waited for.

    Raises InternalError when it ended before the submission was loaded: then it cannot be the submission's fault.
    """
    if ending.during is Op.START:
        raise InternalError(f"the runner did not start: {_last_line(ending.output) or _how(ending)}", "gpujudge doctor")
    if ending.tampered:
        return _interference(ending.tampered)
    if ending.flooded:
        return Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, "it printed more than is allowed")
    where = {
        Op.LOAD: "while it was loaded (in a static constructor)", Op.RUN: "in solve", Op.SOLVE: "in solve",
    }.get(ending.during, "after solve had returned")  # fmt: skip
    if ending.timed_out:
        if ending.during in (Op.RUN, Op.SOLVE):
            return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"solve took longer than {limit_s:g} s")
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"the process hung {where}")
    if ending.exit.signal == signal.SIGSYS:
        what = "submissions start no program or process, open no socket and signal nobody"
        return Outcome(Verdict.SECURITY_VIOLATION, f"a forbidden system call {where}: {what}")
    if ending.exit.oom_killed:
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, f"the host memory allowed ran out {where}")
    return Outcome(Verdict.RUNTIME_ERROR, _how_it_crashed(ending, where))


def _interference(what: str) -> Outcome:
    return Outcome(Verdict.SECURITY_VIOLATION, f"the submission interfered with the judge's channel: {what}")


def outcome_of_refusal(reply: FailedReply, during: Op, calls: int, *, had_room: bool = False) -> Outcome:
    """The verdict on a request that the runner could not do, in a process that was asked for ``calls`` calls.
    ``had_room``: before a submission was loaded, the device had memory for what was asked for.

    Raises InternalError where that is the machine's fault.
    """
    if during is Op.START:
        raise InternalError(
            f"the device could not be brought up: {reply.name} {reply.message}".strip(), "gpujudge doctor"
        )
    if reply.failure in (Failure.DEVICE, Failure.JAIL):
        # Both are over when START is answered; a submission that says so hopes to be tried again.
        return _interference("it sent that the device or the jail could not be brought up")
    if reply.failure in (Failure.LOAD, Failure.SYMBOL):
        return Outcome(Verdict.RUNTIME_ERROR, f"the library could not be loaded: {_why_not_loaded(reply.message)}")
    if reply.failure == Failure.MEMORY and calls > 1:
        message = f"no device memory is left for call {calls}: does solve free what it allocates?"
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, message)
    if reply.failure == Failure.MEMORY and had_room:
        message = "no device memory is left for the first call: does something allocate before solve is called?"
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, message)
    if reply.failure == Failure.MEMORY:
        raise InternalError(f"the device has too little memory for this challenge's buffers: {reply.message}")
    if during is Op.PREPARE:
        return Outcome(Verdict.RUNTIME_ERROR, f"before the call: {explain_cuda(reply.name, reply.message)}")
    return Outcome(Verdict.RUNTIME_ERROR, explain_cuda(reply.name, reply.message))


def _why_not_loaded(message: str) -> str:
    """Where there is a GPU, there is its driver's library."""
    if _DRIVER_LIBRARY not in message:
        return message
    api = "the CUDA driver API (cu...), which the emulator has not; use the runtime's (cuda...)"
    return f"it needs {_DRIVER_LIBRARY}, {api}"


def outcome_of_call(
    ran: RunReply, fetched: FetchReply, names: Sequence[str], limit_s: float, compare: Callable[[], Mismatch | None],
    *, reads_are_errors: bool = False,
) -> Outcome:  # fmt: skip
    """The verdict on a call that came back with outputs. ``compare`` looks at them; it is called only if they decide.

    ``names`` are the arguments of ``solve``, in order. ``reads_are_errors``: one outside of the buffers is an RE.
    So is a fault of the emulator's own, which says so in words: they come out of a process that the submission shares,
    and a second try would end in the same fault.
    """
    report = fetched.report or ReportClaim()
    faults = tuple(_fault(claim) for claim in report.faults)
    stopped = _what_stopped_it(ran, fetched, report, names, limit_s)
    if stopped is not None:
        return Outcome(stopped.verdict, stopped.message, None, faults)
    read = next((claim for claim in report.faults if claim.kind.startswith(_OUT_OF_BOUNDS)), None)
    if read is not None and reads_are_errors:
        return Outcome(Verdict.RUNTIME_ERROR, _describe(read), None, faults)
    mismatch = compare()
    if mismatch is None:
        note = "it reads outside its buffers" if read is not None else _describe(report.faults[0]) if faults else ""
        return Outcome(Verdict.ACCEPTED, note, None, faults)
    if report.limit == "memory" or ran.name == "cudaErrorMemoryAllocation":
        message = explain_cuda("cudaErrorMemoryAllocation", "out of memory")
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, message, mismatch, faults)
    if ran.code != 0:
        return Outcome(Verdict.RUNTIME_ERROR, explain_cuda(ran.name, _shown(ran.message)), mismatch, faults)
    return Outcome(Verdict.WRONG_ANSWER, mismatch.message, mismatch, faults)


def with_checks(wrong: Outcome, fetched: FetchReply) -> Outcome:
    """A wrong answer with what the emulator found when it ran the case once more with every check: races, and reads of
    what nothing wrote. The gravest comes first in the message, since it is likely what made the answer wrong."""
    report = fetched.report or ReportClaim()
    known = {(fault.kind, fault.file, fault.line) for fault in wrong.memory_errors}
    found = [_fault(claim) for claim in report.faults]
    new = tuple(fault for fault in found if (fault.kind, fault.file, fault.line) not in known)
    if not new:
        return wrong
    gravest = next((fault for fault in new if fault.other is not None), new[0])
    message = f"{wrong.message}; {gravest.message}" if wrong.message else gravest.message
    return dataclasses.replace(wrong, message=message, memory_errors=(*wrong.memory_errors, *new)[:MAX_FAULTS])


def _what_stopped_it(
    ran: RunReply, fetched: FetchReply, report: ReportClaim, names: Sequence[str], limit_s: float
) -> Outcome | None:
    """What makes the outputs not worth looking at, if anything does."""
    if report.unsupported.startswith(_EMULATOR_FAULT):
        what = f"{_shown(report.unsupported)}. The program is not to blame: please report it, with the source"
        return Outcome(Verdict.RUNTIME_ERROR, what)
    if report.unsupported:
        return Outcome(Verdict.RUNTIME_ERROR, f"not supported by the emulator: {_shown(report.unsupported)}")
    if report.limit == "instructions":
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, "the kernels executed more instructions than is allowed")
    if report.limit == "wall":
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"a kernel ran for longer than {limit_s:g} s")
    written = next((claim for claim in report.faults if claim.is_write), None)
    if written is not None:
        return Outcome(Verdict.RUNTIME_ERROR, _describe(written))
    if ran.name == "cudaErrorLaunchTimeout":
        stuck = [claim for claim in report.faults if claim.kind == "divergent barrier"]
        what = _describe(stuck[-1]) if stuck else explain_cuda(ran.name, _shown(ran.message))
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, what)
    if ran.name in STICKY:
        what = _describe(report.faults[0]) if report.faults else explain_cuda(ran.name, _shown(ran.message))
        return Outcome(Verdict.RUNTIME_ERROR, what)
    for name, flags in zip(names, fetched.damage, strict=True):
        if flags & 3:
            side = {1: "before its start", 2: "after its end", 3: "on both sides"}[flags & 3]
            return Outcome(Verdict.RUNTIME_ERROR, f"wrote outside its buffer {name}, {side}")
        if flags & 4:
            return Outcome(Verdict.RUNTIME_ERROR, f"changed its input {name}, which is only to be read")
    return None


def _how_it_crashed(ending: Ending, where: str) -> str:
    if ending.exit.code == _RUNNER_FAILED:
        return f"the process could not go on {where}: were its descriptors closed or its memory overwritten?"
    if ending.exit.code is not None:
        who = {Op.LOAD: "a static constructor", Op.RUN: "solve", Op.SOLVE: "solve"}.get(ending.during, "the submission")
        return f"{who} ended the process with exit({ending.exit.code})"
    if ending.exit.signal is None:
        return f"the process stopped answering {where}"
    if ending.exit.signal == signal.SIGABRT:
        thrown = re.search(r"terminate called after throwing an instance of '([\w:<>, ]{1,80})'", ending.output)
        if thrown:
            hint = _THREADS if thrown.group(1) == "std::system_error" and _NOT_PERMITTED in ending.output else ""
            return f"an uncaught C++ exception of type {thrown.group(1)} {where}{hint}"
        if "terminate called" in ending.output:
            return f"an uncaught C++ exception {where}"
    return f"{explain_signal(ending.exit.signal)} {where}"


def _how(ending: Ending) -> str:
    if ending.timed_out:
        return "it took too long"
    return f"exit code {ending.exit.code}, signal {ending.exit.signal}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else ""


def _describe(claim: FaultClaim) -> str:
    if claim.message:
        return _shown(claim.message)
    return f"{claim.kind} at {_file_name(claim.file)}:{claim.line}" if claim.file else claim.kind


def _shown(text: str) -> str:
    """A message without the folder of the jail in which the file was compiled."""
    return text.replace(_BUILD_FOLDER, "")


def _file_name(path: str) -> str:
    """Without the folders of the jail that it was compiled in."""
    return path.rpartition("/")[2]


def _fault(claim: FaultClaim) -> MemoryFault:
    return MemoryFault(
        kind=claim.kind,
        message=_shown(claim.message),
        kernel=claim.kernel or None,
        file=_file_name(claim.file) or None,
        line=claim.line or None,
        thread=claim.thread,
        block=claim.block,
        other=None if claim.other is None else _other_side(claim.other),
    )


def _other_side(claim: PartyClaim) -> OtherSide:
    return OtherSide(_file_name(claim.file) or None, claim.line or None, claim.thread, claim.block, claim.is_write)
