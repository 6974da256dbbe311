"""Prints a profile of Nsight Compute for people, the model's figures beside the measured ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from cli.console import clean
from cli.scores import format_score
from judge.measurements import ModelledCase, ModelledLine
from judge.profile import PARTS, MeasuredCase, MeasuredKernel, MeasuredLine, Profile

_SHOWN_KERNELS, _SHOWN_LINES, _SHOWN_STATES = 4, 8, 5
#: Lines with a smaller share of the samples are left out.
_LEAST_SHARE = 0.01
#: The columns of the table with both.
_WIDTHS = (10, 10, 12, 22, 9, 9)


def profile_lines(profile: Profile, source: str) -> Iterator[str]:
    """Yields the lines of a terminal. ``source`` is the text whose lines are named."""
    text = source.splitlines()
    yield f"{clean(profile.gpu)}, measured by {clean(profile.tool)}"
    for number, case in enumerate(profile.cases):
        modelled = profile.modelled if case is profile.beside_model else None
        yield ""
        beside = f", beside the model of {profile.modelled_gpu}" if modelled is not None else ""
        yield f"{clean(case.name)}: {format_score(case.seconds)} in kernels{beside}"
        if case.left_out:
            yield "  Only its first launches were profiled."
        if modelled is not None:
            yield from _beside(case, modelled)
        if number == 0:
            for kernel in case.kernels[:_SHOWN_KERNELS]:
                yield from _kernel(kernel)
        yield from _lines(case, text, modelled)
    if profile.not_modelled:
        yield ""
        yield f"No figures of the model: {clean(profile.not_modelled)}"


def _kernel(kernel: MeasuredKernel) -> Iterator[str]:
    times = f"{kernel.launches} x " if kernel.launches > 1 else ""
    shape = f"grid {_shape(kernel.grid)}, block {_shape(kernel.block)}"
    yield f"  {clean(kernel.kernel)}: {times}{shape}: {format_score(kernel.seconds)} ({kernel.share:.0%})"
    limiter = f"limited by {kernel.limiter}" if kernel.limiter else "limiter not known"
    yield _row("speed of light", [limiter, *(f"{name} {share:.0%}" for name, share in _ordered(kernel.busy))])
    yield _row("memory", _memory(kernel.memory))
    yield _row("warp states", _states(kernel.states, per=" clocks"))
    facts = [
        f"{kernel.occupancy:.0%} of warps fit" if kernel.occupancy is not None else "",
        f"{kernel.reached_occupancy:.0%} were there" if kernel.reached_occupancy is not None else "",
        f"{kernel.registers} registers" if kernel.registers is not None else "",
        f"{kernel.shared_bytes:,} bytes of shared memory" if kernel.shared_bytes is not None else "",
        f"{kernel.active_lanes:.0%} of lanes active" if kernel.active_lanes is not None else "",
    ]
    yield _row("occupancy", facts)


def _ordered(busy: Mapping[str, float]) -> list[tuple[str, float]]:
    return [(name, busy[name]) for name in PARTS if name in busy]


def _memory(memory: Mapping[str, float]) -> Iterator[str]:
    for name, number in memory.items():
        yield f"{name} {number:.0%}" if name.endswith("hits") else f"{name.removesuffix(' bytes')} {_size(number)}"


def _states(states: Mapping[str, float], per: str = "") -> Iterator[str]:
    for name, number in list(states.items())[:_SHOWN_STATES]:
        yield f"{name} {number:.3g}{per}" if per else f"{name} {number:.0%}"


def _lines(case: MeasuredCase, text: list[str], modelled: ModelledCase | None) -> Iterator[str]:
    shown = [line for line in case.lines if line.share >= _LEAST_SHARE][:_SHOWN_LINES]
    if not shown:
        yield "  No lines: the profiler took no samples."
        return
    by_model = {} if modelled is None else {(line.file, line.line): line for line in modelled.lines}
    model = "" if modelled is None else "  modelled"
    yield f"  {'samples':>8}{model}  {'lanes':>6} {'sectors':>8} {'banks':>6}  line"
    for line in shown:
        beside = by_model.get((line.file, line.line))
        yield f"  {line.share:>8.1%}{_share(beside, modelled)}  {_columns(line)}  {_place(line, text)}"
        yield f"  {'':>8}  waits: {', '.join(_states(line.states))}"


def _share(line: ModelledLine | None, modelled: ModelledCase | None) -> str:
    if modelled is None:
        return ""
    return f"  {'-' if line is None else f'{line.share:.1%}':>8}"


def _columns(line: MeasuredLine) -> str:
    lanes = "-" if line.active_lanes is None else f"{line.active_lanes:.0%}"
    sectors = _multiple(line.global_sectors, line.global_sectors_ideal)
    return f"{lanes:>6} {sectors:>8} {_multiple(line.shared_wavefronts, line.shared_wavefronts_ideal):>6}"


def _place(line: MeasuredLine, text: list[str]) -> str:
    if not line.file:
        return "no line known"
    code = text[line.line - 1].strip()[:80] if line.file.endswith(".cu") and 0 < line.line <= len(text) else ""
    return clean(f"{line.file}:{line.line}  {code}").rstrip()


def _beside(case: MeasuredCase, modelled: ModelledCase) -> Iterator[str]:
    """Yields a table of what both say of each kernel."""
    heads = ("time", "modelled", "limited by", "modelled", "DRAM", "modelled")
    yield f"  {'kernel':<24} " + " ".join(f"{head:>{width}}" for head, width in zip(heads, _WIDTHS, strict=True))
    by_model = {kernel.kernel: kernel for kernel in modelled.kernels}
    for kernel in case.kernels[:_SHOWN_KERNELS]:
        model = by_model.get(kernel.kernel)
        dram = sum(number for name, number in kernel.memory.items() if name.startswith("DRAM"))
        time, limiter, moved = "-", "-", "-"
        if model is not None:
            time, limiter, moved = format_score(model.seconds), model.limiter, _size(model.dram_bytes)
        cells = (format_score(kernel.seconds), time, kernel.limiter, limiter, _size(dram * kernel.launches), moved)
        row = " ".join(f"{cell:>{width}}" for cell, width in zip(cells, _WIDTHS, strict=True))
        yield f"  {clean(kernel.kernel)[:24]:<24} {row}"


def _multiple(count: int, ideal: int) -> str:
    return f"{count / ideal:.2g}x" if count and ideal else "-"


def _row(name: str, facts: Iterable[str]) -> str:
    return f"    {name:<15} {', '.join(fact for fact in facts if fact) or 'not measured'}"


def _size(number: float) -> str:
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if number >= size:
            return f"{number / size:.3g} {unit}"
    return f"{number:.0f} B"


def _shape(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
