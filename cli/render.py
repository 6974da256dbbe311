"""A judgement (the JSON object that judge, API and database share) for people to read, on stdout."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from cli.console import clean, stdout
from judge.interval import ROOFLINE, interval_digits
from judge.verdict import Verdict

_SHOWN_CASES = 12
#: Those beyond it have their verdict alone: the first to fail is the one to look at.
_DETAILED_CASES = 3
_SHOWN_FAULTS = 5
_SHOWN_REASONS = 5
_SHOWN_LINES = 5
#: Of the modelled time: lines below it are not told.
_HOT = 0.05


def print_judgement(judgement: dict[str, Any]) -> None:
    """The verdict, the build, what failed and the score."""
    console = stdout()
    for line in lines(judgement):
        console.print(line)


def lines(judgement: dict[str, Any]) -> list[Text]:
    """The same, as lines."""
    verdict = Verdict(judgement["verdict"])
    device = judgement.get("device") or {}
    head = Text(
        f"{verdict.value}  {verdict.in_words}", style="bold green" if verdict is Verdict.ACCEPTED else "bold red"
    )
    challenge = f"{judgement['challenge']} {judgement['pack_version']} on {device.get('key', '?')}"
    name = device.get("name")
    out = [head, Text(f"  {challenge} ({name})" if name and name != device.get("key") else f"  {challenge}")]
    if not _said_below(judgement):
        out += [Text(f"  {line}") for line in clean(judgement.get("message") or "").splitlines()]
    out += _build_lines(judgement.get("build") or {}, failed=verdict is Verdict.COMPILE_ERROR)
    out += _case_lines(judgement.get("cases") or [])
    out += _measurement_lines(judgement.get("measurement"))
    return out


def _said_below(judgement: dict[str, Any]) -> bool:
    """Whether the message is only what the compiler's output or a failed case says anyway."""
    message = judgement.get("message")
    if message and judgement["verdict"] == Verdict.COMPILE_ERROR.value:
        return message in (judgement.get("build") or {}).get("log", "")
    return message in [case.get("message") for case in _failed(judgement.get("cases") or [])[:_DETAILED_CASES]]


def _failed(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [case for case in cases if case["verdict"] != "AC"]


def _build_lines(build: dict[str, Any], *, failed: bool) -> list[Text]:
    if not build:
        return []
    facts = [f"{build['wall_s']:.2f} s" + (" (kept from before)" if build.get("cached") else "")]
    if build.get("registers") is not None:
        facts.append(f"{build['registers']} registers")
    if build.get("spills") is not None:
        facts.append(f"{build['spills']} bytes spilled")
    out = [Text(f"  build   {', '.join(facts)}")]
    if failed or "warning" in build.get("log", ""):
        out += [Text(f"    {line}", style="dim") for line in clean(build.get("log", "")).rstrip().splitlines()]
    return out


def _case_lines(cases: list[dict[str, Any]]) -> list[Text]:
    if not cases:
        return []
    failed = _failed(cases)
    out = [Text(f"  cases   {len(cases) - len(failed)} of {len(cases)} accepted")]
    for number, case in enumerate(failed[:_SHOWN_CASES]):
        line = f"    {case['verdict']:<4}{case['id']} ({case['group']}, {case['wall_s']:.3g} s)"
        out.append(Text(line, style="red"))
        if number >= _DETAILED_CASES:
            continue
        faults = case.get("memory_errors") or []
        if case.get("message") and case["message"] not in [fault.get("message") for fault in faults]:
            out += [Text(f"        {text}") for text in clean(case["message"]).splitlines()]
        out += [Text(f"        {text}") for text in _mismatch_lines(case.get("mismatch"))]
        out += [Text(f"        {text}") for text in _fault_lines(faults)]
    if len(failed) > _SHOWN_CASES:
        out.append(Text(f"    and {len(failed) - _SHOWN_CASES} more"))
    warned = [case for case in cases if case["verdict"] == "AC" and case.get("memory_errors")]
    if warned:
        count = f"{len(warned)} accepted case{'s' if len(warned) > 1 else ''}"
        kinds = {str(fault.get("kind")) for case in warned for fault in case["memory_errors"]}
        strayed = all(kind.startswith("out-of-bounds") for kind in kinds)
        what = "touched memory outside the buffers" if strayed else "went wrong somewhere"
        out.append(Text(f"    {count} {what}; {warned[0]['id']}:", style="yellow"))
        out += [Text(f"        {text}") for text in _fault_lines(warned[0]["memory_errors"])]
    return out


def _mismatch_lines(mismatch: dict[str, Any] | None) -> list[str]:
    if not mismatch:
        return []
    errors = [
        f"largest {kind} error {mismatch[key]:.3g}"
        for kind, key in (("absolute", "max_abs_error"), ("relative", "max_rel_error"))
        if mismatch.get(key) is not None
    ]
    # The case's message has said how many differ.
    out = [", ".join(errors)] if errors else []
    for index, expected, got in zip(mismatch["indices"], mismatch["expected"], mismatch["got"], strict=False):
        position = ", ".join(str(number) for number in index)
        out.append(f"  {mismatch['output']}[{position}]: expected {expected}, got {got}")
    return out


def _fault_lines(faults: list[dict[str, Any]]) -> list[str]:
    out = []
    for fault in faults[:_SHOWN_FAULTS]:
        told = str(fault.get("message") or fault["kind"])
        where = f"{fault['file']}:{fault['line']}" if fault.get("file") else ""
        if where and where not in told:
            told = f"{where}: {told}"
        if fault.get("thread") and "thread" not in told:
            told += f" (thread {_triple(fault['thread'])} of block {_triple(fault['block'])})"
        out.append(clean(told))
    if len(faults) > _SHOWN_FAULTS:
        out.append(f"and {len(faults) - _SHOWN_FAULTS} more places")
    return out


def _triple(values: list[int] | None) -> str:
    return f"({', '.join(str(value) for value in values)})" if values else "?"


def _measurement_lines(measurement: dict[str, Any] | None) -> list[Text]:
    if not measurement:
        return []
    facts = [format_score(measurement["metric"], measurement["value"])]
    if measurement["metric"] == "modelled_time_s":
        facts.append(f"modelled on {str(measurement.get('gpu')).upper()}")
    interval = format_interval(measurement)
    if interval:
        facts.append(f"95 % within {interval} over {measurement['runs']} runs")
    elif measurement["metric"] == "time_s":
        facts.append(f"±{measurement['spread'] * 100:.2g} % over {measurement['runs']} runs")
    if measurement.get("roofline_share") is not None:
        facts.append(f"{measurement['roofline_share']:.0%} {ROOFLINE}")
    if measurement.get("gb_per_s") is not None:
        facts.append(f"{measurement['gb_per_s']:.4g} GB/s")
    if measurement.get("gflop_per_s") is not None:
        facts.append(f"{measurement['gflop_per_s']:.4g} GFLOP/s")
    out = [Text(f"  score   {', '.join(facts)}")]
    for case in measurement.get("cases") or []:
        out += _slowness_lines(case)
    return out


def _slowness_lines(case: dict[str, Any]) -> list[Text]:
    """Why it is slow, of a case with a modelled time: the reasons, and the lines that most of the time goes to."""
    reasons = [clean(str(reason)) for reason in (case.get("why") or [])[:_SHOWN_REASONS]]
    out = [Text(f"{'  why     ' if number == 0 else '          '}{reason}") for number, reason in enumerate(reasons)]
    hot = [line for line in case.get("lines") or [] if line["share"] >= _HOT][:_SHOWN_LINES]
    if hot:
        lines = ", ".join(f"{clean(str(line['file']))}:{line['line']} {line['share']:.0%}" for line in hot)
        out.append(Text(f"  lines   {lines}"))
    return out


def format_score(metric: str, value: float) -> str:
    """A score with its unit: times, measured or modelled, in ms or µs; warp instructions whole."""
    if metric == "warp_instructions":
        return f"{value:,.0f} warp instructions"
    return f"{value * 1e3:.4g} ms" if value >= 1e-3 else f"{value * 1e6:.4g} µs"


def format_interval(measured: dict[str, Any]) -> str:
    """The ends of a time's 95 % interval, of a measurement or an entry on a board; empty where it has none."""
    low, high = measured.get("low"), measured.get("high")
    if low is None or high is None:
        return ""
    digits = interval_digits(low, high)
    factor, unit = (1e3, "ms") if measured["value"] >= 1e-3 else (1e6, "µs")
    return f"{low * factor:.{digits}g} to {high * factor:.{digits}g} {unit}"
