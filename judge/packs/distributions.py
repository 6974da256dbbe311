"""What a pack declares of the contents of an input: one frozen class a distribution.

``judge.packs.recipes`` says exactly which values they make.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class Sentinels:
    """A few values of ``magnitude``, alternating in sign, at random positions."""

    count: int
    magnitude: float


@dataclass(frozen=True, slots=True)
class Uniform:
    """Values from ``low`` (included) to ``high`` (excluded, but for rounding)."""

    low: float
    high: float
    sentinels: Sentinels | None = None
    floats_only: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Normal:
    """Approximately normal values."""

    mean: float = 0.0
    sd: float = 1.0
    sentinels: Sentinels | None = None
    floats_only: ClassVar[bool] = True


@dataclass(frozen=True, slots=True)
class Integers:
    """Whole numbers from ``low`` to ``high``, both included."""

    low: float
    high: float
    sentinels: Sentinels | None = None
    floats_only: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Constant:
    """``value`` everywhere."""

    value: float
    sentinels: Sentinels | None = None
    floats_only: ClassVar[bool] = False


Distribution = Uniform | Normal | Integers | Constant

#: The distributions by the ``kind`` that ``challenge.toml`` gives them.
DISTRIBUTIONS: dict[str, type[Distribution]] = {
    "uniform": Uniform,
    "normal": Normal,
    "integers": Integers,
    "constant": Constant,
}


def varies(distribution: Distribution) -> bool:
    """Returns whether two calls with this distribution can get different values."""
    return not isinstance(distribution, Constant) or distribution.sentinels is not None
