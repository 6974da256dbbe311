"""Problems that a limit causes: each names the option that raises the limit."""

from __future__ import annotations

from dataclasses import replace

from emulator.runtime.report import CallError, Finding, Report
from emulator.standalone.problems import problems_of

LOOP = Finding(
    kind="endless loop",
    is_write=False,
    message="endless loop at a.cu:3 in spin: it was stopped after 600 s",
    kernel="spin",
    file="a.cu",
    line=3,
    thread=(0, 0, 0),
    block=(0, 0, 0),
    address=0,
    size=0,
    allocation=None,
)

MORE_TIME = (
    "--time-limit SECONDS gives each launch more, --schedule SEED lets host code that it waits for run meanwhile"
)


def test_an_endless_loop() -> None:
    report = Report(findings=(LOOP,), limit="wall", failure=LOOP.message)
    assert [one.message for one in problems_of(report)] == [f"{LOOP.message}; {MORE_TIME}"]
    [counted] = problems_of(replace(report, limit="instructions"))
    assert counted.message.endswith("; --instruction-limit COUNT gives each launch more")


def test_a_launch_that_was_stopped_elsewhere() -> None:
    [stopped] = problems_of(Report(limit="wall", failure="spin was stopped after 600 s"))
    assert (stopped.kind, stopped.message) == (
        "stopped launch",
        f"spin was stopped after 600 s; {MORE_TIME}",
    )
    [failed] = problems_of(Report(failure="spin: no PTX in the program"))
    assert (failed.kind, failed.message) == ("failed launch", "spin: no PTX in the program")


def test_memory() -> None:
    error = CallError(None, "it was asked for 8 bytes", "cudaMalloc", 2, "cudaErrorMemoryAllocation", False)
    [problem] = problems_of(Report(call_errors=(error,)))
    assert problem.message.endswith("asks about no error afterwards; --memory SIZE gives the device more")
