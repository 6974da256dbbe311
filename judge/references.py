"""Our own kernels beside a board, without a rank: a board that nobody is on yet says what can be reached."""

from __future__ import annotations

from dataclasses import dataclass

from emulator.model import load_gpu
from judge.bench.plausibility import launch_s, modelled_roofline_s
from judge.bench.statistics import geometric_mean
from judge.packs.pack import Pack
from judge.packs.steps import read_steps

#: The GPU of our kernels' times, as a device and as a model.
_DEVICE, _MODEL = "nvidia-h200", "h200"
#: The calibration of a GPU has no bound for others than these, so measured times have no share of a roofline there.
_WITH_BOUND = ("fp32", "fp64")


@dataclass(frozen=True, slots=True)
class Reference:
    """A kernel of ours: its time in seconds, and the share of the roofline that it reaches, None where unknown."""

    name: str
    time_s: float
    share: float | None


def find_references(pack: Pack, device: str | None, metric: str | None) -> tuple[Reference, ...]:
    """Returns our kernels whose times are of this board's case and device, the fastest first.

    ``metric`` is the board's (``modelled_time_s/h200/1``, ``time_s``), None for an empty one. Times of another GPU, and
    modelled ones of another model, are left out.
    """
    if device == "emulator" and (metric or "").split("/")[:2] in ([""], ["modelled_time_s", _MODEL]):
        roofline_s, beside_s = _roofline_s(pack, "emulator"), launch_s(load_gpu(_MODEL))
        times = {step.name: step.modelled.time_s for step in read_steps(pack) if step.modelled is not None}
        ours = pack.default_medals.get("modelled_time_s")
        if not times and roofline_s is not None and ours is not None and ours.best:
            times = {"fastest": roofline_s / ours.best + beside_s}
    elif device == _DEVICE and metric in (None, "time_s"):
        roofline_s = _roofline_s(pack, "cuda") if pack.bench.arithmetic in _WITH_BOUND else None
        # Measured times are less the null kernel's.
        beside_s = 0.0
        times = {step.name: step.measured.time_s for step in read_steps(pack) if step.measured is not None}
    else:
        return ()
    found = [
        Reference(name, time_s, roofline_s and roofline_s / max(time_s - beside_s, roofline_s))
        for name, time_s in times.items()
    ]
    return tuple(sorted(found, key=lambda each: each.time_s))


def _roofline_s(pack: Pack, kind: str) -> float | None:
    each = [modelled_roofline_s(pack, case, load_gpu(_MODEL)) for case in pack.benchmarks_for(kind)]
    known = [roofline for roofline in each if roofline]
    return geometric_mean(known) if known and len(known) == len(each) else None
