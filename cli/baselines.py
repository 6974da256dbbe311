"""Shows times without a rank beside compared kernels: those of libraries, or on the emulator those of our kernels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from cli.comparison import Compared
from cli.scores import format_interval, format_score
from judge.bench.library.record import LibraryTime, ratio_in_words, speed
from judge.bench.statistics import Interval
from judge.errors import InternalError
from judge.judgement import DeviceInfo
from judge.kinds import KINDS
from judge.libraries import library_times
from judge.packs.pack import Pack
from judge.references import find_references
from judge.settings import JudgeSettings
from records import dataclass

COLUMNS = ("beside them", "time", "95 % interval", "conditions")
#: Those that hold numbers.
NUMBERS = ("time", "95 % interval")


@dataclass(frozen=True, slots=True)
class Unranked:
    """The rows, and in words what of them there is not."""

    rows: tuple[LibraryTime, ...]
    messages: tuple[str, ...] = ()


def unranked(pack: Pack, device: DeviceInfo, settings: JudgeSettings, compared: Sequence[Compared]) -> Unranked:
    """Returns the libraries' times on this device, measured now if none are kept; on the emulator, our kernels'."""
    if not KINDS[device.kind].is_real:
        scales = [one.judgement.measurement.scale for one in compared if one.judgement.measurement is not None]
        ours = find_references(pack, device.key, scales[0] if scales else None)
        rows = [
            LibraryTime(each.name, f"reference: {each.name}", "modelled", each.time_s, each.time_s, each.time_s)
            for each in ours
        ]
        return Unranked(tuple(rows), (f"{device.key} has no library: the rows are our kernels, modelled.",))
    try:
        found = library_times(pack, device, settings)
    except InternalError as error:
        return Unranked((), (str(error),))
    return Unranked(
        tuple(each for each in found if each.is_timed), tuple(each.problem for each in found if each.problem)
    )


def cells(row: LibraryTime) -> tuple[object, ...]:
    """Returns a row as text, under ``COLUMNS``."""
    return row.library, format_score(row.value), format_interval(row.value, row.low, row.high), row.conditions


def in_words(ratio: Interval, row: LibraryTime) -> str:
    """Returns how many times as fast a file is, as pages show it too."""
    return ratio_in_words(ratio, row.library)


def ratios(compared: Sequence[Compared], rows: Sequence[LibraryTime]) -> list[tuple[str, LibraryTime, Interval]]:
    """Returns how many times as fast as each row each file is that has a time of the same kind."""
    found = []
    for one in compared:
        measurement = one.judgement.measurement
        if measurement is None:
            continue
        ends = measurement.low or measurement.value, measurement.high or measurement.value
        for row in rows:
            found.append((str(one.file), row, speed(Interval(measurement.value, *ends), row)))
    return found


def as_json(found: Unranked, compared: Sequence[Compared]) -> dict[str, Any]:
    """Returns the rows and ratios as plain data."""
    return {
        "baselines": [asdict(row) for row in found.rows],
        "times_as_fast": [
            {"file": file, "baseline": row.name, "library": row.library, **asdict(ratio)}
            for file, row, ratio in ratios(compared, found.rows)
        ],
        "messages": list(found.messages),
    }
