"""The profile of a run, which the page compares with that of the run before it (web/static/js/difference.js)."""

from __future__ import annotations

from dataclasses import dataclass

from judge.compile.source_files import OwnLines
from judge.measurements import Measurement, ModelledCase


@dataclass(frozen=True, slots=True)
class ProfiledLine:
    """A line of the user's source.

    ``sectors`` are those of a request of global memory, ``wavefronts`` those of shared memory as a multiple of the
    fewest possible; None where the line has none.
    """

    line: int
    #: How messages name the line.
    name: str
    text: str
    share: float
    sectors: float | None
    wavefronts: float | None


@dataclass(frozen=True, slots=True)
class RunProfile:
    """The unranked time of a run in ``seconds``, with the ends of its interval: both are the time where it is modelled.

    Only profiles of the same ``scale`` and ``case`` are comparable. ``lines`` are empty for a measured time.
    """

    scale: str
    case: str
    seconds: float
    low: float
    high: float
    lines: tuple[ProfiledLine, ...]


def present_run_profile(measurement: Measurement, source: str, own: OwnLines) -> RunProfile:
    """Returns the profile of the user's own lines, the costliest first."""
    [case] = measurement.cases
    # Inputs of one's own are comparable if they are as large.
    name = f"{case.id} {case.bytes:g} {case.flops or 0:g}"
    low, high = measurement.low or measurement.value, measurement.high or measurement.value
    lines = _profiled_lines(case, source, own) if isinstance(case, ModelledCase) else ()
    return RunProfile(measurement.scale, name, measurement.value, low, high, lines)


def _profiled_lines(case: ModelledCase, source: str, own: OwnLines) -> tuple[ProfiledLine, ...]:
    text = source.splitlines()
    lines = []
    for line in case.lines:
        place = own.locate(line.file, line.line)
        if place is None or place > len(text):
            continue
        sectors = line.global_sectors / line.global_requests if line.global_requests else None
        wavefronts = line.shared_wavefronts / line.shared_wavefronts_ideal if line.shared_wavefronts_ideal else None
        shown = own.in_words(place)
        lines.append(ProfiledLine(place, shown, text[place - 1].strip(), line.share, sectors, wavefronts))
    return tuple(lines)
