"""Reads the reference steps of a challenge: our accepted kernels from the first idea to a fast one, with their times.

They lie in ``reference_solutions/SLUG`` beside the folder of packs; packs from elsewhere have none. A ladder is
``ladder/ladder.toml``, with the modelled times in ``ladder/times.json`` (``benchmarks/ladders.py``). Without a ladder
the steps are ``plain.cu`` and ``tuned.cu``, told by the comment that each begins with. Measured times are those of
``reference_solutions/times/``, as far as there are any.
"""

from __future__ import annotations

import functools
import itertools
import json
import tomllib
from pathlib import Path
from typing import Any

from judge.packs.pack import Pack
from records import dataclass

#: The kernels of a challenge without a ladder.
_WITHOUT_LADDER = ("plain", "tuned")
#: The GPU of the times, as a device and as a model.
_MEASURED_ON, _MODELLED_FOR = "nvidia-h200", "h200"


@dataclass(frozen=True, slots=True)
class StepTime:
    """A time on the GPU ``device``. ``gain`` is the time of the step before / this one, None where that is unknown."""

    time_s: float
    gain: float | None
    device: str


@dataclass(frozen=True, slots=True)
class ReferenceStep:
    """A kernel, and what it changes over the one before.

    ``modelled`` is its time by the emulator's model, on the small benchmark for the emulator, and ``measured`` that on
    a GPU, on the large one: the two cannot be compared. None where unknown.
    """

    name: str
    change: str
    source: str
    modelled: StepTime | None
    measured: StepTime | None


def read_steps(pack: Pack) -> tuple[ReferenceStep, ...]:
    """Returns the steps of a challenge in order; empty where there are none."""
    folder = pack.directory.parent.parent / "reference_solutions" / pack.slug
    ladder = folder / "ladder"
    changes: dict[str, str] = dict.fromkeys(_WITHOUT_LADDER, "")
    if (ladder / "ladder.toml").is_file():
        steps = tomllib.loads((ladder / "ladder.toml").read_text("utf-8"))["steps"]
        changes = {str(step["kernel"]): str(step["change"]) for step in steps}
        files = {name: ladder / f"{name}.cu" for name in changes}
    else:
        files = {name: folder / f"{name}.cu" for name in changes}
    files = {name: file.resolve() for name, file in files.items() if file.is_file()}
    model = _read(_modelled_times(folder))
    modelled = _with_gains([model.get("seconds", {}).get(name) for name in files], str(model.get("gpu", "")))
    times = _read(_measured_times(folder.parent))
    rows = [times.get("kernels", {}).get(str(Path(pack.slug, *_below(folder, file)))) for file in files.values()]
    seconds = [row["value"] if row and row.get("metric") == "time_s" else None for row in rows]
    measured = _with_gains(seconds, str(times.get("device", {}).get("name", "")))
    return tuple(
        ReferenceStep(file.stem, changes[name] or _first_comment(source), source, by_model, on_gpu)
        for (name, file), by_model, on_gpu in zip(files.items(), modelled, measured, strict=True)
        for source in [file.read_text("utf-8")]
    )


def plain_time_s(pack: Pack, *, device: str, metric: str) -> float | None:
    """Returns the time of ``plain.cu`` on a device and the scale of a score; None where it is unknown."""
    solutions = pack.directory.parent.parent / "reference_solutions"
    if device == _MEASURED_ON and metric == "time_s":
        measured = _read_once(_measured_times(solutions)).get("kernels", {}).get(f"{pack.slug}/plain.cu", {})
        return measured["value"] if measured.get("metric") == metric else None
    if device == "emulator" and metric.split("/")[:2] == ["modelled_time_s", _MODELLED_FOR]:
        modelled: float | None = _read_once(_modelled_times(solutions / pack.slug)).get("seconds", {}).get("../plain")
        return modelled
    return None


def has_plain_time(pack: Pack, *, device: str | None) -> bool:
    """Returns whether the time of ``plain.cu`` is known on a device, or for None on any."""
    boards = {_MEASURED_ON: "time_s", "emulator": f"modelled_time_s/{_MODELLED_FOR}"}
    return any(
        plain_time_s(pack, device=key, metric=metric) is not None
        for key, metric in boards.items()
        if device in (None, key)
    )


def _measured_times(solutions: Path) -> Path:
    return solutions / "times" / f"{_MEASURED_ON}.json"


def _modelled_times(folder: Path) -> Path:
    return folder / "ladder" / "times.json"


def _below(folder: Path, file: Path) -> tuple[str, ...]:
    return file.relative_to(folder.resolve()).parts


def _with_gains(seconds: list[float | None], device: str) -> list[StepTime | None]:
    steps: list[StepTime | None] = []
    for before, time_s in zip([None, *seconds], seconds, strict=False):
        gain = None if before is None or time_s is None else before / time_s
        steps.append(None if time_s is None else StepTime(time_s, gain, device))
    return steps


def _first_comment(source: str) -> str:
    lines = itertools.takewhile(lambda line: line.startswith("//"), source.splitlines())
    return " ".join(line.removeprefix("//").strip() for line in lines)


def _read(path: Path) -> dict[str, Any]:
    return json.loads(path.read_text("utf-8")) if path.is_file() else {}


_read_once = functools.cache(_read)
