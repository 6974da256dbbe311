"""Why a submission is slow, as the judgement on the emulator tells it, made into what the report shows."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from emulator.model import gpu_names, load_gpu
from web.formatting import percent, seconds, significant, size, whole
from web.submissions.diagnostics import SOURCE_NAME, is_own_source

_LINE = re.compile(rf"\b(?:line |{re.escape(SOURCE_NAME)}:)(\d+)")
#: Shares of the time from which on a line is this hot, from 1 to 4.
_HEAT = (0.02, 0.1, 0.25, 0.5)


@dataclass(frozen=True, slots=True)
class Piece:
    """Of a sentence; with ``line``, a place in the user's source to be led to."""

    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class HotLine:
    """A line of the table. ``number`` and ``code`` only of the user's own source; ``width`` of the bar, in per cent."""

    number: int | None
    place: str
    code: Markup
    share: str
    width: float
    instructions: str
    lanes: str
    sectors: str
    wavefronts: str


@dataclass(frozen=True, slots=True)
class KernelView:
    """A kernel's launches of one shape."""

    name: str
    launches: str
    shape: str
    time: str
    limiter: str
    occupancy: str
    dram: str


@dataclass(frozen=True, slots=True)
class SlownessView:
    """One benchmark case's."""

    id: str
    gpu: str
    time: str
    limiter: str
    reasons: tuple[tuple[Piece, ...], ...]
    lines: tuple[HotLine, ...]
    kernels: tuple[KernelView, ...]


def gpu_title(key: str | None) -> str:
    """``NVIDIA H200`` for ``h200``; a GPU that is no longer modelled keeps its key."""
    return load_gpu(key).name if key in gpu_names() and key else str(key or "a GPU").upper()


def present_slowness(measurement: Mapping[str, Any], code: Sequence[Markup] = ()) -> tuple[SlownessView, ...]:
    """Of each case with a modelled time. ``code`` holds the lines of the source, highlighted."""
    gpu = gpu_title(measurement.get("gpu"))
    return tuple(
        SlownessView(
            id=str(case.get("id")),
            gpu=gpu,
            time=seconds(case.get("value")),
            limiter=str(case["limiter"]),
            reasons=tuple(_linked(str(reason)) for reason in case.get("why") or ()),
            lines=tuple(_hot_line(line, code) for line in case.get("lines") or ()),
            kernels=tuple(_kernel(kernel) for kernel in case.get("kernels") or ()),
        )
        for case in measurement.get("cases") or ()
        if case.get("limiter")
    )


def line_heat(measurement: Mapping[str, Any]) -> dict[int, tuple[int, str]]:
    """How hot each line of the user's source is, from 1 to 4, and its share of the time in words: the most over the
    cases."""
    shares: dict[int, float] = {}
    for case in measurement.get("cases") or ():
        for line in case.get("lines") or ():
            if is_own_source(line.get("file")):
                number = int(line["line"])
                shares[number] = max(shares.get(number, 0.0), float(line.get("share") or 0.0))
    heat = {number: sum(share >= least for least in _HEAT) for number, share in shares.items()}
    return {number: (level, f"{100 * shares[number]:.0f} %") for number, level in heat.items() if level}


def _linked(sentence: str) -> tuple[Piece, ...]:
    pieces, at = [], 0
    for found in _LINE.finditer(sentence):
        pieces += [Piece(sentence[at : found.start()]), Piece(f"line {found[1]}", int(found[1]))]
        at = found.end()
    pieces.append(Piece(sentence[at:]))
    first = pieces[0].text
    if not re.match(r"[\w<>]+:", first):
        pieces[0] = Piece(first[:1].upper() + first[1:])
    return tuple(piece for piece in pieces if piece.text)


def _hot_line(line: Mapping[str, Any], code: Sequence[Markup]) -> HotLine:
    number = int(line.get("line") or 0)
    own = is_own_source(line.get("file")) and 0 < number <= len(code)
    name = str(line.get("file") or "").rpartition("/")[2]
    share = float(line.get("share") or 0.0)
    return HotLine(
        number=number if own else None,
        place=f"{name}:{number}" if name else "no line known",
        code=Markup(code[number - 1].strip()) if own else Markup(""),
        share=percent(share),
        width=round(100 * min(share, 1.0), 1),
        instructions=whole(sum((line.get("instructions") or {}).values())),
        lanes=percent(line.get("active_lanes")),
        sectors=_against(line.get("global_sectors"), line.get("global_sectors_ideal")),
        wavefronts=_against(line.get("shared_wavefronts"), line.get("shared_wavefronts_ideal")),
    )


def _against(count: int | None, least: int | None) -> str:
    """How many times the least; empty where there is nothing."""
    return f"{significant(count / least, 2)}×" if count and least else ""


def _kernel(kernel: Mapping[str, Any]) -> KernelView:
    grid, block = ("×".join(whole(axis) for axis in _trimmed(kernel.get(key) or ())) for key in ("grid", "block"))
    return KernelView(
        name=str(kernel.get("kernel")),
        launches=whole(kernel.get("launches")),
        shape=f"{grid} of {block}",
        time=seconds(kernel.get("seconds")),
        limiter=str(kernel.get("limiter")),
        occupancy=percent(kernel.get("occupancy")),
        dram=size(kernel.get("dram_bytes")),
    )


def _trimmed(shape: Sequence[int]) -> Sequence[int]:
    """Without the trailing axes of size 1."""
    while len(shape) > 1 and shape[-1] == 1:
        shape = shape[:-1]
    return shape
