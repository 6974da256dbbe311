"""Makes figures of the pages of a report.

Metrics come and go with GPUs and versions of Nsight Compute, so each may be missing; numbers are bounded, since the
submission's process could have written the report.
"""

from __future__ import annotations

import csv
import io
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from judge.compile.source_files import own_name
from judge.gpu.nsight.report import ReportPages
from judge.gpu.nsight.tool import NoProfile
from judge.profile import MeasuredCase, MeasuredKernel, MeasuredLine
from records import dataclass

Row = Mapping[str, str]
_MOST_KERNELS, _MOST_LINES, _NAME_CHARACTERS = 16, 40, 200
_LARGEST = float(1 << 53)
#: The most rows that are read of a page, and what is kept of the states of a warp.
_MOST_ROWS, _MOST_STATES, _STATE_CHARACTERS = 1 << 18, 32, 40
_WARP = 32
#: Shares of the most that a part can do, in per cent: the first metric that is there counts.
_BUSY = {
    "compute": ("sm__throughput.avg.pct_of_peak_sustained_elapsed",),
    "memory": ("gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed",),
    "L1": ("l1tex__throughput.avg.pct_of_peak_sustained_elapsed", "l1tex__throughput.avg.pct_of_peak_sustained_active"),
    "L2": ("lts__throughput.avg.pct_of_peak_sustained_elapsed",),
    "DRAM": (
        "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",
        "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    ),
}
_HITS = {"L1 hits": "l1tex__t_sector_hit_rate.pct", "L2 hits": "lts__t_sector_hit_rate.pct"}
#: Traffic in bytes: the sum of the metrics that match, in units of so many bytes.
_BYTES = {
    "shared bytes": (re.compile(r"l1tex__data_pipe_lsu_wavefronts_mem_shared\.sum"), 128),
    "L1 bytes": (re.compile(r"l1tex__t_sectors_pipe_lsu_mem_(global|local)_op_(ld|st|atom|red)\.sum"), 32),
    "L2 bytes": (re.compile(r"lts__t_sectors\.sum"), 32),
    "DRAM read bytes": (re.compile(r"dram__bytes_read\.sum"), 1),
    "DRAM written bytes": (re.compile(r"dram__bytes_write\.sum"), 1),
}
_STATE = re.compile(r"smsp__average_warps_issue_stalled_(\w+?)_per_issue_active\.ratio")
_STALL = re.compile(r"stall_(\w+)")
#: The names of states that people know, by those of metrics and of columns.
STATES = {
    "long_scoreboard": "memory", "long_sb": "memory", "short_scoreboard": "shared memory", "short_sb": "shared memory",
    "barrier": "barrier", "branch_resolving": "branch", "dispatch_stall": "dispatch", "dispatch": "dispatch",
    "drain": "stores at the end", "imc_miss": "constant cache", "imc": "constant cache",
    "lg_throttle": "memory queue full", "lg": "memory queue full",
    "math_pipe_throttle": "arithmetic unit busy", "math": "arithmetic unit busy",
    "membar": "memory fence", "mio_throttle": "shared memory queue full", "mio": "shared memory queue full",
    "misc": "other", "no_instruction": "instruction cache", "no_inst": "instruction cache",
    "not_selected": "another warp issues", "selected": "issues", "sleeping": "sleeping", "sleep": "sleeping",
    "tex_throttle": "texture queue full", "tex": "texture queue full", "wait": "fixed latency", "gmma": "tensor cores",
    "warpgroup_arrive": "warp group",
}  # fmt: skip
_SAMPLES = ("Warp Stall Sampling (All Samples)", "# Samples")
_SHAPE = re.compile(r"\d+")
_DIGITS = re.compile(r"[0-9]{1,9}")


def read_case(case_id: str, sizes: Mapping[str, int], pages: ReportPages, most_launches: int) -> MeasuredCase:
    """Returns the figures of a call that may have been cut after ``most_launches``. Raises NoProfile."""
    try:
        launches = [_launch(row) for row in _raw_rows(pages.raw)]
        lines = _lines(pages.source)
    except csv.Error as error:
        raise NoProfile(f"the report cannot be read: {error}") from None
    if not launches:
        raise NoProfile("the report has no kernel in it")
    return MeasuredCase(
        id=case_id,
        sizes=dict(sizes),
        kernels=_kernels(launches),
        lines=lines,
        left_out=len(launches) >= most_launches,
    )


@dataclass(frozen=True, slots=True)
class _Launch:
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    numbers: Mapping[str, float]

    def first(self, names: Iterable[str]) -> float | None:
        """Returns the first of these metrics that is there."""
        return next((self.numbers[name] for name in names if name in self.numbers), None)


def _raw_rows(page: str) -> list[Row]:
    """Returns the rows of the page with all metrics, without that of the units."""
    rows = [row for row in _rows(page) if row]
    heads = [index for index, row in enumerate(rows) if row[0] == "ID"]
    if not heads:
        return []
    head = rows[heads[0]]
    return [dict(zip(head, row, strict=False)) for row in rows[heads[0] + 1 :] if _DIGITS.fullmatch(row[0])]


def _rows(page: str) -> Iterator[list[str]]:
    """Yields the rows of a page's table. Raises NoProfile after the most, and csv.Error."""
    for count, row in enumerate(csv.reader(io.StringIO(_table(page)))):
        if count >= _MOST_ROWS:
            raise NoProfile(f"the report has more than {_MOST_ROWS:,} rows: profile a case with fewer launches")
        yield row


def _table(page: str) -> str:
    """Returns the lines of a page that are part of its table."""
    return "\n".join(line for line in page.replace("\0", "").splitlines() if line.startswith('"'))


def _launch(row: Row) -> _Launch:
    numbers = {name: number for name, text in row.items() if (number := _number(text)) is not None}
    return _Launch(
        row.get("Kernel Name", "")[:_NAME_CHARACTERS],
        _shape(row.get("Grid Size", "")),
        _shape(row.get("Block Size", "")),
        numbers,
    )


def _number(text: str | None) -> float | None:
    """Returns a figure of the tool; None for text, for what is missing, and for what no counter says."""
    try:
        number = float((text or "").replace(",", ""))
    except ValueError:
        return None
    return number if math.isfinite(number) and 0 <= number <= _LARGEST else None


def _shape(text: str) -> tuple[int, ...]:
    sizes = [min(int(each), 1 << 31) for each in _SHAPE.findall(text[:100])][:3]
    return (*sizes, *([1] * (3 - len(sizes))))


def _kernels(launches: Sequence[_Launch]) -> tuple[MeasuredKernel, ...]:
    groups: dict[object, list[_Launch]] = {}
    for launch in launches:
        groups.setdefault((launch.kernel, launch.grid, launch.block), []).append(launch)
    whole_s = sum(_seconds(launch) for launch in launches)
    made = [_kernel(group, whole_s) for group in groups.values()]
    return tuple(sorted(made, key=lambda kernel: -kernel.seconds)[:_MOST_KERNELS])


def _seconds(launch: _Launch) -> float:
    return 1e-9 * (launch.first(("gpu__time_duration.sum", "gpu__time_duration.avg")) or 0.0)


def _kernel(launches: Sequence[_Launch], whole_s: float) -> MeasuredKernel:
    one, seconds = launches[0], sum(_seconds(launch) for launch in launches)

    def mean(*names: str) -> float | None:
        found = [number for launch in launches if (number := launch.first(names)) is not None]
        return sum(found) / len(found) if found else None

    def means(metrics: Mapping[str, Sequence[str]], scale: float = 1.0) -> dict[str, float]:
        found = {name: mean(*metric) for name, metric in metrics.items()}
        return {name: scale * number for name, number in found.items() if number is not None}

    memory = means({name: (metric,) for name, metric in _HITS.items()}, 0.01)
    for name, (pattern, size_bytes) in _BYTES.items():
        found = [mean(metric) or 0.0 for metric in one.numbers if pattern.fullmatch(metric)]
        memory |= {name: size_bytes * sum(found)} if found else {}
    lanes = mean("smsp__thread_inst_executed_per_inst_executed.ratio")
    registers = mean("launch__registers_per_thread")
    shared = means({part: (f"launch__shared_mem_per_block_{part}",) for part in ("static", "dynamic")})
    states: dict[str, float] = {}
    for metric in one.numbers:
        if state := _STATE.fullmatch(metric):
            name = _state(state[1])
            states[name] = states.get(name, 0.0) + (mean(metric) or 0.0)
    return MeasuredKernel(
        kernel=_kernel_name(one.kernel),
        grid=one.grid,
        block=one.block,
        launches=len(launches),
        seconds=seconds,
        share=seconds / whole_s if whole_s else 0.0,
        busy=means(_BUSY, 0.01),
        memory=memory,
        states=_longest(states),
        instructions=mean("smsp__inst_executed.sum", "inst_executed"),
        active_lanes=None if lanes is None else lanes / _WARP,
        occupancy=_hundredth(mean("sm__maximum_warps_per_active_cycle_pct")),
        reached_occupancy=_hundredth(mean("sm__warps_active.avg.pct_of_peak_sustained_active")),
        registers=None if registers is None else round(registers),
        shared_bytes=round(sum(shared.values())) if shared else None,
    )


def _state(name: str) -> str:
    return STATES.get(name, name[:_STATE_CHARACTERS])


def _longest(states: Mapping[str, float]) -> dict[str, float]:
    found = sorted(states.items(), key=lambda item: -item[1])[:_MOST_STATES]
    return {name: number for name, number in found if number > 0}


def _hundredth(number: float | None) -> float | None:
    return None if number is None else number / 100


def _kernel_name(name: str) -> str:
    """Returns a kernel's name without its parameters: ``add`` for ``add(const float *, int)``."""
    return name.partition("(")[0].removeprefix("void ").strip() or name


def _lines(page: str) -> tuple[MeasuredLine, ...]:
    """Returns the lines with most samples, summed over all launches."""
    sums: dict[tuple[str, int], dict[str, float]] = {}
    for file, line, numbers in _line_rows(page):
        kept = sums.setdefault((file, line), {})
        for name, number in numbers.items():
            kept[name] = kept.get(name, 0.0) + number
    whole = sum(_samples(numbers) for numbers in sums.values())
    made = [_line(file, line, numbers, whole) for (file, line), numbers in sums.items()]
    return tuple(sorted(made, key=lambda each: (-each.share, -each.instructions))[:_MOST_LINES])


def _line_rows(page: str) -> Iterator[tuple[str, int, Mapping[str, float]]]:
    """Yields the file, the line and the numbers of each row about a line; rows below are about its machine code."""
    file, head = "", list[str]()
    for row in _rows(page):
        if len(row) >= 2 and row[0] == "File Path":
            file, head = own_name(row[1])[:_NAME_CHARACTERS], []
        elif row and row[0] == "Line No":
            head = row
        elif head and row and _DIGITS.fullmatch(row[0]):
            numbers = {name: n for name, text in zip(head, row, strict=False) if (n := _number(text)) is not None}
            yield file, int(row[0]), numbers


def _samples(numbers: Mapping[str, float]) -> float:
    return next((numbers[name] for name in _SAMPLES if name in numbers), 0.0)


def _line(file: str, line: int, numbers: Mapping[str, float], whole: float) -> MeasuredLine:
    samples = _samples(numbers)
    instructions, threads = numbers.get("Instructions Executed", 0.0), numbers.get("Thread Instructions Executed")
    states: dict[str, float] = {}
    for name, number in numbers.items():
        found = _STALL.fullmatch(name)
        if found and number and samples:
            state = _state(found[1])
            states[state] = states.get(state, 0.0) + number / samples
    return MeasuredLine(
        file=file,
        line=line,
        share=samples / whole if whole else 0.0,
        instructions=int(instructions),
        active_lanes=threads / (_WARP * instructions) if instructions and threads is not None else None,
        global_sectors=int(numbers.get("L2 Theoretical Sectors Global", 0)),
        global_sectors_ideal=int(numbers.get("L2 Theoretical Sectors Global Ideal", 0)),
        shared_wavefronts=int(numbers.get("L1 Wavefronts Shared", 0)),
        shared_wavefronts_ideal=int(numbers.get("L1 Wavefronts Shared Ideal", 0)),
        states=_longest(states),
    )
