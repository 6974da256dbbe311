from __future__ import annotations

import dataclasses

import pytest

from judge.compile.kernels import kernel_name
from judge.compile.source_files import own_lines
from judge.judgement import (
    SAME_IN_ALL_ORDERS,
    BuildReport,
    CaseJudgement,
    Judgement,
    MemoryFault,
    MismatchMap,
    RacingAccess,
)
from judge.languages.registry import BUILTIN_LANGUAGES
from judge.verdict import Verdict, combine_verdicts
from tests.web_site import EMULATOR, H200, accepted, faulty, timed, wrong
from web.submissions.diagnostics import Note, fault_detail, source_notes
from web.submissions.headlines import race_headline
from web.submissions.presenter import present_report


def _judgement(**parts: object) -> Judgement:
    cases = parts.get("cases") or ()
    made = {
        "verdict": combine_verdicts(case.verdict for case in cases) if cases else Verdict.COMPILE_ERROR,  # type: ignore[attr-defined]
        "challenge": "vector-add",
        "pack_version": "1.0.0",
        "device": EMULATOR,
        "build": BuildReport(ok=True, wall_s=0.4, registers=40, spills=0),
    }
    return Judgement(**{**made, **parts})  # type: ignore[arg-type]


def test_a_time_comes_with_throughput_and_spread() -> None:
    report = present_report(_judgement(cases=accepted("a", "b"), device=H200, measurement=timed()))
    figures = [(figure.value, figure.unit) for figure in report.figures]
    assert figures == [("125", "µs"), ("3,210", "GB/s"), ("268", "GFLOP/s"), ("± 0.1", "%")]
    assert report.passed == 2
    assert report.benchmarks[0].runs == 20
    assert "<svg" in report.benchmarks[0].chart
    assert ("Driver", "580.95") in report.device_facts


def test_a_mismatch_names_places_and_values() -> None:
    report = present_report(_judgement(cases=(*accepted("a"), wrong("b"))))
    case = report.cases[1]
    assert report.verdict == "WA"
    assert case.open
    assert not report.cases[0].has_details
    assert case.mismatch is not None
    assert case.mismatch.rows == (("C[0]", 1.5, 0.0, ""), ("C[17]", "inf", "nan", ""))
    assert case.mismatch.summary == "2 of 100 elements of C are wrong; largest absolute error 1.5."


def test_a_mismatch_of_a_whole_output_has_its_map() -> None:
    case = wrong("b")
    assert case.mismatch is not None
    mapped = dataclasses.replace(case.mismatch, map=MismatchMap(10, 10, ("9000000000",) * 10))
    plain, drawn = (
        present_report(_judgement(cases=(dataclasses.replace(case, mismatch=mismatch),))).cases[0].mismatch
        for mismatch in (case.mismatch, mapped)
    )
    assert plain is not None
    assert drawn is not None
    assert plain.chart is None
    assert "Map of C" in str(drawn.chart)
    assert drawn.chart_words.startswith("The wrong elements lie in rows 0 to 9 of 10, columns 0 to 0 of 10")


def test_a_fault_leads_to_its_line_only_in_the_users_file() -> None:
    ours = faulty(line=3).memory_errors[0]
    report = present_report(_judgement(cases=(faulty(line=3),)))
    fault = report.cases[0].faults[0]
    assert fault.line == 3
    assert "thread (33, 0, 0)" in fault.where
    assert source_notes("", [_with_fault(ours)]) == {
        3: [Note("out-of-bounds write in case a: 4 bytes at offset 132 of output (132 bytes)", is_error=True)]
    }
    assert source_notes("", [_with_fault(dataclasses.replace(ours, file="/usr/include/cub.cuh"))]) == {}


def test_the_same_fault_in_several_cases_is_noted_once_and_as_an_error_if_it_failed_one() -> None:
    fault = faulty(line=3).memory_errors[0]
    warned, failed = _with_fault(fault, Verdict.ACCEPTED), _with_fault(fault)
    assert [note.is_error for note in source_notes("", [warned])[3]] == [False]
    assert [note.is_error for note in source_notes("", [warned, failed])[3]] == [True]


def test_a_race_is_noted_at_both_lines() -> None:
    race = RacingAccess("kernel.cu", 5, (0, 0, 0), (1, 0, 0), is_write=True)
    fault = dataclasses.replace(faulty(line=3).memory_errors[0], kind="race", other=race)
    notes = source_notes("", [_with_fault(fault)])
    assert notes[5] == [Note("race in case a: it races with line 3", is_error=True)]
    assert list(notes) == [3, 5]


@pytest.mark.parametrize(
    ("block", "line", "remedy"),
    [
        (0, 10, "add tl.debug_barrier() between them"),
        (0, 9, "programs need atomics, or a second kernel"),
        (1, 10, "programs need atomics, or a second kernel"),
    ],
)
def test_what_a_race_needs_is_said_in_the_words_of_triton(block: int, line: int, remedy: str) -> None:
    other = RacingAccess("kernel.py", line, (64, 0, 0), (block, 0, 0), is_write=False)
    race = MemoryFault("race on global memory", "a race", "k", "kernel.py", 9, (0, 0, 0), (0, 0, 0), other)
    case = CaseJudgement("one", "hidden", Verdict.WRONG_ANSWER, 0.1, "a race", memory_errors=(race,))
    lines = own_lines(b"\n" * 20, "kernel.py")
    assert race_headline(case, lines, BUILTIN_LANGUAGES.of("triton")).endswith(f": {remedy}.")


def test_a_faults_detail_leaves_out_what_is_shown_beside_it() -> None:
    message = (
        "out-of-bounds read of 4 bytes at kernel.cu:7 in add, thread (4,0,0) of block (0,0,0): "
        "address 0x10, it reaches 4 bytes past the end of B (16 bytes)"
    )
    detail = fault_detail(MemoryFault("out-of-bounds read", message))
    assert detail == "address 0x10, it reaches 4 bytes past the end of B (16 bytes)"
    assert fault_detail(MemoryFault("race", "two threads")) == "two threads"


def _with_fault(fault: MemoryFault, verdict: Verdict = Verdict.RUNTIME_ERROR) -> CaseJudgement:
    return CaseJudgement("a", "hidden", verdict, 0.1, memory_errors=(fault,))


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        ("_Z3addPKfS0_Pfi", "add"),
        ("_ZN4math6reduceIfEEvPKT_i", "math::reduce"),
        ("_ZN26_GLOBAL__N__0000_kernel_cu3addEPf", "(anonymous)::add"),
        ("plain_c", "plain_c"),
        ("_Z99short", "_Z99short"),
        ("_ZNK3foo3barEv", "_ZNK3foo3barEv"),
        ("", ""),
    ],
)
def test_kernels_are_called_as_their_author_did(symbol: str, name: str) -> None:
    assert kernel_name(symbol) == name


def test_what_a_fault_tells_is_not_told_twice() -> None:
    case = faulty()
    repeated = dataclasses.replace(case, message=case.memory_errors[0].message)
    views = present_report(_judgement(cases=(repeated, case))).cases
    assert [view.message for view in views] == ["", "cudaErrorIllegalAddress"]
    fault = case.memory_errors[0].message
    for said, shown in ((f"C[0] is 0; {fault}", "C[0] is 0"), (f"a; {SAME_IN_ALL_ORDERS}{fault}; b", "a; b")):
        [view] = present_report(_judgement(cases=(dataclasses.replace(case, message=said),))).cases
        assert view.message == shown


def test_what_the_table_of_a_mismatch_tells_is_not_told_twice() -> None:
    case = wrong()
    assert case.mismatch is not None
    told = "C[0] is 0.0, expected 1.5; 2 of 100 elements differ"
    says = (told, f"{told}; all of C is 0: was the kernel launched?")
    cases = [
        dataclasses.replace(case, message=text, mismatch=dataclasses.replace(case.mismatch, message=text))
        for text in says
    ]
    refused = dataclasses.replace(cases[0], message="cudaErrorInvalidValue: invalid argument")
    views = present_report(_judgement(cases=(*cases, refused))).cases
    hint = "All of C is 0: was the kernel launched?"
    assert [view.message for view in views] == ["", hint, "cudaErrorInvalidValue: invalid argument"]
    assert views[0].mismatch is not None
    assert views[0].mismatch.summary == "2 of 100 elements of C are wrong; largest absolute error 1.5."


def test_accepted_with_a_warning_says_so() -> None:
    case = dataclasses.replace(faulty(), verdict=Verdict.ACCEPTED)
    report = present_report(_judgement(cases=(case, *accepted("b"))))
    assert report.message == "The right answer in both cases, but 1 of them touched memory outside the buffers."
    assert report.cases[0].warned
    race = dataclasses.replace(case.memory_errors[0], kind="race on shared memory")
    report = present_report(_judgement(cases=(dataclasses.replace(case, memory_errors=(race,)), *accepted("b"))))
    assert report.message == "The right answer in both cases, but 1 of them showed a race."


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("it does not compile", "It does not compile"),
        ("solve ended the process with exit(0)", "solve ended the process with exit(0)"),
        ("cudaErrorIllegalAddress: an access", "cudaErrorIllegalAddress: an access"),
        ("out-of-bounds write of 4 bytes", "Out-of-bounds write of 4 bytes"),
    ],
)
def test_messages_are_sentences(said: str, shown: str) -> None:
    assert present_report(_judgement(cases=(wrong(),), message=said)).message == shown


def test_compiler_messages_are_put_to_their_lines_once() -> None:
    log = (
        'kernel.cu(12): error: identifier "n" is undefined\n'
        'kernel.cu(12): error: identifier "n" is undefined\n'
        "kernel.cu:4:10: fatal error: no_such.h: No such file or directory\n"
        "kernel.cu(20): warning #177-D: variable was declared but never referenced\n"
        "solve.h(3): error: something else\n"
    )
    assert source_notes(log, []) == {
        12: [Note('error: identifier "n" is undefined', is_error=True)],
        4: [Note("fatal error: no_such.h: No such file or directory", is_error=True)],
        20: [Note("warning: variable was declared but never referenced", is_error=False)],
    }


def test_a_fault_is_told_once_by_its_line_and_what_is_wrong() -> None:
    message = (
        "out-of-bounds write of 4 bytes at kernel.cu:7 in add, thread (4,0,0) of block (0,0,0): "
        "address 0x2000, it reaches 4 bytes past the end of C (16 bytes)"
    )
    fault = MemoryFault("out-of-bounds write", message, "add", "kernel.cu", 7, (4, 0, 0), (0, 0, 0))
    case = dataclasses.replace(faulty("four"), message=message, memory_errors=(fault,))
    report = present_report(_judgement(cases=(case,), message=message))
    assert report.message == "Out-of-bounds write, line 7: it reaches 4 bytes past the end of C (16 bytes)."
    assert report.cases[0].message == ""
    elsewhere = dataclasses.replace(fault, file="cub/block.cuh")
    case = dataclasses.replace(case, memory_errors=(elsewhere,))
    assert present_report(_judgement(cases=(case,), message=message)).message.startswith("Out")
