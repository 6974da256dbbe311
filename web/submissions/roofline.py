"""The roofline plot of a submission: how much arithmetic it does for each byte, and how fast, under the device's roofs.

The model is that of Williams, Waterman and Patterson, "Roofline: an insightful visual performance model" (2009). The
bytes and operations are those that the challenge says are needed, not those that the kernel moves or does.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from markupsafe import Markup

from emulator.model import Gpu, gpu_names, load_gpu
from judge.measurements import BenchmarkCase, Measurement
from judge.packs.steps import ReferenceStep
from web.formatting import percent, significant
from web.pictures.svg import Shape

#: A function from a value to a coordinate.
Scale = Callable[[float], float]
WIDTH, HEIGHT = 640, 300
LEFT, RIGHT, TOP, BOTTOM = 64, 16, 24, 258
#: How far apart names must be to be read.
LABEL_HEIGHT = 14
#: Of earlier submissions so many are drawn, the latest.
MOST_EARLIER = 50
#: What the model's table calls the units of an arithmetic type, where those are tensor cores.
_TENSOR = {"fp16": "f16", "bf16": "bf16", "tf32": "tf32", "int8": "int8"}


@dataclass(frozen=True, slots=True)
class Roof:
    """The rate of operations (1/s) that units can reach."""

    name: str
    flops_per_s: float


@dataclass(frozen=True, slots=True)
class Roofs:
    """A GPU's roofs: what its memory delivers (bytes/s), and what its units compute."""

    gpu: str
    bytes_per_s: float
    compute: tuple[Roof, ...]

    def ceiling(self, intensity: float) -> float:
        """Returns the operations per second that the roofs allow at an intensity in operations per byte."""
        return min(intensity * self.bytes_per_s, max(roof.flops_per_s for roof in self.compute))


@dataclass(frozen=True, slots=True)
class CasePoint:
    """A benchmark case: its operations per byte and per second, and the measured or modelled ceiling, if known."""

    name: str
    intensity: float
    flops_per_s: float
    ceiling: float | None


@dataclass(frozen=True, slots=True)
class RooflineView:
    """The plot, and a row for each of its points: name, operations per byte, rate, ceiling, share of it."""

    chart: Markup
    gpu: str
    rows: tuple[tuple[str, str, str, str, str], ...]
    #: The same of our own kernels for the challenge.
    steps: tuple[tuple[str, str, str, str, str], ...] = ()


def present_roofline(
    measurement: Measurement,
    arithmetic: str,
    earlier: Sequence[float],
    steps: Sequence[tuple[str, float]] = (),
) -> RooflineView | None:
    """Returns the plot; None for a score other than a time, or of cases without operations.

    ``arithmetic`` is the type that the challenge computes in, ``earlier`` the user's other scores on the board (s),
    ``steps`` the names and times (s) of our own kernels on the same GPU. Both are drawn where there is one case: a
    score over several is none of a single case.
    """
    cases = [case for case in measurement.cases if case.flops and case.bytes and case.value > 0]
    if not cases:
        return None
    roofs = find_roofs(measurement, arithmetic)
    points = [_point(case, roofs) for case in cases]
    faded: list[float] = []
    references: list[CasePoint] = []
    if len(points) == 1 and cases[0].flops:
        faded = [cases[0].flops / value for value in earlier[-MOST_EARLIER:] if value > 0]
        references = [
            dataclasses.replace(points[0], name=name, flops_per_s=cases[0].flops / time_s) for name, time_s in steps
        ]
    rows = tuple(_row(point) for point in points)
    title = "; ".join(f"{row[0]}: {row[1]} operations per byte, {row[2]}" for row in rows)
    return RooflineView(
        roofline_chart(roofs, points, faded, references, title),
        "" if roofs is None else roofs.gpu,
        rows,
        tuple(_row(point) for point in references),
    )


def comparable_steps(measurement: Measurement, steps: Sequence[ReferenceStep]) -> list[tuple[str, float]]:
    """Returns the names and times (s) of our kernels that were timed, or modelled, on the measurement's GPU."""
    if measurement.gpu is not None:
        gpu = load_gpu(measurement.gpu).name if measurement.gpu in gpu_names() else ""
        known = [(step.name, step.modelled) for step in steps]
    else:
        gpu = measurement.fingerprint.gpu or ""
        known = [(step.name, step.measured) for step in steps]
    return [(name, time.time_s) for name, time in known if time and time.device and gpu.startswith(time.device)]


def find_roofs(measurement: Measurement, arithmetic: str) -> Roofs | None:
    """Returns the roofs of the GPU that the time is modelled for or was measured on; None if they are unknown."""
    if measurement.gpu is not None:
        return roofs_of(load_gpu(measurement.gpu), arithmetic) if measurement.gpu in gpu_names() else None
    known = [load_gpu(name) for name in gpu_names()]
    found = [gpu for gpu in known if (measurement.fingerprint.gpu or "").startswith(gpu.name)]
    return roofs_of(found[0], arithmetic) if found else None


def roofs_of(gpu: Gpu, arithmetic: str) -> Roofs:
    """Returns a GPU's roofs: fused multiply-adds of single precision, and the units of the challenge's own type."""
    clocks = gpu.multiprocessors * gpu.clock_hz
    compute = [Roof("fp32", 2 * gpu.lanes_per_clock["fp32"] * clocks)]
    if arithmetic == "fp64":
        compute.append(Roof("fp64", 2 * gpu.lanes_per_clock["fp64"] * clocks))
    tensor = gpu.tensor_flops_per_clock.get(_TENSOR.get(arithmetic, ""))
    if tensor:
        compute.append(Roof(f"{arithmetic} tensor cores", tensor * clocks))
    return Roofs(gpu.name, gpu.memory.dram_bytes_per_s, tuple(compute))


def rate(flops_per_s: float) -> str:
    """Formats a rate: ``1.25 TFLOP/s``."""
    for factor, prefix in ((1e15, "P"), (1e12, "T"), (1e9, "G"), (1e6, "M")):
        if flops_per_s >= factor * 0.9995:
            return f"{significant(flops_per_s / factor)} {prefix}FLOP/s"
    return f"{significant(flops_per_s)} FLOP/s"


def _row(point: CasePoint) -> tuple[str, str, str, str, str]:
    """Returns a row of the table: name, operations per byte, rate, ceiling, share of it."""
    ceiling = point.ceiling
    return (
        point.name,
        significant(point.intensity),
        rate(point.flops_per_s),
        "–" if ceiling is None else rate(ceiling),
        "–" if ceiling is None else percent(point.flops_per_s / ceiling),
    )


def _point(case: BenchmarkCase, roofs: Roofs | None) -> CasePoint:
    assert case.flops
    intensity = case.flops / case.bytes
    # The calibrated ceiling is better than the model's.
    if case.roofline_s:
        ceiling: float | None = case.flops / case.roofline_s
    else:
        ceiling = None if roofs is None else roofs.ceiling(intensity)
    return CasePoint(case.name, intensity, case.flops / case.value, ceiling)


def roofline_chart(
    roofs: Roofs | None,
    points: Sequence[CasePoint],
    earlier: Sequence[float],
    steps: Sequence[CasePoint],
    title: str,
) -> Markup:
    """Draws the points under the roofs on two logarithmic axes, with ``earlier`` rates (1/s) faded above the first.

    ``steps`` are diamonds with their names. Returns an empty string without points.
    """
    if not points:
        return Markup("")
    rates = [*(point.flops_per_s for point in (*points, *steps)), *(point.ceiling or 0.0 for point in points), *earlier]
    ridges = [] if roofs is None else [roof.flops_per_s / roofs.bytes_per_s for roof in roofs.compute]
    first, last = _decades([point.intensity for point in points] + ridges)
    highest = [roof.flops_per_s for roof in roofs.compute] if roofs else []
    low, high = _decades([each for each in rates if each > 0] + highest)

    def to_x(intensity: float) -> float:
        return round(LEFT + (math.log10(intensity) - first) / (last - first) * (WIDTH - LEFT - RIGHT), 1)

    def to_y(flops_per_s: float) -> float:
        at = BOTTOM - (math.log10(flops_per_s) - low) / (high - low) * (BOTTOM - TOP)
        return round(min(max(at, TOP), BOTTOM), 1)

    head = Shape('<svg class="strip roofline" viewBox="0 0 {} {}" role="img"><title>{}</title>')
    parts = [head.format(WIDTH, HEIGHT, title)]
    for decade in range(first, last + 1):
        line = Shape('<line class="grid" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>')
        parts += [line.format(to_x(10.0**decade), TOP, BOTTOM), _text(to_x(10.0**decade), BOTTOM + 17, _power(decade))]
    for decade in range(low, high + 1):
        line = Shape('<line class="grid" x1="{1}" x2="{2}" y1="{0}" y2="{0}"/>')
        label = rate(10.0**decade).replace("FLOP/s", "")
        parts += [
            line.format(to_y(10.0**decade), LEFT, WIDTH - RIGHT),
            _text(LEFT - 8, to_y(10.0**decade) + 4, label, "end"),
        ]
    parts.append(_text(WIDTH - RIGHT, HEIGHT - 6, "operations per byte", "end"))
    parts.append(_text(0, TOP - 8, "operations per second (FLOP/s)", "start"))
    if roofs is not None:
        parts += _roofs(roofs, to_x, to_y, 10.0**first, 10.0**last, 10.0**low)
    for point in points:
        if point.ceiling is not None:
            stem = Shape('<line class="gap" x1="{0}" x2="{0}" y1="{1}" y2="{2}"/>')
            parts.append(stem.format(to_x(point.intensity), to_y(point.ceiling), to_y(point.flops_per_s)))
    dot = Shape('<circle class="{}" cx="{}" cy="{}" r="{}"><title>{}</title></circle>')
    parts += [dot.format("earlier", to_x(points[0].intensity), to_y(each), 3.5, rate(each)) for each in earlier]
    parts += _steps(steps, to_x, to_y)
    for point in points:
        label = f"{point.name}: {rate(point.flops_per_s)}"
        parts.append(dot.format("current", to_x(point.intensity), to_y(point.flops_per_s), 5.5, label))
    return Markup("").join([*parts, Markup("</svg>")])


def _roofs(roofs: Roofs, to_x: Scale, to_y: Scale, first: float, last: float, lowest: float) -> list[Markup]:
    """Returns the slope of the memory up to the highest roof, and each roof from where it meets the slope."""
    parts = []
    top = max(roof.flops_per_s for roof in roofs.compute)
    begin = max(first, lowest / roofs.bytes_per_s)
    path = Shape('<path class="roof" d="M{} {}L{} {}"/>')
    ridge = top / roofs.bytes_per_s
    parts.append(path.format(to_x(begin), to_y(begin * roofs.bytes_per_s), to_x(ridge), to_y(top)))
    middle = math.sqrt(begin * ridge)
    memory = f"memory, {significant(roofs.bytes_per_s / 1e12)} TB/s"
    parts.append(_text(to_x(middle) - 8, to_y(middle * roofs.bytes_per_s) - 6, memory, "end"))
    for roof in roofs.compute:
        meets = roof.flops_per_s / roofs.bytes_per_s
        parts.append(path.format(to_x(meets), to_y(roof.flops_per_s), to_x(last), to_y(roof.flops_per_s)))
        label = f"{roof.name}, {rate(roof.flops_per_s)}"
        parts.append(_text(WIDTH - RIGHT, to_y(roof.flops_per_s) - 6, label, "end"))
    return parts


def _steps(steps: Sequence[CasePoint], to_x: Scale, to_y: Scale) -> list[Markup]:
    """Returns a diamond for each step; where names would cover each other, only the first is written."""
    parts, written = [], list[float]()
    for step in steps:
        x, y = to_x(step.intensity), to_y(step.flops_per_s)
        diamond = Shape('<path class="step" d="M{} {}l5 -5 5 5 -5 5z"><title>{}: {}</title></path>')
        parts.append(diamond.format(round(x - 5, 1), y, step.name, rate(step.flops_per_s)))
        if all(abs(y - other) >= LABEL_HEIGHT for other in written):
            written.append(y)
            near_end = x > WIDTH - RIGHT - 180
            parts.append(_text(x - 12 if near_end else x + 12, y + 4, step.name, "end" if near_end else "start"))
    return parts


def _decades(values: Sequence[float]) -> tuple[int, int]:
    """Returns the exponents of 10 around positive values, at least two apart."""
    low, high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
    return (low, high) if high - low >= 2 else (low - 1, low + 1 if high <= low + 1 else high)


def _power(decade: int) -> str:
    return f"{10**decade:,}" if decade >= 0 else f"{10.0**decade:.{-decade}f}"


def _text(x: float, y: float, text: str, anchor: str = "middle") -> Markup:
    return Shape('<text x="{}" y="{}" text-anchor="{}">{}</text>').format(x, y, anchor, text)
