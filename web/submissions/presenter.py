"""Builds the report on a submission from its judgement."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from judge.check.mismatch import IMPRECISE
from judge.compile.kernels import kernel_name
from judge.compile.source_files import ONE_FILE, OwnLines, own_lines
from judge.judgement import (
    SAME_IN_ALL_ORDERS,
    BuildReport,
    CaseJudgement,
    DeviceInfo,
    JsonNumber,
    Judgement,
    KernelResources,
    MemoryFault,
    Mismatch,
)
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE
from judge.verdict import Verdict, faults_in_words
from store.models import RecheckRequest, Submission
from web.formatting import seconds, whole
from web.leaderboard.libraries import Ratio
from web.pictures.mismatch_chart import map_in_words, mismatch_chart
from web.source import highlight_lines
from web.submissions.arrays import ArrayView, present_arrays
from web.submissions.diagnostics import Note, fault_detail, source_notes
from web.submissions.fingerprint import present_fingerprint
from web.submissions.headlines import fault_headline, race_headline, sentence
from web.submissions.languages import language_of
from web.submissions.modelled_time import ModelledTimeView, line_heat, present_modelled_times
from web.submissions.run_profile import RunProfile, present_run_profile
from web.submissions.scores import (
    BenchmarkView,
    Figure,
    present_benchmarks,
    present_libraries,
    present_measurement,
)

#: The start of the message if the emulator does not support the program (judge.supervisor.verdict_rules).
UNSUPPORTED = "not supported by the emulator"
_GROUPS = {"sample": "public", "hidden": "hidden", "benchmark": "benchmark", "custom": "your own"}


@dataclass(frozen=True, slots=True)
class FaultView:
    """A kernel's fault.

    ``line`` and ``other_line`` (of a racing access) are lines of the user's whole source; None for those of other
    files.
    """

    kind: str
    message: str
    where: str
    line: int | None
    other_line: int | None = None


@dataclass(frozen=True, slots=True)
class CaseView:
    """A case's row and the details that unfold beneath it."""

    id: str
    #: The sizes, or else the id.
    name: str
    group: str
    verdict: str
    wall: str
    message: str
    mismatch: MismatchView | None
    faults: tuple[FaultView, ...]
    output: str
    open: bool
    arrays: tuple[ArrayView, ...] = ()
    description: str = ""

    @property
    def warned(self) -> bool:
        """Whether the case was accepted although the checkers found faults."""
        return self.verdict == "AC" and bool(self.faults)

    @property
    def has_details(self) -> bool:
        """Whether there is anything to unfold."""
        return bool(self.message or self.mismatch or self.faults or self.output or self.arrays)

    @property
    def has_pictures(self) -> bool:
        """Whether any of its arrays has one."""
        return any(array.picture for array in self.arrays)


@dataclass(frozen=True, slots=True)
class MismatchView:
    """A wrong output. Each of ``rows`` holds the element, the expected value, the actual one, and how far it is off.

    ``chart`` is the map of the whole output and ``chart_words`` says what it shows; neither is set without a map.
    """

    output: str
    rows: tuple[tuple[str, JsonNumber, JsonNumber, str], ...]
    summary: str
    chart: Markup | None = None
    chart_words: str = ""


@dataclass(frozen=True, slots=True)
class SourceLine:
    """A source line with the judge's notes. ``heat`` (0 to 4) and ``share`` tell how much time it takes."""

    number: int
    #: The number in its own file; empty for a line that only names one.
    label: str
    html: Markup
    notes: tuple[Note, ...]
    heat: int = 0
    share: str = ""

    @property
    def mark(self) -> str:
        """The CSS class that marks the line."""
        return "" if not self.notes else "marked" if any(note.is_error for note in self.notes) else "warned"


@dataclass(frozen=True, slots=True)
class Report:
    """All data of the report's template."""

    verdict: str
    title: str
    message: str
    figures: tuple[Figure, ...]
    cases: tuple[CaseView, ...]
    passed: int
    build_log: str
    build_notes: tuple[str, ...]
    build_facts: tuple[tuple[str, str], ...]
    kernels: tuple[KernelResources, ...]
    benchmarks: tuple[BenchmarkView, ...]
    modelled_times: tuple[ModelledTimeView, ...]
    device_facts: tuple[tuple[str, str], ...]
    #: The card that was timed; None where nothing was.
    card: str | None
    fingerprint: tuple[tuple[str, str], ...]
    #: How lines of headers are called, by their number in the whole source.
    header_lines: dict[int, str] = dataclasses.field(default_factory=dict)
    #: What a later run is compared with; None without an unranked time.
    run_profile: RunProfile | None = None


def present_report(
    judgement: Judgement, source: str = "", language: str = DEFAULT_LANGUAGE, libraries: Sequence[Ratio] = ()
) -> Report:
    """Returns the report on a judgement. It quotes the slowest lines of ``source``, the judged text in ``language``.

    ``libraries`` are what the time is beside those of libraries.
    """
    cases, measurement = judgement.cases, judgement.shown_measurement
    first_failure = next((case for case in cases if case.verdict is not Verdict.ACCEPTED), None)
    written_in = BUILTIN_LANGUAGES.of(language)
    own = own_lines(source, written_in.file_name)
    views = tuple(_present_case(case, own, opened=case is first_failure) for case in cases)
    modelled = measurement is not None and measurement.gpu is not None
    return Report(
        verdict=judgement.verdict.value,
        title=_title(judgement),
        message=race_headline(first_failure, own, written_in)
        or fault_headline(first_failure, judgement.message, own)
        or _described(judgement, first_failure, views)
        or _summary(judgement.verdict, views),
        figures=() if measurement is None else (*present_measurement(measurement), *present_libraries(libraries)),
        cases=views,
        passed=sum(case.verdict is Verdict.ACCEPTED for case in cases),
        build_log=judgement.build.log,
        build_notes=judgement.build.notes,
        build_facts=_build_facts(judgement.build),
        kernels=tuple(
            dataclasses.replace(kernel, kernel=kernel_name(kernel.kernel)) for kernel in judgement.build.kernels
        ),
        benchmarks=() if measurement is None else present_benchmarks(measurement),
        modelled_times=()
        if measurement is None
        else present_modelled_times(measurement, highlight_lines(source, written_in.grammar) if modelled else (), own),
        device_facts=_device_facts(judgement.device),
        card=None if measurement is None else measurement.fingerprint.card,
        fingerprint=() if measurement is None else present_fingerprint(measurement.fingerprint),
        header_lines={
            line: own.in_words(line)
            for file in own.files[1:]
            for line in range(file.first_line, file.first_line + file.lines)
        },
        run_profile=None if judgement.unranked is None else present_run_profile(judgement.unranked, source, own),
    )


def present_source(submission: Submission, recheck: RecheckRequest | None = None) -> tuple[SourceLine, ...]:
    """Returns the source with the judge's notes beneath its lines, and those of its check on the emulator."""
    judgement = submission.judgement
    own = own_lines(submission.source, language_of(submission).file_name)
    notes = _notes(judgement, recheck, own)
    heat = _heat(judgement, own)
    lines = highlight_lines(submission.source, language_of(submission).grammar)
    marks = {file.first_line - 1 for file in own.files[1:]}
    return tuple(
        SourceLine(
            number,
            "" if number in marks else own.name(number).rpartition(":")[2],
            html,
            tuple(notes.get(number, ())),
            *heat.get(number, (0, "")),
        )
        for number, html in enumerate(lines, start=1)
    )


def editor_notes(submission: Submission, recheck: RecheckRequest | None = None) -> list[dict[str, str | int | bool]]:
    """Returns the judge's notes for the editor, in the order of lines: ``line``, ``text``, ``error``."""
    own = own_lines(submission.source, language_of(submission).file_name)
    notes = _notes(submission.judgement, recheck, own)
    return [
        {"line": line, "text": note.text, "error": note.is_error}
        for line, found in sorted(notes.items())
        for note in found
    ]


def _notes(judgement: Judgement | None, recheck: RecheckRequest | None, own: OwnLines) -> dict[int, list[Note]]:
    if judgement is None:
        return {}
    findings = recheck.result.findings if recheck is not None and recheck.result is not None else ()
    return source_notes(judgement.build.log, judgement.cases, findings, own)


def editor_heat(submission: Submission) -> list[dict[str, str | int]]:
    """Returns the share of the time of each line for the editor, in order: ``line``, ``level`` (1 to 4), ``share``."""
    heat = _heat(submission.judgement, own_lines(submission.source, language_of(submission).file_name))
    return [{"line": line, "level": level, "share": share} for line, (level, share) in sorted(heat.items()) if level]


def _heat(judgement: Judgement | None, own: OwnLines) -> dict[int, tuple[int, str]]:
    measurement = None if judgement is None else judgement.shown_measurement
    return {} if measurement is None else line_heat(measurement, own)


def _title(judgement: Judgement) -> str:
    """Returns the verdict in words. A feature that the emulator lacks is not a fault, so it gets its own title."""
    failed = next((case for case in judgement.cases if case.verdict is not Verdict.ACCEPTED), judgement)
    unsupported = judgement.verdict is Verdict.RUNTIME_ERROR and failed.message.startswith(UNSUPPORTED)
    return UNSUPPORTED if unsupported else judgement.verdict.in_words


def _summary(verdict: Verdict, cases: Sequence[CaseView]) -> str:
    warned = sum(case.warned for case in cases)
    if verdict is Verdict.ACCEPTED and warned:
        what = faults_in_words([fault.kind for case in cases for fault in case.faults])
        return f"{_right_in(len(cases))}, but {warned} of them {what}."
    if verdict is Verdict.ACCEPTED:
        return "The right answer in every case." if len(cases) == 1 else f"{_right_in(len(cases))}."
    if verdict is Verdict.COMPILE_ERROR:
        return "The source does not compile."
    failed = next((case for case in cases if case.verdict != "AC"), None)
    return "" if failed is None else f"First seen in case {failed.id}."


def _right_in(cases: int) -> str:
    return "The right answer in both cases" if cases == 2 else f"The right answer in all {cases} cases"


def _described(judgement: Judgement, case: CaseJudgement | None, views: Sequence[CaseView]) -> str:
    """Returns the message as a sentence; of a wrong answer, with what is special of its case, the likely cause.

    Of an accepted run the message says why it has no time.
    """
    message = sentence(judgement.message)
    if message and judgement.verdict is Verdict.ACCEPTED:
        return f"{_summary(judgement.verdict, views)} {message.rstrip('.')}."
    if case is None or case.mismatch is None or not message or not case.description:
        return message
    return f"{message.rstrip('.')}. This case: {case.description}."


def _present_case(case: CaseJudgement, own: OwnLines, *, opened: bool) -> CaseView:
    message = case.message
    for fault in case.memory_errors:
        if fault.message and fault.message in message:  # the fault's own entry shows it
            before, _, after = message.partition(fault.message)
            before = before.removesuffix(SAME_IN_ALL_ORDERS).removesuffix("; ")
            message = "; ".join(filter(None, (before, after.removeprefix("; "))))
    if case.mismatch is not None and message == case.mismatch.message:
        # The mismatch table shows the first two parts; the rest, if any, is a hint.
        # What is said of an imprecise answer comes before them.
        first, imprecise = message.partition("; ")[0], message.startswith(IMPRECISE)
        message = "; ".join([*[first] * imprecise, *message.split("; ", 2 + imprecise)[2 + imprecise :]])
    return CaseView(
        id=case.id,
        name=case.name,
        group=_GROUPS.get(case.group, case.group),
        verdict=case.verdict.value,
        wall=seconds(case.wall_s) if case.wall_s else "",
        message=sentence(message),
        mismatch=None if case.mismatch is None else _present_mismatch(case.mismatch),
        faults=tuple(present_fault(fault, own) for fault in case.memory_errors),
        output=case.output,
        description=case.description,
        open=opened or case.group == "custom",
        arrays=present_arrays(case.shown, None if case.mismatch is None else case.mismatch.output),
    )


def _present_mismatch(mismatch: Mismatch) -> MismatchView:
    output = mismatch.output
    rows = tuple(
        (f"{output}[{', '.join(str(axis) for axis in index)}]", expected, got, mismatch.excess(number))
        for number, (index, expected, got) in enumerate(
            zip(mismatch.indices, mismatch.expected, mismatch.got, strict=False)
        )
    )
    summary = f"{whole(mismatch.count)} of {whole(mismatch.total)} elements of {output} are wrong"
    errors = [
        f"largest {kind} error {error:.3g}"
        for kind, error in (("absolute", mismatch.max_abs_error), ("relative", mismatch.max_rel_error))
        if error is not None and math.isfinite(error)
    ]
    view = MismatchView(output, rows, "; ".join([summary, *errors]) + ".")
    if mismatch.map is None:
        return view
    chart = mismatch_chart(mismatch.map, f"Map of {output}: where its elements are wrong")
    return dataclasses.replace(view, chart=chart, chart_words=map_in_words(mismatch.map))


def present_fault(fault: MemoryFault, own: OwnLines = ONE_FILE) -> FaultView:
    """Returns the view of a kernel's fault."""
    line = own.locate(fault.file, fault.line)
    places = [
        f"in {fault.kernel}" if fault.kernel else "",
        f"{fault.file}, line {fault.line}" if fault.file and fault.file not in own else "",
        f"block {_triple(fault.block)}" if fault.block else "",
        f"thread {_triple(fault.thread)}" if fault.thread else "",
    ]
    other = fault.other
    return FaultView(
        kind=fault.kind,
        message=fault_detail(fault),
        where=", ".join(place for place in places if place),
        line=line,
        other_line=None if other is None else own.locate(other.file, other.line),
    )


def _triple(axes: Sequence[int]) -> str:
    return f"({', '.join(str(axis) for axis in axes)})"


def _build_facts(build: BuildReport) -> tuple[tuple[str, str], ...]:
    facts = [("Built in", seconds(build.wall_s) + (" (from the cache)" if build.cached else ""))]
    if build.registers is not None:
        facts.append(("Registers per thread", whole(build.registers)))
    if build.spills is not None:
        facts.append(("Spilled", f"{whole(build.spills)} bytes" if build.spills else "nothing"))
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


def _device_facts(device: DeviceInfo) -> tuple[tuple[str, str], ...]:
    facts = [("Device", device.name), ("Compute capability", device.compute_capability)]
    facts += [(label, str(device.details.get(key) or "")) for key, label in _DEVICE_DETAILS.items()]
    return tuple((label, text) for label, text in facts if text)
