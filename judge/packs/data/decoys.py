"""Chooses the sizes of decoys: timed calls at or below the advertised sizes, so that sizes tell nothing."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable

from judge.packs.pack import Case, Pack
from judge.packs.sizes import element_count

#: The least size of a decoy, as a share of the advertised one.
LEAST_SHARE = 0.75

#: Returns one of the sizes of a range.
Choose = Callable[[range], int]


def decoy(pack: Pack, advertised: Case, choose: Choose) -> Case:
    """Returns the case with smaller sizes, as far as axes and constraints allow, or the case itself."""
    axes = {axis.name: axis for axis in pack.axes}
    sizes: dict[str, int] = {}
    for name, size in advertised.axes.items():
        axis = axes[name]
        least = max(axis.min, math.ceil(size * LEAST_SHARE))
        first = -(-least // axis.multiple_of) * axis.multiple_of
        sizes[name] = size if axis.fixed or first > size else choose(range(first, size + 1, axis.multiple_of))
    case = dataclasses.replace(advertised, axes=sizes)
    return case if _fits(pack, case, advertised) else advertised


def _fits(pack: Pack, case: Case, advertised: Case) -> bool:
    """Returns whether the sizes keep to the constraints and no buffer is larger than the advertised one."""
    try:
        if not all(constraint.holds(case.variables) for constraint in pack.constraints):
            return False
        return all(
            0 <= element_count(case, argument) <= element_count(advertised, argument) for argument in pack.arguments
        )
    except (ValueError, ArithmeticError):
        return False
