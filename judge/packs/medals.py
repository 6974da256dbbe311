"""Medals: the shares of the roofline that earn bronze, silver and gold.

A pack may declare those of measured times. Others follow from the best share that our own kernels reach, which
``benchmarks/medals.py`` writes to ``medals.json`` beside the packs: by challenge, and by the metric of the score, since
the small cases of the emulator leave another share within reach than the large ones of a GPU.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

from records import dataclass

Medal = Literal["gold", "silver", "bronze"]
NAME = "medals.json"
#: Of the share that our best kernel reaches. Silver is at most twice as slow, bronze four times.
_BRONZE, _SILVER, _GOLD = 0.25, 0.5, 0.9


@dataclass(frozen=True, slots=True)
class Medals:
    """The shares of what the roofline allows that earn each medal."""

    bronze: float
    silver: float
    gold: float
    #: What our best kernel reaches, if the medals follow from it (``below``).
    best: float | None = None

    @classmethod
    def below(cls, best: float) -> Medals:
        """Returns the medals for a task of which our best kernel reaches this share of the roofline."""
        return cls(_BRONZE * best, _SILVER * best, _GOLD * best, best)

    def earned(self, share: float | None) -> Medal | None:
        """Returns the medal that a share of the roofline earns, or None."""
        if share is None or share < self.bronze:
            return None
        return "bronze" if share < self.silver else "silver" if share < self.gold else "gold"


def read_medals(packs: Path) -> Mapping[str, Mapping[str, Medals]]:
    """Returns the medals by challenge and metric of a folder of packs; none where it has no file of them."""
    file = packs / NAME
    try:
        changed = file.stat().st_mtime_ns
    except OSError:
        return {}
    return _read(file, changed)


@functools.lru_cache(maxsize=8)
def _read(file: Path, changed: int) -> Mapping[str, Mapping[str, Medals]]:  # noqa: ARG001 - read again once it changed
    shares = json.loads(file.read_text(encoding="utf-8"))
    return {
        slug: {metric: Medals.below(best["share"]) for metric, best in metrics.items()}
        for slug, metrics in shares.items()
    }
