"""Decides the verdict on a call from what happened. Pure functions, and the only place where this is decided.

The order matters: what stopped the kernel comes before what it computed, and the outputs decide whenever they exist.
"""

from __future__ import annotations

import functools
import re
import signal
from collections.abc import Callable, Sequence

from emulator.wording import CUDA, Wording
from judge.compile.source_files import MAIN, OwnLines, moves_lines, own_lines
from judge.errors import InternalError, KilledFromOutside
from judge.judgement import MemoryFault, Mismatch
from judge.supervisor.error_explanations import explain_cuda, explain_signal
from judge.supervisor.fault_claims import (
    NOTES,
    OUT_OF_BOUNDS,
    UNDEFINED_SHUFFLE,
    describe,
    describe_call,
    fault_of,
    in_terms_of_source,
    without_folder,
)
from judge.supervisor.likely_causes import in_order
from judge.supervisor.process import MOST_CODE_S, Ending
from judge.verdict import Verdict
from judge.wire.frames import Failure, Op
from judge.wire.last_word import FOUND, RUNNER_FAILED
from judge.wire.messages import (
    RAISED,
    FailedReply,
    FaultClaim,
    FetchReply,
    ReportClaim,
    RunReply,
)
from records import dataclass

#: Requests that come before the submission is there: what goes wrong with them is not a fault of it.
_BEFORE_LOADING = (Op.START, Op.RESERVE, Op.POOL)
#: How the emulator reports a fault of its own (emulator/runtime/modules.py); used for the message only.
_EMULATOR_FAULT = "a fault of the emulator itself"
#: What starting a thread throws in the jail, and the hint for its author; neither affects the verdict.
_NOT_PERMITTED = "Operation not permitted"
_THREADS = ": was a thread to be started? A submission starts none, as the user guide says"
_SMASHED = "*** stack smashing detected ***: terminated"
_DRIVER_LIBRARY = "libcuda.so.1"
#: The most characters passed on of what the runner found before the process ended.
_FOUND_CHARACTERS = 400
#: The message on a submission that prints many megabytes.
FLOODED = "it printed more than is allowed: more than 16 MiB in a case"
#: What these kinds of access begin with happens, too, where memory was to be allocated and was not.
_OF_NO_ALLOCATION = ("illegal", "out-of-bounds")
_UNINITIALIZED = "uninitialized"
#: Threads that wait for others that never come.
_STUCK = ("divergent barrier", "deadlock")
#: The loop in which a kernel was when its time was up.
_ENDLESS = "endless loop"
#: Errors that are no failures: they answer a question.
_ANSWERS = ("cudaErrorNotReady",)
#: Errors after which a CUDA context is unusable: every later call in the process fails.
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


class RunnerKilled(KilledFromOutside):
    """A runner was killed, and perhaps from outside: the call is to be made again in a fresh one.

    ``outcome`` is the verdict if that happens every time: a submission can send itself the signals that operators send.
    None when nothing inside the jail can have done it.
    """

    def __init__(self, message: str, outcome: Outcome | None) -> None:
        super().__init__(message, "who killed it? look for an OOM killer (dmesg) and for limits of the container")
        self.outcome = outcome


def outcome_of_ending(ending: Ending, limit_s: float, *, is_public: bool = False) -> Outcome:
    """Returns the verdict on a call whose runner ended during it; ``limit_s`` is the time limit of ``solve``.

    Of a public case, what the runner found before is told. A submission could print such a line itself, and so show the
    inputs of a hidden one.

    Raises InternalError if the runner ended before the submission was loaded, and so through no fault of it, or got no
    processor, and
    RunnerKilled if somebody outside may have ended it.
    """
    if ending.during in _BEFORE_LOADING:
        if ending.exit.perhaps_from_outside:
            raise RunnerKilled("the runner was killed before it had started", None)
        raise InternalError(f"the runner did not start: {_last_line(ending.output) or _how(ending)}", "gpujudge doctor")
    if ending.tampered:
        return _interference(ending.tampered)
    if ending.flooded:
        return Outcome(Verdict.OUTPUT_LIMIT_EXCEEDED, FLOODED)
    where = {
        Op.LOAD: "while it was loaded (in a static constructor)",
        Op.RUN: "in solve",
        Op.SOLVE: "in solve",
    }.get(ending.during, "after solve had returned")
    if ending.exit.jail_lost:
        raise RunnerKilled(f"the runner's jail was killed from outside {where}", None)
    if ending.timed_out and ending.starved:
        raise InternalError(f"the machine is too busy: the runner got hardly any processor time {where}", "")
    if ending.timed_out and ending.making_code:
        what = "the emulator made machine code of the kernels for more than"
        advice = "unroll less, or use smaller arrays in registers"
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"{what} {MOST_CODE_S:g} s {where}: {advice}")
    if ending.timed_out and ending.session_s is not None:
        message = f"its calls together took longer than the {ending.session_s:g} s that a process has for all of them"
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, message)
    if ending.timed_out:
        if ending.during in (Op.RUN, Op.SOLVE):
            return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"solve took longer than {limit_s:g} s")
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"the process hung {where}")
    if ending.exit.signal == signal.SIGSYS:
        what = "submissions start no program or process, open no socket and signal nobody"
        return Outcome(Verdict.SECURITY_VIOLATION, f"a forbidden system call {where}: {what}")
    if ending.exit.oom_killed:
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, f"the host memory allowed ran out {where}")
    if ending.exit.cpu_limited:
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, f"the CPU time allowed ran out {where}")
    crashed = Outcome(
        Verdict.RUNTIME_ERROR, _crash_message(ending, where) + (_found_before(ending) if is_public else "")
    )
    if ending.exit.perhaps_from_outside:
        raise RunnerKilled(f"the runner was {crashed.message}", crashed)
    return crashed


def _interference(what: str) -> Outcome:
    return Outcome(Verdict.SECURITY_VIOLATION, f"the submission interfered with the judge's channel: {what}")


def ends_device(ran: RunReply, fetched: FetchReply) -> bool:
    """Returns whether every later call in the process will fail, whatever it does.

    What the emulator does not support breaks its context, as an error that is sticky breaks a GPU's.
    """
    return ran.name in STICKY or bool(fetched.report and fetched.report.unsupported)


def outcome_of_refusal(reply: FailedReply, during: Op, calls: int) -> Outcome:
    """Returns the verdict on a request that the runner refused, in a process that was asked for ``calls`` calls.

    Device memory that is missing once the submission is loaded is its doing: the judge had reserved its own before.
    Raises InternalError if the machine is at fault.
    """
    if during is Op.START:
        raise InternalError(
            f"the device could not be brought up: {reply.name} {reply.message}".strip(), "gpujudge doctor"
        )
    if during in _BEFORE_LOADING and reply.failure == Failure.MEMORY:
        raise InternalError(f"the device has too little memory for this challenge's buffers: {reply.message}")
    if during in _BEFORE_LOADING:
        raise InternalError(f"the device could not reserve memory: {reply.name} {reply.message}".strip())
    if reply.failure in (Failure.DEVICE, Failure.JAIL):
        # Neither can happen after START was answered; a submission that claims it hopes to be retried.
        return _interference("it sent that the device or the jail could not be brought up")
    if reply.failure in (Failure.LOAD, Failure.SYMBOL):
        return Outcome(Verdict.RUNTIME_ERROR, f"the library could not be loaded: {_why_not_loaded(reply.message)}")
    if reply.failure == Failure.MEMORY and calls > 1:
        message = f"no device memory is left for call {calls}: does solve free what it allocates?"
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, message)
    if reply.failure == Failure.MEMORY:
        message = "no device memory is left for the first call: does something allocate before solve is called?"
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, message)
    if during is Op.PREPARE:
        return Outcome(Verdict.RUNTIME_ERROR, f"before the call: {explain_cuda(reply.name, reply.message)}")
    return Outcome(Verdict.RUNTIME_ERROR, explain_cuda(reply.name, reply.message))


def _why_not_loaded(message: str) -> str:
    """Explains a missing driver library, which submissions have on GPUs alone."""
    if _DRIVER_LIBRARY not in message:
        return message
    api = "the CUDA driver API (cu...), which submissions have on GPUs alone; use the runtime's (cuda...)"
    return f"it needs {_DRIVER_LIBRARY}, {api}"


def outcome_of_call(
    ran: RunReply,
    fetched: FetchReply,
    names: Sequence[str],
    limit_s: float,
    compare: Callable[[], Mismatch | None],
    *,
    reads_are_errors: bool = False,
    call_lines: Sequence[tuple[int, int]] = (),
    source: str = "",
    file_name: str = MAIN,
    wording: Wording = CUDA,
) -> Outcome:
    """Returns the verdict on a call that returned. ``compare`` checks the outputs; it is called only if they decide.

    ``names`` are the arguments of ``solve``, in order. With ``reads_are_errors``, reading outside the buffers is RE.
    ``call_lines`` are those of the artifact: they tell the lines of ``source`` with failed calls. ``file_name`` is what
    the source was compiled as. A fault of the emulator's own is RE as well: the report comes from a process that the
    submission shares, and a retry would end in the same fault.
    """
    report = in_terms_of_source(fetched.report or ReportClaim())
    own = own_lines(source, file_name)
    faults = tuple(fault_of(claim, call_lines, own) for claim in report.faults)
    told_of = functools.partial(describe_call, call_lines=call_lines, own=own)
    failed = [call for call in report.calls if call.name not in STICKY and call.name not in _ANSWERS]
    stopped = _outcome_if_stopped(ran, fetched, report, names, limit_s, wording)
    if stopped is not None:
        ignored = next((call for call in failed if not call.asked), None)
        before = ""
        if ignored is not None and report.faults and report.faults[0].kind.startswith(_OF_NO_ALLOCATION):
            before = f"; before that, {told_of(ignored)}"
        return Outcome(stopped.verdict, stopped.message + before, None, faults)
    read = next((claim for claim in report.faults if claim.kind.startswith(OUT_OF_BOUNDS)), None)
    if read is not None and reads_are_errors:
        return Outcome(Verdict.RUNTIME_ERROR, _described(read, wording), None, faults)
    mismatch = compare()
    if mismatch is None:
        ignored = next((call for call in failed if call.why and not call.asked), None)
        faults = tuple(
            fault for fault, claim in zip(faults, report.faults, strict=True) if not _is_harmless(claim, own, source)
        )
        note = "it reads outside its buffers" if read is not None else faults[0].message if faults else ""
        note = note or (told_of(ignored) if ignored is not None else "")
        return Outcome(Verdict.ACCEPTED, note, None, faults)
    if report.limit == "memory" or ran.name == "cudaErrorMemoryAllocation":
        message = explain_cuda("cudaErrorMemoryAllocation", "out of memory")
        refused = next((call for call in failed if call.name == "cudaErrorMemoryAllocation"), None)
        message = told_of(refused) if refused is not None else message
        return Outcome(Verdict.MEMORY_LIMIT_EXCEEDED, message, mismatch, faults)
    left = next((call for call in failed if call.name == ran.name), None)
    if left is not None:
        return Outcome(Verdict.RUNTIME_ERROR, told_of(left), mismatch, faults)
    if ran.code != 0:
        return Outcome(Verdict.RUNTIME_ERROR, explain_cuda(ran.name, without_folder(ran.message)), mismatch, faults)
    told = next((f"; {told_of(call)}" for call in failed if call.why), "")
    outside = [fault for fault in faults if fault.message and fault.kind.startswith(OUT_OF_BOUNDS)]
    if outside:
        told += f"; {in_order(outside)[0].message}{wording.bounds}"
    else:
        told += next((f"; {describe(claim)}" for claim in report.faults if claim.kind == UNDEFINED_SHUFFLE), "")
    return Outcome(Verdict.WRONG_ANSWER, mismatch.message + told, mismatch, faults)


def _is_harmless(claim: FaultClaim, own: OwnLines, source: str) -> bool:
    """Returns whether a right answer needs no warning of a fault, about which its author can do nothing.

    CUB, in headers of its own, copies whole structures, whose padding nobody wrote. A source that says by ``#line``
    where its lines are could pass its own for CUB's. Reductions in part of a warp read lanes that take no part, and do
    nothing with the value: it is large and follows from the seed, so that an answer that depends on it is wrong.
    """
    if claim.kind in NOTES:
        return True
    if not claim.kind.startswith(_UNINITIALIZED) or not claim.file or claim.file in own:
        return False
    return not moves_lines(source)


def _outcome_if_stopped(
    ran: RunReply, fetched: FetchReply, report: ReportClaim, names: Sequence[str], limit_s: float, wording: Wording
) -> Outcome | None:
    """Returns the outcome of a call that was stopped, whose outputs do not matter; None otherwise."""
    if report.unsupported.startswith(_EMULATOR_FAULT):
        what = f"{without_folder(report.unsupported)}. The program is not to blame: please report it, with the source"
        return Outcome(Verdict.RUNTIME_ERROR, what)
    if report.unsupported:
        return Outcome(Verdict.RUNTIME_ERROR, f"not supported by the emulator: {without_folder(report.unsupported)}")
    if report.limit == "instructions":
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, "the kernels executed more instructions than is allowed")
    if report.limit == "wall":
        loop = next((claim for claim in report.faults if claim.kind == _ENDLESS), None)
        what = f"a kernel ran for longer than {limit_s:g} s" if loop is None else describe(loop)
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, what)
    # The write of a race stays within its buffer, and so does one that a note is about.
    writes = (claim for claim in report.faults if claim.is_write and claim.other is None)
    written = next((claim for claim in writes if claim.kind not in NOTES), None)
    if written is not None:
        return Outcome(Verdict.RUNTIME_ERROR, _described(written, wording))
    if ran.name == "cudaErrorLaunchTimeout":
        stuck = [claim for claim in report.faults if claim.kind in _STUCK]
        what = describe(stuck[-1]) if stuck else explain_cuda(ran.name, without_folder(ran.message))
        return Outcome(Verdict.TIME_LIMIT_EXCEEDED, what)
    if ran.name in STICKY:
        what = explain_cuda(ran.name, without_folder(ran.message))
        if report.faults:
            what = _described(report.faults[0], wording)
        return Outcome(Verdict.RUNTIME_ERROR, what)
    if ran.name == RAISED:
        return Outcome(Verdict.RUNTIME_ERROR, f"solve raised an exception: {without_folder(ran.message)}")
    for name, flags in zip(names, fetched.damage, strict=True):
        if flags & 3:
            side = {1: "before its start", 2: "after its end", 3: "on both sides"}[flags & 3]
            return Outcome(Verdict.RUNTIME_ERROR, f"wrote outside its buffer {name}, {side}")
        if flags & 4:
            return Outcome(Verdict.RUNTIME_ERROR, f"changed its input {name}, which is only to be read")
    return None


def _described(claim: FaultClaim, wording: Wording) -> str:
    """Returns the fault in words, and the check that may keep an access within its buffer."""
    return describe(claim) + (wording.bounds if claim.kind.startswith(OUT_OF_BOUNDS) else "")


def _found_before(ending: Ending) -> str:
    """Returns the device's findings up to the moment when the submission ended the process."""
    found = ending.output.rpartition(f"\n{FOUND}")
    return f"; before this: {without_folder(found[2].partition(chr(10))[0])[:_FOUND_CHARACTERS]}" if found[1] else ""


def _crash_message(ending: Ending, where: str) -> str:
    if ending.exit.code == RUNNER_FAILED and not ending.exit.called_exit:
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
        if ending.output.rstrip().endswith(_SMASHED):
            return f"the host code wrote past the end of a local array (stack smashing detected) {where}"
    if ending.exit.stack_overflow:
        return f"the host stack overflowed {where}: a recursion that does not end, or a local array larger than it?"
    return f"{explain_signal(ending.exit.signal)} {where}"


def _how(ending: Ending) -> str:
    if ending.timed_out:
        return "it took too long"
    return f"exit code {ending.exit.code}, signal {ending.exit.signal}"


def _last_line(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[-1].strip()[:300] if lines else ""
