import dataclasses
import signal

import pytest

from judge.errors import InternalError
from judge.judgement import Mismatch, RacingAccess
from judge.sandbox.launch import JailExit
from judge.supervisor.process import Ending
from judge.supervisor.second_look import with_checks
from judge.supervisor.verdict_rules import (
    Outcome,
    RunnerKilled,
    ends_device,
    outcome_of_call,
    outcome_of_ending,
    outcome_of_refusal,
)
from judge.verdict import Verdict
from judge.wire.frames import Failure, Op
from judge.wire.messages import CallClaim, FailedReply, FaultClaim, FetchReply, PartyClaim, ReportClaim, RunReply

NAMES = ["input", "output", "N"]
FINE = RunReply(1e-3, 0, "", "")
CLEAN = FetchReply((0, 0, 0), None)
WRONG = Mismatch("output", ((0,),), (1.0,), (2.0,), 1, 1, 1.0, 1.0, "output[0] is 2.0, expected 1.0")
WRITE = FaultClaim(
    "out-of-bounds write",
    True,
    "a write at /tmp/kernel.cu:7 behind output",
    "k",
    "/tmp/kernel.cu",
    7,
    (1, 0, 0),
    (0, 0, 0),
)
READ = FaultClaim("out-of-bounds read", False, "4 bytes behind input", "k", "kernel.cu", 6, (1, 0, 0), (0, 0, 0))


def _ending(during: Op = Op.RUN, *, code: int | None = None, by: int | None = None, oom: bool = False,
            tampered: str = "", flooded: bool = False, timed_out: bool = False,
            output: str = "") -> Ending:  # fmt: skip
    killed = code is None and by is None
    return Ending(during, tampered, flooded, timed_out, JailExit(code, by, 1.0, 1.0, 1, oom, killed), output)


def _call(
    ran: RunReply = FINE, fetched: FetchReply = CLEAN, mismatch: Mismatch | None = None, source: str = ""
) -> Outcome:
    return outcome_of_call(ran, fetched, NAMES, 2.0, lambda: mismatch, call_lines=((0x40, 7), (0x60, 9)), source=source)


REFUSED = RunReply(1e-3, 1, "cudaErrorInvalidValue", "invalid argument")
LAUNCH = CallClaim("cudaLaunchKernel", "cudaErrorInvalidValue", "100000 bytes of dynamic shared memory", False, (0x44,))
MALLOC = CallClaim("cudaMalloc", "cudaErrorMemoryAllocation", "it was asked for 9 bytes", False, (0x9999, 0x64))
NULL = dataclasses.replace(WRITE, kind="illegal write", message="a write through a null pointer")


@pytest.mark.parametrize(
    ("ran", "report", "mismatch", "verdict", "message"),
    [
        (
            REFUSED,
            ReportClaim(calls=(LAUNCH,)),
            WRONG,
            Verdict.RUNTIME_ERROR,
            "a launch at kernel.cu:7 failed with cudaErrorInvalidValue: 100000 bytes of dynamic shared memory",
        ),
        (
            RunReply(1e-3, 700, "cudaErrorIllegalAddress", "illegal"),
            ReportClaim(faults=(NULL,), calls=(MALLOC,)),
            None,
            Verdict.RUNTIME_ERROR,
            "a write through a null pointer; before that, cudaMalloc at kernel.cu:9 failed with "
            "cudaErrorMemoryAllocation: it was asked for 9 bytes",
        ),
        (
            FINE,
            ReportClaim(limit="memory", calls=(MALLOC,)),
            WRONG,
            Verdict.MEMORY_LIMIT_EXCEEDED,
            "cudaMalloc at kernel.cu:9 failed with cudaErrorMemoryAllocation: it was asked for 9 bytes",
        ),
        (
            FINE,
            ReportClaim(calls=(dataclasses.replace(LAUNCH, asked=True),)),
            WRONG,
            Verdict.WRONG_ANSWER,
            "output[0] is 2.0, expected 1.0; a launch at kernel.cu:7 failed with cudaErrorInvalidValue: "
            "100000 bytes of dynamic shared memory",
        ),
        (
            FINE,
            ReportClaim(calls=(MALLOC,)),
            None,
            Verdict.ACCEPTED,
            "cudaMalloc at kernel.cu:9 failed with cudaErrorMemoryAllocation: it was asked for 9 bytes",
        ),
        (FINE, ReportClaim(calls=(dataclasses.replace(MALLOC, asked=True),)), None, Verdict.ACCEPTED, ""),
        (FINE, ReportClaim(calls=(CallClaim("cudaEventQuery", "cudaErrorNotReady"),)), None, Verdict.ACCEPTED, ""),
        (
            REFUSED,
            ReportClaim(calls=(dataclasses.replace(LAUNCH, why="", frames=(0x20, 0x58)),)),
            WRONG,
            Verdict.RUNTIME_ERROR,
            "a launch failed with cudaErrorInvalidValue (an argument of a CUDA call or launch was out of range: "
            "look at its sizes and offsets)",
        ),
    ],
)
def test_a_failed_call_is_told_with_its_line(
    ran: RunReply, report: ReportClaim, mismatch: Mismatch | None, verdict: Verdict, message: str
) -> None:
    outcome = _call(ran, FetchReply((0, 0, 0), report), mismatch)
    assert (outcome.verdict, outcome.message) == (verdict, message)


@pytest.mark.parametrize(
    ("ending", "verdict", "words"),
    [
        (_ending(code=0), Verdict.RUNTIME_ERROR, "solve ended the process with exit(0)"),
        (_ending(Op.LOAD, code=3), Verdict.RUNTIME_ERROR, "a static constructor ended the process with exit(3)"),
        (_ending(by=signal.SIGSEGV), Verdict.RUNTIME_ERROR, "SIGSEGV"),
        (_ending(by=signal.SIGSEGV), Verdict.RUNTIME_ERROR, "is a device pointer dereferenced there"),
        (_ending(by=signal.SIGABRT), Verdict.RUNTIME_ERROR, "abort()"),
        (_ending(by=signal.SIGSYS), Verdict.SECURITY_VIOLATION, "system call"),
        (_ending(code=159), Verdict.RUNTIME_ERROR, "solve ended the process with exit(159)"),
        (_ending(by=signal.SIGKILL, oom=True), Verdict.MEMORY_LIMIT_EXCEEDED, "host memory"),
        (_ending(oom=True), Verdict.MEMORY_LIMIT_EXCEEDED, "host memory"),
        (_ending(timed_out=True), Verdict.TIME_LIMIT_EXCEEDED, "longer than 2 s"),
        (_ending(Op.FETCH, timed_out=True), Verdict.TIME_LIMIT_EXCEEDED, "hung after solve had returned"),
        (_ending(Op.LOAD, timed_out=True), Verdict.TIME_LIMIT_EXCEEDED, "static constructor"),
        (_ending(flooded=True), Verdict.OUTPUT_LIMIT_EXCEEDED, "printed more"),
        (_ending(tampered="it sent not a frame"), Verdict.SECURITY_VIOLATION, "channel"),
        (_ending(code=70), Verdict.RUNTIME_ERROR, "could not go on"),
        (_ending(), Verdict.RUNTIME_ERROR, "stopped answering"),
        (
            _ending(by=signal.SIGABRT, output="terminate called after throwing an instance of 'std::bad_alloc'\n"),
            Verdict.RUNTIME_ERROR,
            "uncaught C++ exception of type std::bad_alloc",
        ),
    ],
)
def test_endings_and_their_verdicts(ending: Ending, verdict: Verdict, words: str) -> None:
    outcome = outcome_of_ending(ending, 2.0)
    assert outcome.verdict is verdict
    assert words in outcome.message


def test_what_an_exception_says_is_not_repeated_since_it_may_hold_hidden_inputs() -> None:
    output = "terminate called after throwing an instance of 'std::runtime_error'\n  what():  0.123456\n"
    assert "0.123456" not in outcome_of_ending(_ending(by=signal.SIGABRT, output=output), 2.0).message


@pytest.mark.parametrize(
    ("file", "mismatch", "told"),
    [("/cuda/include/cub/merge.cuh", None, 0), ("/tmp/kernel.cu", None, 1), ("/cuda/include/cub/merge.cuh", WRONG, 1)],
)
def test_a_right_answer_has_no_warning_of_what_a_header_reads_and_leaves(
    file: str, mismatch: Mismatch | None, told: int
) -> None:
    read = dataclasses.replace(READ, kind="uninitialized shared read", file=file)
    outcome = _call(FINE, FetchReply((0, 0, 0), ReportClaim(faults=(read,))), mismatch)
    assert len(outcome.memory_errors) == told


HEADER = "// gpujudge: file=inc/tile.cuh\n"


@pytest.mark.parametrize(
    ("file", "source"),
    [
        ("/tmp/inc/tile.cuh", f'#include "inc/tile.cuh"\n{HEADER}'),
        ("/cuda/include/cub/merge.cuh", '#line 1 "/cuda/include/cub/merge.cuh"\n'),
        ("/cuda/include/cub/merge.cuh", '#\\\n line 1 "/cuda/include/cub/merge.cuh"\n'),
    ],
)
def test_a_warning_is_not_hidden_by_a_header_of_ones_own_or_by_a_line_directive(file: str, source: str) -> None:
    read = dataclasses.replace(READ, kind="uninitialized shared read", file=file)
    outcome = _call(FINE, FetchReply((0, 0, 0), ReportClaim(faults=(read,))), None, source=source)
    (fault,) = outcome.memory_errors
    assert fault.file == ("inc/tile.cuh" if HEADER in source else "merge.cuh")


def test_what_was_found_before_is_told_of_public_cases() -> None:
    ending = _ending(code=1, output="one\n\ngpujudge: before this: a write past the end at /tmp/kernel.cu:7\ntwo\n")
    message = "solve ended the process with exit(1)"
    assert outcome_of_ending(ending, 2.0).message == message
    told = outcome_of_ending(ending, 2.0, is_public=True).message
    assert told == f"{message}; before this: a write past the end at kernel.cu:7"


@pytest.mark.parametrize(
    ("thrown", "what", "hinted"),
    [
        ("std::system_error", "Operation not permitted", True),
        ("std::system_error", "Resource deadlock avoided", False),
        ("std::runtime_error", "Operation not permitted", False),
    ],
)
def test_starting_a_thread_gets_a_hint(thrown: str, what: str, hinted: bool) -> None:
    output = f"terminate called after throwing an instance of '{thrown}'\n  what():  {what}\n"
    outcome = outcome_of_ending(_ending(by=signal.SIGABRT, output=output), 2.0)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert outcome.message.startswith(f"an uncaught C++ exception of type {thrown} in solve")
    assert ("A submission starts none" in outcome.message) is hinted


def test_the_limit_of_a_session_is_told_as_that() -> None:
    ending = dataclasses.replace(_ending(Op.SOLVE, timed_out=True), session_s=300.0)
    outcome = outcome_of_ending(ending, 2.0)
    assert outcome.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert "300 s" in outcome.message
    assert "solve took longer" not in outcome.message


def test_a_runner_that_ends_before_loading_is_an_internal_error() -> None:
    with pytest.raises(InternalError, match="No module named numpy"):
        outcome_of_ending(_ending(Op.START, code=1, output="Traceback\nNo module named numpy\n"), 2.0)


@pytest.mark.parametrize(
    ("failure", "during"),
    [
        (Failure.DEVICE, Op.START),
        (Failure.JAIL, Op.START),
        (Failure.MEMORY, Op.RESERVE),
        (Failure.CUDA, Op.POOL),
    ],
)
def test_refusals_that_are_the_machines_fault(failure: Failure, during: Op) -> None:
    with pytest.raises(InternalError):
        outcome_of_refusal(FailedReply(failure, 2, "cudaErrorMemoryAllocation", "out of memory"), during, 1)


@pytest.mark.parametrize("failure", [Failure.DEVICE, Failure.JAIL])
@pytest.mark.parametrize("during", [Op.LOAD, Op.PREPARE, Op.RUN, Op.FETCH])
def test_a_submission_cannot_blame_the_machine(failure: Failure, during: Op) -> None:
    outcome = outcome_of_refusal(FailedReply(failure, 0, "", "no GPU is there"), during, 1)
    assert outcome.verdict is Verdict.SECURITY_VIOLATION
    assert "no GPU" not in outcome.message


def test_refusals_that_are_the_submissions() -> None:
    reply = FailedReply(Failure.MEMORY, 2, "cudaErrorMemoryAllocation", "…")
    taken = outcome_of_refusal(reply, Op.PREPARE, 1)
    assert (taken.verdict, "before solve is called" in taken.message) == (Verdict.MEMORY_LIMIT_EXCEEDED, True)
    leaked = outcome_of_refusal(FailedReply(Failure.MEMORY, 2, "cudaErrorMemoryAllocation", "…"), Op.PREPARE, 3)
    assert (leaked.verdict, "call 3" in leaked.message) == (Verdict.MEMORY_LIMIT_EXCEEDED, True)
    loading = outcome_of_refusal(FailedReply(Failure.LOAD, 0, "", "undefined symbol: foo"), Op.LOAD, 0)
    assert (loading.verdict, "undefined symbol: foo" in loading.message) == (Verdict.RUNTIME_ERROR, True)
    missing = "libcuda.so.1: cannot open shared object file: No such file or directory"
    driver = outcome_of_refusal(FailedReply(Failure.LOAD, 0, "", missing), Op.LOAD, 0)
    assert (driver.verdict, "the CUDA driver API" in driver.message) == (Verdict.RUNTIME_ERROR, True)
    broken = outcome_of_refusal(FailedReply(Failure.CUDA, 700, "cudaErrorIllegalAddress", "…"), Op.FETCH, 1)
    assert (broken.verdict, "cudaErrorIllegalAddress" in broken.message) == (Verdict.RUNTIME_ERROR, True)


def test_right_and_wrong_outputs() -> None:
    assert _call() == Outcome(Verdict.ACCEPTED)
    wrong = _call(mismatch=WRONG)
    assert (wrong.verdict, wrong.message, wrong.mismatch) == (Verdict.WRONG_ANSWER, WRONG.message, WRONG)


@pytest.mark.parametrize(("flags", "side"), [(1, "before its start"), (2, "after its end"), (3, "on both sides")])
def test_writes_outside_a_buffer_name_it_and_the_side(flags: int, side: str) -> None:
    outcome = _call(fetched=FetchReply((0, flags, 0), None))
    assert (outcome.verdict, outcome.message) == (Verdict.RUNTIME_ERROR, f"wrote outside its buffer output, {side}")


def test_an_input_that_was_changed_is_named() -> None:
    outcome = _call(fetched=FetchReply((4, 0, 0), None))
    assert (outcome.verdict, "changed its input input" in outcome.message) == (Verdict.RUNTIME_ERROR, True)


def test_a_sticky_error_is_a_runtime_error_whatever_the_outputs_hold() -> None:
    ran = RunReply(-1.0, 700, "cudaErrorIllegalAddress", "an illegal memory access was encountered")
    outcome = _call(ran)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert outcome.message.startswith("cudaErrorIllegalAddress: an illegal memory access")


@pytest.mark.parametrize(
    ("name", "mismatch", "verdict"),
    [
        ("cudaErrorInvalidConfiguration", WRONG, Verdict.RUNTIME_ERROR),
        ("cudaErrorInvalidConfiguration", None, Verdict.ACCEPTED),
        ("cudaErrorMemoryAllocation", WRONG, Verdict.MEMORY_LIMIT_EXCEEDED),
        ("cudaErrorMemoryAllocation", None, Verdict.ACCEPTED),
    ],
)
def test_an_error_that_passes_matters_only_if_the_outputs_are_wrong(
    name: str, mismatch: Mismatch | None, verdict: Verdict
) -> None:
    assert _call(RunReply(-1.0, 9, name, "…"), mismatch=mismatch).verdict is verdict


@pytest.mark.parametrize(
    ("name", "report", "ends"),
    [
        ("cudaSuccess", None, False),
        ("cudaErrorIllegalAddress", None, True),
        # A GPU says this of one call, and goes on.
        ("cudaErrorNotSupported", None, False),
        ("cudaErrorNotSupported", ReportClaim(unsupported="vadd4, kernel.cu:3"), True),
        ("cudaSuccess", ReportClaim(faults=(READ,), fault_count=1), False),
    ],
)
def test_what_leaves_the_device_unusable(name: str, report: ReportClaim | None, ends: bool) -> None:
    assert ends_device(RunReply(0.0, 1, name, ""), FetchReply((0,), report)) == ends


@pytest.mark.parametrize(
    ("report", "mismatch", "verdict", "words"),
    [
        (ReportClaim(faults=(WRITE,), fault_count=1), None, Verdict.RUNTIME_ERROR, "a write at kernel.cu:7"),
        (ReportClaim(faults=(READ,), fault_count=1), None, Verdict.ACCEPTED, "reads outside"),
        (ReportClaim(faults=(READ,), fault_count=1), WRONG, Verdict.WRONG_ANSWER, "output[0]"),
        (ReportClaim(faults=(READ, WRITE), fault_count=2), WRONG, Verdict.RUNTIME_ERROR, "behind output"),
        (ReportClaim(limit="wall"), None, Verdict.TIME_LIMIT_EXCEEDED, "longer than"),
        (ReportClaim(limit="instructions"), None, Verdict.TIME_LIMIT_EXCEEDED, "instructions"),
        (ReportClaim(limit="memory"), WRONG, Verdict.MEMORY_LIMIT_EXCEEDED, "memory"),
        (ReportClaim(limit="memory"), None, Verdict.ACCEPTED, ""),
        (
            ReportClaim(unsupported="wgmma, kernel.cu:3"),
            None,
            Verdict.RUNTIME_ERROR,
            "not supported by the emulator: wgmma",
        ),
    ],
)
def test_the_emulators_report(report: ReportClaim, mismatch: Mismatch | None, verdict: Verdict, words: str) -> None:
    outcome = _call(fetched=FetchReply((0, 0, 0), report), mismatch=mismatch)
    assert outcome.verdict is verdict
    assert words in outcome.message
    assert len(outcome.memory_errors) == len(report.faults)


EMULATORS = "a fault of the emulator itself: KeyError: 1"


def test_a_fault_of_the_emulator_is_reported_as_one() -> None:
    ran = RunReply(-1.0, 801, "cudaErrorNotSupported", f"k cannot be run: {EMULATORS}")
    outcome = _call(ran, FetchReply((0, 0, 0), ReportClaim(unsupported=EMULATORS)), WRONG)
    assert outcome.verdict is Verdict.RUNTIME_ERROR
    assert outcome.message == f"{EMULATORS}. The program is not to blame: please report it, with the source"


@pytest.mark.parametrize("code", [0, 1, 710, 999])
@pytest.mark.parametrize(
    "message", [EMULATORS, f'k.cu:1: Assertion `"{EMULATORS}"` failed', f"trap in k at {EMULATORS}:5"]
)
def test_no_message_makes_an_internal_error(code: int, message: str) -> None:
    """They are the submission's to choose: an internal error would be tried again."""
    name = {710: "cudaErrorAssert", 999: "cudaErrorUnknown"}.get(code, "")
    for report in (None, ReportClaim(unsupported=message), ReportClaim(limit=message)):
        outcome = _call(RunReply(-1.0, code, name, message), FetchReply((0, 0, 0), report), WRONG)
        assert outcome.verdict in (Verdict.RUNTIME_ERROR, Verdict.WRONG_ANSWER)


def test_a_deadlock_tells_who_waits_where() -> None:
    story = "divergent barrier at /tmp/kernel.cu:3: it waits for ever"
    stuck = FaultClaim("divergent barrier", False, story, "k", "/tmp/kernel.cu", 3, (0, 0, 0), (0, 0, 0))
    ran = RunReply(-1.0, 702, "cudaErrorLaunchTimeout", "…")
    outcome = _call(ran, FetchReply((0, 0, 0), ReportClaim(faults=(READ, stuck), fault_count=2)), WRONG)
    assert outcome.verdict is Verdict.TIME_LIMIT_EXCEEDED
    assert outcome.message == "divergent barrier at kernel.cu:3: it waits for ever"


def test_an_undefined_shuffle_is_told_only_where_the_answer_is_wrong() -> None:
    story = "undefined shuffle at /tmp/kernel.cu:3: lane 0 reads lane 16, which takes no part"
    claim = FaultClaim("undefined shuffle", False, story, "k", "/tmp/kernel.cu", 3, (0, 0, 0), (0, 0, 0))
    fetched = FetchReply((0, 0, 0), ReportClaim(faults=(claim,), fault_count=1))

    right, wrong = _call(fetched=fetched), _call(fetched=fetched, mismatch=WRONG)

    assert (right.verdict, right.message, right.memory_errors) == (Verdict.ACCEPTED, "", ())
    assert wrong.verdict is Verdict.WRONG_ANSWER
    assert wrong.message == f"{WRONG.message}; {story.replace('/tmp/', '')}"


RACE = FaultClaim(
    "race on shared memory", True, "race on shared memory at kernel.cu:8 by thread (0, 0, 0)", "k", "/tmp/kernel.cu", 8,
    (0, 0, 0), (3, 0, 0), PartyClaim("/tmp/kernel.cu", 9, (32, 0, 0), (3, 0, 0), False),
)  # fmt: skip
UNWRITTEN = FaultClaim("uninitialized read", False, "nothing wrote it", "k", "kernel.cu", 5, (0, 0, 0), (0, 0, 0))


def test_a_wrong_answer_is_shown_with_the_race_that_made_it() -> None:
    wrong = _call(mismatch=WRONG)
    found = with_checks(wrong, FetchReply((0, 0, 0), ReportClaim(faults=(UNWRITTEN, RACE))))
    assert found.verdict is Verdict.WRONG_ANSWER
    assert found.message == f"{WRONG.message}; {RACE.message}"
    assert [fault.kind for fault in found.memory_errors] == ["uninitialized read", "race on shared memory"]
    other = found.memory_errors[1].other
    assert other == RacingAccess("kernel.cu", 9, (32, 0, 0), (3, 0, 0), is_write=False)


def test_a_read_of_what_nothing_has_written_yet_is_the_race_with_the_write() -> None:
    early = FaultClaim(
        "uninitialized shared read", False, "nothing has written it", "k", "/tmp/kernel.cu", 9, (0, 0, 0), (0, 0, 0)
    )
    never = dataclasses.replace(early, line=12)
    first = dataclasses.replace(RACE, message="race on shared memory at kernel.cu:3", line=3, other=None)
    report = ReportClaim(faults=(early, never, first, RACE))
    found = with_checks(
        _call(mismatch=WRONG), FetchReply((0, 0, 0), report), is_same_in_all_orders=lambda: pytest.fail("of no use")
    )
    assert found.message == f"{WRONG.message}; {RACE.message}"
    told = [(fault.kind, fault.line) for fault in _call(fetched=FetchReply((0, 0, 0), report)).memory_errors]
    assert (early.kind, 9) not in told
    assert (early.kind, 12) in told


def test_a_race_comes_before_small_errors_which_are_not_called_imprecise() -> None:
    imprecise = dataclasses.replace(
        WRONG, message=f"imprecise: largest error 3.4 times the allowed one; {WRONG.message}", imprecise=3.4
    )
    found = with_checks(_call(mismatch=imprecise), FetchReply((0, 0, 0), ReportClaim(faults=(RACE,))))
    assert found.message == f"{RACE.message}; {WRONG.message}"
    assert found.mismatch == WRONG
    # A race that changes no answer explains none.
    same = with_checks(
        _call(mismatch=imprecise),
        FetchReply((0, 0, 0), ReportClaim(faults=(RACE,))),
        is_same_in_all_orders=lambda: True,
    )
    assert same.message.startswith(imprecise.message)
    assert same.mismatch == imprecise


EARLY = FaultClaim(
    "race with the host", True, "race with the host at kernel.cu:8: it writes a, which the host reads before", "k",
    "/tmp/kernel.cu", 8, (0, 0, 0), (0, 0, 0), PartyClaim("", 0, (0, 0, 0), (0, 0, 0), False), (0x99, 0x40),
)  # fmt: skip


def test_an_access_of_the_host_is_told_with_its_line() -> None:
    wrong = _call(mismatch=WRONG)
    found = with_checks(
        wrong, FetchReply((0, 0, 0), ReportClaim(faults=(EARLY,))), call_lines=((0x40, 7),),
        is_same_in_all_orders=lambda: True,
    )  # fmt: skip
    (fault,) = found.memory_errors
    assert fault.other == RacingAccess("kernel.cu", 7, (0, 0, 0), (0, 0, 0), is_write=False)
    assert fault.message.endswith("which the host reads at kernel.cu:7 before")
    # It is as early in all orders.
    assert found.message == f"{WRONG.message}; {fault.message}"
    right = _call(fetched=FetchReply((0, 0, 0), ReportClaim(faults=(EARLY,))))
    assert (right.verdict, right.message) == (Verdict.ACCEPTED, fault.message)


def test_faults_known_before_the_checks_are_not_repeated() -> None:
    wrong = _call(fetched=FetchReply((0, 0, 0), ReportClaim(faults=(READ,))), mismatch=WRONG)
    assert with_checks(wrong, FetchReply((0, 0, 0), ReportClaim(faults=(READ,)))) == wrong
    assert with_checks(wrong, FetchReply((0, 0, 0), None)) == wrong


def test_what_is_said_is_not_said_of_another_block() -> None:
    wrong = with_checks(_call(mismatch=WRONG), FetchReply((0, 0, 0), ReportClaim(faults=(RACE,))))
    elsewhere = dataclasses.replace(RACE, message=f"{RACE.message} of another block", block=(7, 0, 0))
    assert with_checks(wrong, FetchReply((0, 0, 0), ReportClaim(faults=(elsewhere,)))) == wrong


def _conflict(file: str) -> FaultClaim:
    return FaultClaim("conflicting stores", True, f"conflicting stores at {file}:6", "k", file, 6, (1, 0, 0), (0, 0, 0))


@pytest.mark.parametrize("file", ["kernel.cu", "kernel.py"])
def test_lanes_that_overwrite_each_other_decide_no_verdict(file: str) -> None:
    right = outcome_of_call(
        FINE, FetchReply((0, 0, 0), ReportClaim(faults=(_conflict(file),))), NAMES, 2.0, lambda: None
    )
    assert right == Outcome(Verdict.ACCEPTED)


def test_messages_about_triton_code_have_its_words() -> None:
    story = "it reads byte 0 of cudaMalloc #6, and there is no __syncthreads() or __syncwarp() between them"

    def told(file: str) -> str:
        claim = FaultClaim("race", False, story, "k", file, 3, (0, 0, 0), (0, 0, 0))
        (fault,) = _call(fetched=FetchReply((0, 0, 0), ReportClaim(faults=(claim,))), mismatch=WRONG).memory_errors
        return fault.message

    assert told("kernel.cu") == story
    assert told("kernel.py") == "it reads byte 0 of scratch array #6, and there is no tl.debug_barrier() between them"


def test_a_note_explains_a_wrong_answer_after_all_else() -> None:
    wrong = _call(mismatch=WRONG)

    def message(*claims: FaultClaim) -> str:
        return with_checks(wrong, FetchReply((0, 0, 0), ReportClaim(faults=claims))).message

    own = _conflict("kernel.cu")
    assert message(own) == f"{WRONG.message}; {own.message}"
    assert message(own, UNWRITTEN) == f"{WRONG.message}; {message(UNWRITTEN).removeprefix(f'{WRONG.message}; ')}"
    # Triton lets several lanes store copies of an element: its author has done nothing of the kind.
    assert message(_conflict("kernel.py")) == WRONG.message


def test_reads_outside_of_buffers_are_errors_where_the_pack_says_so() -> None:
    def verdict(claim: FaultClaim, *, fatal: bool) -> Verdict:
        fetched = FetchReply((0, 0, 0), ReportClaim(faults=(claim,)))
        return outcome_of_call(FINE, fetched, NAMES, 2.0, lambda: None, reads_are_errors=fatal).verdict

    assert verdict(READ, fatal=False) is Verdict.ACCEPTED
    assert verdict(READ, fatal=True) is Verdict.RUNTIME_ERROR
    barrier = FaultClaim("divergent barrier", False, "part of the block", "k", "kernel.cu", 6, (0, 0, 0), (0, 0, 0))
    assert verdict(barrier, fatal=True) is Verdict.ACCEPTED


def _killed(during: Op, by: int | None, *, jail_lost: bool = False, cpu_limited: bool = False) -> Ending:
    ended = JailExit(None, by, 1.0, 1.0, 1, False, False, cpu_limited=cpu_limited, jail_lost=jail_lost)
    return Ending(during, "", False, False, ended, "")


@pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM])
def test_a_runner_that_was_perhaps_killed_from_outside_is_tried_again(by: signal.Signals) -> None:
    with pytest.raises(RunnerKilled) as raised:
        outcome_of_ending(_killed(Op.RUN, by), 2.0)
    assert raised.value.outcome is not None
    assert raised.value.outcome.verdict is Verdict.RUNTIME_ERROR
    assert by.name in raised.value.outcome.message


@pytest.mark.parametrize(
    "ending", [_killed(Op.RUN, None, jail_lost=True), _killed(Op.START, signal.SIGKILL)], ids=["jail", "start"]
)
def test_what_only_somebody_outside_can_do_is_no_verdict(ending: Ending) -> None:
    with pytest.raises(RunnerKilled) as raised:
        outcome_of_ending(ending, 2.0)
    assert raised.value.outcome is None


def test_the_limit_on_cpu_time_is_a_time_limit() -> None:
    outcome = outcome_of_ending(_killed(Op.RUN, signal.SIGXCPU, cpu_limited=True), 2.0)
    assert outcome.verdict is Verdict.TIME_LIMIT_EXCEEDED
