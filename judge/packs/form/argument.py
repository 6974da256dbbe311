"""One argument of ``solve``, as a pack declares it."""

from __future__ import annotations

from typing import Literal

import numpy as np

from judge.check.tolerance import ToleranceKind
from judge.packs.data.distributions import Distribution
from judge.packs.data.storage import value_type
from judge.packs.form.expressions import Expression
from judge.wire.elements import Element
from records import dataclass

Role = Literal["in", "out", "inout", "scalar"]


@dataclass(frozen=True, slots=True)
class ToleranceRule:
    """How far an output may be off: the kind of computation, the type that sums are kept in, the number of terms.

    ``absolute`` and ``relative`` belong to the kind ``close``.
    """

    kind: ToleranceKind
    accumulate: np.dtype[np.generic]
    terms: Expression
    absolute: float = 0.0
    relative: float = 0.0


@dataclass(frozen=True, slots=True)
class Argument:
    """One argument of ``solve``.

    ``c_type`` is written as in C; ``element`` is the type of one element, or of a scalar. ``shape`` gives the extents
    of a buffer and ``value`` the value of a scalar, both over the axes and parameters. ``distribution`` fills an input;
    without one the pack's ``make_inputs`` makes it. ``initial`` is what a buffer with the role ``out`` holds on entry.
    ``tolerance`` belongs to outputs; None leaves an output to the pack's ``check``.
    """

    name: str
    c_type: str
    role: Role
    element: Element
    shape: tuple[Expression, ...] = ()
    value: Expression | None = None
    description: str = ""
    distribution: Distribution | None = None
    initial: Literal["zero", "poison"] = "zero"
    tolerance: ToleranceRule | None = None

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """The NumPy type of an element for references; memory may hold another form (judge.packs.data.storage)."""
        return value_type(self.element)

    @property
    def is_pointer(self) -> bool:
        return self.role != "scalar"

    @property
    def is_input(self) -> bool:
        """Whether ``solve`` gets contents in it."""
        return self.role in ("in", "inout")

    @property
    def is_output(self) -> bool:
        """Whether it is judged."""
        return self.role in ("out", "inout")
