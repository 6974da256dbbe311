from __future__ import annotations

from judge.judgement import BuildReport, Judgement
from judge.verdict import Verdict, combine_verdicts
from tests.web_site import EMULATOR, H200, accepted, counted, faulty, timed, wrong
from web.submissions.diagnostics import source_notes
from web.submissions.presenter import present_report


def _json(**parts: object) -> dict[str, object]:
    cases = parts.get("cases") or ()
    made = {
        "verdict": combine_verdicts(case.verdict for case in cases) if cases else Verdict.COMPILE_ERROR,  # type: ignore[attr-defined]
        "challenge": "vector-add",
        "pack_version": "1.0.0",
        "device": EMULATOR,
        "build": BuildReport(ok=True, wall_s=0.4, registers=40, spills=0),
    }
    return Judgement(**{**made, **parts}).to_json()  # type: ignore[arg-type]


def test_a_time_comes_with_throughput_and_spread() -> None:
    report = present_report(_json(cases=accepted("a", "b"), device=H200, measurement=timed()))
    figures = [(figure.value, figure.unit) for figure in report.figures]
    assert figures == [("125", "µs"), ("3,210", "GB/s"), ("268", "GFLOP/s"), ("± 0.1", "%")]
    assert report.passed == 2
    assert not report.counts_instructions
    assert report.benchmarks[0].runs == 20
    assert "<svg" in report.benchmarks[0].chart
    assert ("Driver", "580.95") in report.device_facts


def test_a_count_is_called_what_it_is() -> None:
    report = present_report(_json(cases=accepted("a"), measurement=counted(1_234_567)))
    assert [(figure.value, figure.label) for figure in report.figures] == [("1,234,567", "warp instructions")]
    assert report.counts_instructions


def test_a_mismatch_names_places_and_values() -> None:
    report = present_report(_json(cases=(*accepted("a"), wrong("b"))))
    case = report.cases[1]
    assert report.verdict == "WA"
    assert case.open
    assert not report.cases[0].has_details
    assert case.mismatch is not None
    assert case.mismatch.rows == (("C[0]", 1.5, 0.0), ("C[17]", "inf", "nan"))
    assert case.mismatch.summary == "2 of 100 elements of C are wrong; largest absolute error 1.5."


def test_a_fault_leads_to_its_line_only_in_the_users_file() -> None:
    ours = faulty(line=3).memory_errors[0]
    report = present_report(_json(cases=(faulty(line=3),)))
    fault = report.cases[0].faults[0]
    assert fault.line == 3
    assert "thread (33, 0, 0)" in fault.where
    notes = source_notes("", [{"file": ours.file, "line": 3, "kind": ours.kind, "message": ours.message}])
    assert notes == {3: ["out-of-bounds write: 4 bytes at offset 132 of output (132 bytes)"]}
    assert source_notes("", [{"file": "/usr/include/cub.cuh", "line": 3, "kind": "k", "message": "m"}]) == {}


def test_compiler_messages_are_put_to_their_lines_once() -> None:
    log = (
        'kernel.cu(12): error: identifier "n" is undefined\n'
        'kernel.cu(12): error: identifier "n" is undefined\n'
        "kernel.cu:4:10: fatal error: no_such.h: No such file or directory\n"
        "kernel.cu(20): warning #177-D: variable was declared but never referenced\n"
        "solve.h(3): error: something else\n"
    )
    assert source_notes(log, []) == {
        12: ['error: identifier "n" is undefined'],
        4: ["fatal error: no_such.h: No such file or directory"],
        20: ["warning: variable was declared but never referenced"],
    }


def test_a_judgement_of_an_older_version_can_still_be_shown() -> None:
    report = present_report({"verdict": "IE"})
    assert report.title == "internal error"
    assert report.cases == ()
