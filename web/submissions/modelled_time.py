"""Presentation of a modelled time: what limits it, and the kernels and lines that take most of it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup

from emulator.model import gpu_names, load_gpu
from emulator.model.why import topic_of
from judge.compile.source_files import ONE_FILE, OwnLines
from judge.measurements import Measurement, ModelledCase, ModelledKernel, ModelledLine
from web.bottlenecks.page import BottleneckPage, find_page
from web.formatting import percent, seconds, significant, size, whole

_LINE = re.compile(r"\b(?:line |([\w./+-]{1,500}):)(\d+)")
#: Lines with a smaller share of the time, which would be shown as 0.0 %, are left out.
LEAST_SHARE = 0.0005
#: A call within this share of the roofline is fast.
FAST = 0.8
#: The shares of the time at which a line's heat becomes 1, 2, 3 and 4.
_HEAT = (0.02, 0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class SentencePart:
    """A part of a sentence. ``line`` is set if it names a line of the user's source; it becomes a link."""

    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Reason:
    """A sentence on what makes the call slow, and the page that tells what to do about it, if there is one."""

    parts: tuple[SentencePart, ...]
    page: BottleneckPage | None


@dataclass(frozen=True, slots=True)
class LineView:
    """A source line that takes much of the time. ``number`` and ``code`` are set for the user's own source only.

    ``bar_width`` is in per cent. ``lanes``, ``sectors`` and ``wavefronts`` show how well it uses warps and memory.
    """

    number: int | None
    location: str
    code: Markup
    share: str
    bar_width: float
    instructions: str
    lanes: str
    sectors: str
    wavefronts: str


@dataclass(frozen=True, slots=True)
class KernelView:
    """The launches of one kernel with the same grid and block."""

    name: str
    launches: str
    shape: str
    time: str
    limiter: str
    occupancy: str
    dram: str


@dataclass(frozen=True, slots=True)
class ModelledTimeView:
    """The modelled time of one benchmark case."""

    name: str
    gpu: str
    time: str
    limiter: str
    reasons: tuple[Reason, ...]
    lines: tuple[LineView, ...]
    #: What is left out of ``lines``, in words; empty if nothing is.
    rest: str
    #: Whether it takes little longer than the roofline allows, so that nothing in it is slow.
    at_roofline: bool
    kernels: tuple[KernelView, ...]


def gpu_title(key: str | None) -> str:
    """Returns ``NVIDIA H200`` for ``h200``. A GPU that is no longer modelled keeps its key, in capitals."""
    return load_gpu(key).name if key in gpu_names() and key else str(key or "a GPU").upper()


def present_modelled_times(
    measurement: Measurement, code: Sequence[Markup] = (), own: OwnLines = ONE_FILE
) -> tuple[ModelledTimeView, ...]:
    """Returns a view of each case with a modelled time.

    ``code`` holds the highlighted lines of the source, and ``own`` finds the lines of its files.
    """
    gpu = gpu_title(measurement.gpu)
    return tuple(
        ModelledTimeView(
            name=case.name,
            gpu=gpu,
            time=seconds(case.value),
            limiter=case.limiter,
            reasons=tuple(_present_reason(sentence, own) for sentence in case.why),
            lines=tuple(_present_line(line, code, own) for line in case.lines if line.share >= LEAST_SHARE),
            rest=_rest(case.lines),
            at_roofline=(measurement.roofline_share or 0.0) >= FAST,
            kernels=tuple(_present_kernel(kernel) for kernel in case.kernels),
        )
        for case in measurement.cases
        if isinstance(case, ModelledCase)
    )


def line_heat(measurement: Measurement, own: OwnLines = ONE_FILE) -> dict[int, tuple[int, str]]:
    """Returns the heat (1 to 4) of each line of the user's source and its largest share of a case's time."""
    shares: dict[int, float] = {}
    for case in measurement.cases:
        for line in case.lines if isinstance(case, ModelledCase) else ():
            place = own.locate(line.file, line.line)
            if place is not None:
                shares[place] = max(shares.get(place, 0.0), line.share)
    heat = {number: sum(share >= least for least in _HEAT) for number, share in shares.items()}
    return {number: (level, f"{100 * shares[number]:.0f} %") for number, level in heat.items() if level}


def _rest(lines: Sequence[ModelledLine]) -> str:
    """Returns the share of the time outside the lines that are shown, if it shows in the sum."""
    rest = 1.0 - sum(line.share for line in lines if line.share >= LEAST_SHARE)
    return f"All other lines, launches and waiting: {percent(rest)}" if rest >= LEAST_SHARE else ""


def _present_reason(sentence: str, own: OwnLines) -> Reason:
    topic = topic_of(sentence)
    return Reason(_linked(sentence, own), None if topic is None else find_page(topic))


def _linked(sentence: str, own: OwnLines) -> tuple[SentencePart, ...]:
    pieces, at = [], 0
    for found in _LINE.finditer(sentence):
        place = own.locate(found[1] or own.files[0].name, int(found[2]))
        if place is None:
            continue
        pieces += [SentencePart(sentence[at : found.start()]), SentencePart(own.in_words(place), place)]
        at = found.end()
    pieces.append(SentencePart(sentence[at:]))
    first = pieces[0].text
    if not re.match(r"[\w<>]+:", first):
        pieces[0] = SentencePart(first[:1].upper() + first[1:])
    return tuple(piece for piece in pieces if piece.text)


def _present_line(line: ModelledLine, code: Sequence[Markup], own: OwnLines) -> LineView:
    place = own.locate(line.file, line.line)
    number = place if place is not None and place <= len(code) else None
    name = line.file.rpartition("/")[2]
    return LineView(
        number=number,
        location=f"{name}:{line.line}" if name else "no line known",
        code=code[number - 1].strip() if number is not None else Markup(""),
        share=percent(line.share),
        bar_width=round(100 * min(line.share, 1.0), 1),
        instructions=whole(sum(line.instructions.values())),
        lanes=percent(line.active_lanes),
        sectors=_multiple(line.global_sectors, line.global_sectors_ideal),
        wavefronts=_multiple(line.shared_wavefronts, line.shared_wavefronts_ideal),
    )


def _multiple(count: int, ideal: int) -> str:
    """Returns the count as a multiple of the ideal; empty if nothing was counted."""
    return f"{significant(count / ideal, 2)}×" if count and ideal else ""


def _present_kernel(kernel: ModelledKernel) -> KernelView:
    grid, block = ("×".join(whole(axis) for axis in without_ones(shape)) for shape in (kernel.grid, kernel.block))
    return KernelView(
        name=kernel.kernel,
        launches=whole(kernel.launches),
        shape=f"{grid} of {block}",
        time=seconds(kernel.seconds),
        limiter=kernel.limiter,
        occupancy=percent(kernel.occupancy),
        dram=size(kernel.dram_bytes),
    )


def without_ones(shape: Sequence[int]) -> Sequence[int]:
    """Returns the shape without trailing axes of size 1."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return shape
