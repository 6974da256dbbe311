"""Prints a judgement for people, on stdout."""

from __future__ import annotations

import math
from collections.abc import Sequence

from rich.text import Text

from cli.console import clean, stdout
from cli.scores import format_interval, format_score
from judge.interval import ROOFLINE
from judge.judgement import BuildReport, CaseJudgement, Judgement, MemoryFault, Mismatch, ShownArray
from judge.measurements import Measurement, ModelledCase
from judge.recheck import Recheck, RecheckOutcome
from judge.verdict import Verdict, faults_in_words

_SHOWN_CASES = 12
#: Cases whose output is shown, and lines of each.
_SHOWN_OUTPUTS, _OUTPUT_LINES = 3, 40
#: Further failed cases show only their verdict: the first failure is the one to debug.
_DETAILED_CASES = 3
_SHOWN_FAULTS = 5
_SHOWN_REASONS = 5
_SHOWN_LINES = 5
#: Lines with a smaller share of the modelled time are left out.
_LEAST_SHARE = 0.05


def print_judgement(judgement: Judgement) -> None:
    """Prints the verdict, the build, the failed cases and the score."""
    console = stdout()
    for line in lines(judgement):
        console.print(line)


def lines(judgement: Judgement) -> list[Text]:
    """Returns the lines that ``print_judgement`` prints."""
    verdict, device = judgement.verdict, judgement.device
    head = Text(
        f"{verdict.value}  {verdict.in_words}", style="bold green" if verdict is Verdict.ACCEPTED else "bold red"
    )
    challenge = f"{judgement.challenge} {judgement.pack_version} on {device.key or '?'}"
    named = device.name and device.name != device.key
    out = [head, Text(f"  {challenge} ({device.name})" if named else f"  {challenge}")]
    if not _is_repeated_below(judgement):
        out += [Text(f"  {line}") for line in clean(judgement.message).splitlines()]
    out += _build_lines(judgement.build, failed=verdict is Verdict.COMPILE_ERROR)
    out += _case_lines(judgement.cases)
    if judgement.measurement is not None:
        out += _measurement_lines(judgement.measurement)
    if judgement.unranked is not None:
        out += _measurement_lines(judgement.unranked, "unranked")
    return out


def recheck_lines(recheck: Recheck) -> list[Text]:
    """Returns the emulator's findings in a submission that a GPU accepted, as lines."""
    if recheck.outcome is RecheckOutcome.CLEAN:
        return [Text(f"  check   {recheck.headline} in {recheck.cases} case{'s' if recheck.cases != 1 else ''}")]
    if recheck.outcome is RecheckOutcome.UNCHECKED:
        out = [Text(f"  check   unchecked: {clean(recheck.headline)}")]
    else:
        out = [Text(f"  check   {clean(recheck.headline)}", style="yellow")]
        out += [Text(f"          {line}") for line in _fault_lines(recheck.findings)]
    return [*out, Text(f"          {clean(recheck.detail)}")] if recheck.detail else out


def _is_repeated_below(judgement: Judgement) -> bool:
    """Returns whether the compiler's output or a failed case repeats the message."""
    if judgement.message and judgement.verdict is Verdict.COMPILE_ERROR:
        return judgement.message in judgement.build.log
    return judgement.message in [case.message for case in _failed(judgement.cases)[:_DETAILED_CASES]]


def _failed(cases: Sequence[CaseJudgement]) -> list[CaseJudgement]:
    return [case for case in cases if case.verdict is not Verdict.ACCEPTED]


def _build_lines(build: BuildReport, *, failed: bool) -> list[Text]:
    facts = [f"{build.wall_s:.2f} s" + (" (cached)" if build.cached else "")]
    if build.registers is not None:
        facts.append(f"{build.registers} registers")
    if build.spills is not None:
        facts.append(f"{build.spills} bytes spilled")
    out = [Text(f"  build   {', '.join(facts)}")]
    out += [Text(f"    note: {clean(note)}") for note in build.notes]
    if failed or "warning" in build.log:
        out += [Text(f"    {line}", style="dim") for line in clean(build.log).rstrip().splitlines()]
    return out


def _case_lines(cases: Sequence[CaseJudgement]) -> list[Text]:
    if not cases:
        return []
    failed = _failed(cases)
    tests = [case for case in cases if case.group != "benchmark"]
    counts = [(tests, "accepted")] if tests else []
    if len(tests) < len(cases):
        counts.append(([case for case in cases if case.group == "benchmark"], "benchmarks accepted"))
    told = [f"{len(some) - len(_failed(some))} of {len(some)} {what}" for some, what in counts]
    out = [Text(f"  cases   {', '.join(told)}")]
    for number, case in enumerate(failed[:_SHOWN_CASES]):
        # Of a call that did not return, no time is known.
        took = f", {case.wall_s:.3g} s" if case.wall_s else ""
        sizes = f"{case.name}, " if case.sizes else ""
        line = f"    {case.verdict.value:<4}{case.id} ({sizes}{case.group}{took})"
        out.append(Text(line, style="red"))
        if number >= _DETAILED_CASES:
            continue
        if case.description:
            out.append(Text(f"        this case: {clean(case.description)}"))
        if case.message and case.message not in [fault.message for fault in case.memory_errors]:
            out += [Text(f"        {text}") for text in clean(case.message).splitlines()]
        if case.mismatch is not None:
            out += [Text(f"        {text}") for text in _mismatch_lines(case.mismatch)]
        # What the message says already is not repeated.
        said = clean(case.message) if case.message not in [fault.message for fault in case.memory_errors] else ""
        out += [Text(f"        {text}") for text in _fault_lines(case.memory_errors) if text not in said]
        if case.group != "custom":
            out += [Text(f"        {text}") for text in _array_lines(case.shown)]
    if len(failed) > _SHOWN_CASES:
        out.append(Text(f"    and {len(failed) - _SHOWN_CASES} more"))
    warned = [case for case in cases if case.verdict is Verdict.ACCEPTED and case.memory_errors]
    if warned:
        count = f"{len(warned)} accepted case{'s' if len(warned) > 1 else ''}"
        what = faults_in_words([fault.kind for case in warned for fault in case.memory_errors])
        out.append(Text(f"    {count} {what}; in {warned[0].id}:", style="yellow"))
        out += [Text(f"        {text}") for text in _fault_lines(warned[0].memory_errors)]
    for case in cases:
        if case.group == "custom" and case.shown:
            out += [Text("  your input"), *(Text(f"    {text}") for text in _array_lines(case.shown))]
    return out + _output_lines(cases)


def _array_lines(arrays: Sequence[ShownArray]) -> list[str]:
    """Returns the arguments of a public case, each on a line: its first elements."""
    names = [array.name if array.role == "input" else f"{array.name} {array.role}" for array in arrays]
    width = max((len(name) for name in names), default=0)
    out = []
    for name, array in zip(names, arrays, strict=True):
        values = " ".join(f"{value:.6g}" if isinstance(value, float) else str(value) for value in array.values)
        shape = " × ".join(str(extent) for extent in array.shape)
        rest = " …" if math.prod(array.shape) > len(array.values) else ""
        out.append(f"{name.ljust(width)}  {f'({shape}) ' if shape else ''}{values}{rest}")
    return out


def _output_lines(cases: Sequence[CaseJudgement]) -> list[Text]:
    """Returns the program's output, case by case."""
    out: list[Text] = []
    printing = [case for case in cases if case.output]
    for case in printing[:_SHOWN_OUTPUTS]:
        out.append(Text(f"  printed in {case.id}"))
        lines = clean(case.output).rstrip("\n").split("\n")
        out += [Text(f"    {line}", style="dim") for line in lines[:_OUTPUT_LINES]]
        if len(lines) > _OUTPUT_LINES:
            out.append(Text(f"    … {len(lines) - _OUTPUT_LINES} more lines: --json has them"))
    if len(printing) > _SHOWN_OUTPUTS:
        out.append(Text(f"  {len(printing) - _SHOWN_OUTPUTS} more cases printed something: --json has it"))
    return out


def _mismatch_lines(mismatch: Mismatch) -> list[str]:
    errors = [
        f"largest {kind} error {error:.3g}"
        for kind, error in (("absolute", mismatch.max_abs_error), ("relative", mismatch.max_rel_error))
        if error is not None
    ]
    # The case's message already gives the number of wrong elements.
    out = [", ".join(errors)] if errors else []
    shown = zip(mismatch.indices, mismatch.expected, mismatch.got, strict=False)
    for number, (index, expected, got) in enumerate(shown):
        position = ", ".join(str(axis) for axis in index)
        excess = mismatch.excess(number)
        out.append(f"  {mismatch.output}[{position}]: expected {expected}, got {got}{excess and f' ({excess})'}")
    if mismatch.map is not None:
        out.append(f"  map of {mismatch.output} ({mismatch.map.height} × {mismatch.map.width}): . right, 9 all wrong")
        out += [f"    {row.replace('0', '.')}" for row in mismatch.map.cells]
    return out


def _fault_lines(faults: Sequence[MemoryFault]) -> list[str]:
    out = []
    for fault in faults[:_SHOWN_FAULTS]:
        text = fault.message or fault.kind
        where = f"{fault.file}:{fault.line}" if fault.file else ""
        if where and where not in text:
            text = f"{where}: {text}"
        if fault.thread and "thread" not in text:
            text += f" (thread {_triple(fault.thread)} of block {_triple(fault.block)})"
        out.append(clean(text))
    if len(faults) > _SHOWN_FAULTS:
        out.append(f"and {len(faults) - _SHOWN_FAULTS} more places")
    return out


def _triple(values: Sequence[int] | None) -> str:
    return f"({', '.join(str(value) for value in values)})" if values else "?"


def _measurement_lines(measurement: Measurement, name: str = "score") -> list[Text]:
    facts = [format_score(measurement.value)]
    if measurement.metric == "modelled_time_s":
        facts.append(f"modelled on {str(measurement.gpu).upper()}")
    interval = format_interval(measurement.value, measurement.low, measurement.high)
    if interval:
        facts.append(f"95 % within {interval} over {measurement.runs} runs")
    elif measurement.metric == "time_s":
        facts.append(f"±{measurement.spread * 100:.2g} % over {measurement.runs} runs")
    if measurement.roofline_share is not None:
        facts.append(f"{measurement.roofline_share:.0%} {ROOFLINE}")
    if measurement.gb_per_s is not None:
        facts.append(f"{measurement.gb_per_s:.4g} GB/s")
    if measurement.gflop_per_s is not None:
        facts.append(f"{measurement.gflop_per_s:.4g} GFLOP/s")
    out = [Text(f"  {name:<7} {', '.join(facts)}")]
    for case in measurement.cases:
        if isinstance(case, ModelledCase):
            out += _modelled_time_lines(case)
    return out


def _modelled_time_lines(case: ModelledCase) -> list[Text]:
    """Returns the limiter of a modelled time and the source lines that take most of it."""
    reasons = [clean(reason) for reason in case.why[:_SHOWN_REASONS]]
    out = [Text(f"{'  why     ' if number == 0 else '          '}{reason}") for number, reason in enumerate(reasons)]
    hot = [line for line in case.lines if line.share >= _LEAST_SHARE][:_SHOWN_LINES]
    if hot:
        lines = ", ".join(f"{clean(line.file)}:{line.line} {line.share:.0%}" for line in hot)
        out.append(Text(f"  lines   {lines}"))
    return out
