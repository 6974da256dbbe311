"""A judgement, as the JSON that is stored, made into what the report's template shows.

Stored judgements outlive the code that wrote them, so everything but the verdict is read as possibly missing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from judge.build.kernels import kernel_name
from store.models import Submission
from web.formatting import seconds, verdict_title, whole
from web.source import highlight_lines
from web.submissions.diagnostics import Note, fault_detail, is_own_source, source_notes
from web.submissions.fingerprint import present_fingerprint
from web.submissions.scores import BenchmarkView, Figure, present_benchmarks, present_measurement
from web.submissions.slowness import SlownessView, line_heat, present_slowness

#: How the message of a judgement begins where the emulator refused (judge.supervisor.outcome).
UNSUPPORTED = "not supported by the emulator"
_GROUPS = {"sample": "public", "hidden": "hidden", "benchmark": "benchmark"}


@dataclass(frozen=True, slots=True)
class FaultView:
    """What a kernel did wrong; ``line`` only when it is a line of the user's source, ``other_line`` of a race's other
    side likewise."""

    kind: str
    message: str
    where: str
    line: int | None
    other_line: int | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case's row, and what unfolds beneath it."""

    id: str
    group: str
    verdict: str
    wall: str
    message: str
    mismatch: MismatchView | None
    faults: tuple[FaultView, ...]
    open: bool

    @property
    def warned(self) -> bool:
        """Accepted, and yet something is wrong."""
        return self.verdict == "AC" and bool(self.faults)

    @property
    def has_details(self) -> bool:
        """Whether there is anything to unfold."""
        return bool(self.message or self.mismatch or self.faults)


@dataclass(frozen=True, slots=True)
class MismatchView:
    """``rows``: index, expected, got."""

    output: str
    rows: tuple[tuple[str, Any, Any], ...]
    summary: str


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A line of the source, and what the judge says of it. ``heat`` from 0 to 4 and ``share`` are its part in the
    time."""

    number: int
    html: Markup
    notes: tuple[Note, ...]
    heat: int = 0
    share: str = ""

    @property
    def mark(self) -> str:
        """The class that marks the line."""
        return "" if not self.notes else "marked" if any(note.grave for note in self.notes) else "warned"


@dataclass(frozen=True, slots=True)
class Report:
    """All that the report shows."""

    verdict: str
    title: str
    message: str
    figures: tuple[Figure, ...]
    cases: tuple[CaseView, ...]
    passed: int
    build_log: str
    build_facts: tuple[tuple[str, str], ...]
    kernels: tuple[Mapping[str, Any], ...]
    benchmarks: tuple[BenchmarkView, ...]
    slowness: tuple[SlownessView, ...]
    counts_instructions: bool
    device_facts: tuple[tuple[str, str], ...]
    fingerprint: tuple[tuple[str, str], ...]


def present_report(judgement: Mapping[str, Any], source: str = "") -> Report:
    """The report on a stored judgement; lines of the ``source`` are shown where it speaks of them."""
    verdict = str(judgement["verdict"])
    build = judgement.get("build") or {}
    measurement = judgement.get("measurement") or {}
    cases = judgement.get("cases") or []
    first_failure = next((index for index, case in enumerate(cases) if case["verdict"] != "AC"), None)
    views = tuple(_present_case(case, opened=index == first_failure) for index, case in enumerate(cases))
    return Report(
        verdict=verdict,
        title=_title(judgement, verdict),
        message=_sentence(str(judgement.get("message") or "")) or _summary(verdict, views),
        figures=present_measurement(measurement) if measurement else (),
        cases=views,
        passed=sum(case.verdict == "AC" for case in views),
        build_log=str(build.get("log") or ""),
        build_facts=_build_facts(build),
        kernels=tuple({**kernel, "kernel": kernel_name(kernel["kernel"])} for kernel in build.get("kernels") or ()),
        benchmarks=present_benchmarks(measurement),
        slowness=present_slowness(measurement, highlight_lines(source) if measurement.get("gpu") else ()),
        counts_instructions=measurement.get("metric") == "warp_instructions",
        device_facts=_device_facts(judgement.get("device") or {}),
        fingerprint=present_fingerprint(measurement.get("fingerprint") or {}),
    )


def present_source(submission: Submission) -> tuple[SourceLine, ...]:
    """The source with the judge's notes beneath its lines."""
    judgement = submission.judgement or {}
    notes, heat = source_notes(judgement), line_heat(judgement.get("measurement") or {})
    lines = highlight_lines(submission.source)
    return tuple(
        SourceLine(number, html, tuple(notes.get(number, ())), *heat.get(number, (0, "")))
        for number, html in enumerate(lines, start=1)
    )


def _title(judgement: Mapping[str, Any], verdict: str) -> str:
    """The verdict in words; what the emulator cannot do is no fault of the kernel's, and has a title of its own."""
    failed = next((case for case in judgement.get("cases") or () if case["verdict"] != "AC"), judgement)
    unsupported = str(failed.get("message") or "").startswith(UNSUPPORTED)
    return UNSUPPORTED if verdict == "RE" and unsupported else verdict_title(verdict)


def _summary(verdict: str, cases: Sequence[CaseView]) -> str:
    warned = sum(case.warned for case in cases)
    if verdict == "AC" and warned:
        kinds = {fault.kind for case in cases for fault in case.faults}
        reads = all(kind.startswith("out-of-bounds") for kind in kinds)
        what = "read memory outside its buffers" if reads else "did something wrong on the way"
        return f"The right answer in all {len(cases)} cases, but {warned} of them {what}."
    if verdict == "AC":
        return "The right answer in every case." if len(cases) == 1 else f"The right answer in all {len(cases)} cases."
    if verdict == "CE":
        return "The compiler did not take the source."
    failed = next((case for case in cases if case.verdict != "AC"), None)
    return "" if failed is None else f"First seen in case {failed.id}."


def _sentence(text: str) -> str:
    """With a capital, unless it begins with a name from the code."""
    begins = re.match(r"[a-z-]+(?=[ ,])", text)
    return text if begins is None or begins[0] == "solve" else text[:1].upper() + text[1:]


def _present_case(case: Mapping[str, Any], *, opened: bool) -> CaseView:
    mismatch = case.get("mismatch")
    faults = case.get("memory_errors") or ()
    message = str(case.get("message") or "")
    if any(message == fault.get("message") for fault in faults):
        message = ""  # told beneath, with its line
    if mismatch and message == mismatch.get("message"):
        # The table says where, and how many; what may follow is a hint.
        message = "".join(message.split("; ", 2)[2:])
    return CaseView(
        id=str(case["id"]),
        group=_GROUPS.get(str(case.get("group")), str(case.get("group"))),
        verdict=str(case["verdict"]),
        wall=seconds(case.get("wall_s")),
        message=_sentence(message),
        mismatch=None if mismatch is None else _present_mismatch(mismatch),
        faults=tuple(_present_fault(fault) for fault in faults),
        open=opened,
    )


def _present_mismatch(mismatch: Mapping[str, Any]) -> MismatchView:
    output = str(mismatch["output"])
    rows = tuple(
        (f"{output}[{', '.join(str(place) for place in index)}]", expected, got)
        for index, expected, got in zip(
            mismatch.get("indices") or (), mismatch.get("expected") or (), mismatch.get("got") or (), strict=False
        )
    )
    summary = f"{whole(mismatch['count'])} of {whole(mismatch['total'])} elements of {output} are wrong"
    errors = [
        f"largest {kind} error {mismatch[key]:.3g}"
        for kind, key in (("absolute", "max_abs_error"), ("relative", "max_rel_error"))
        if isinstance(mismatch.get(key), int | float)
    ]
    return MismatchView(output, rows, "; ".join([summary, *errors]) + ".")


def _present_fault(fault: Mapping[str, Any]) -> FaultView:
    own = is_own_source(fault.get("file"))
    places = [
        f"in {fault['kernel']}" if fault.get("kernel") else "",
        f"{fault['file']}, line {fault.get('line')}" if fault.get("file") and not own else "",
        f"block {_triple(fault['block'])}" if fault.get("block") else "",
        f"thread {_triple(fault['thread'])}" if fault.get("thread") else "",
    ]
    other = fault.get("other") or {}
    return FaultView(
        kind=str(fault.get("kind") or "memory fault"),
        message=fault_detail(fault),
        where=", ".join(place for place in places if place),
        line=int(fault["line"]) if own and fault.get("line") else None,
        other_line=int(other["line"]) if is_own_source(other.get("file")) and other.get("line") else None,
    )


def _triple(place: Sequence[int]) -> str:
    return f"({', '.join(str(axis) for axis in place)})"


def _build_facts(build: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    facts = []
    if build.get("wall_s") is not None:
        facts.append(("Built in", seconds(build["wall_s"]) + (" (from the cache)" if build.get("cached") else "")))
    if build.get("registers") is not None:
        facts.append(("Registers per thread", whole(build["registers"])))
    if build.get("spills") is not None:
        facts.append(("Spilled", f"{whole(build['spills'])} bytes" if build["spills"] else "nothing"))
    return tuple(facts)


_DEVICE_DETAILS = {
    "driver": "Driver",
    "cuda": "CUDA",
    "multiprocessors": "Multiprocessors",
    "clock_mhz": "Clock (MHz)",
    "sm_clock_mhz": "SM clock (MHz)",
    "memory_clock_mhz": "Memory clock (MHz)",
    "cpu": "CPU",
}


def _device_facts(device: Mapping[str, Any]) -> tuple[tuple[str, str], ...]:
    details = device.get("details") or {}
    known = (("Device", "name"), ("Compute capability", "compute_capability"))
    facts = [(label, str(device.get(key) or "")) for label, key in known]
    facts += [(label, str(details[key])) for key, label in _DEVICE_DETAILS.items() if details.get(key)]
    return tuple((label, text) for label, text in facts if text)
