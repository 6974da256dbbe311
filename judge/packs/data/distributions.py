"""The distributions that a pack may declare for an input: one frozen class each.

``judge.packs.data.recipes`` says exactly which values they make.
"""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from judge.packs.form.expressions import Expression
from records import dataclass


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


#: What is drawn, each element by itself.
Drawn = Uniform | Normal | Integers


@dataclass(frozen=True, slots=True)
class Constant:
    """``value`` everywhere."""

    value: float
    sentinels: Sentinels | None = None
    floats_only: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Sorted:
    """Ascending values, one in each of as many equal parts of the range of ``of`` as there are elements."""

    of: Uniform | Integers

    @property
    def floats_only(self) -> bool:
        return self.of.floats_only


@dataclass(frozen=True, slots=True)
class Sparse:
    """Values of ``of``, of which about the ``share`` are zero."""

    share: float
    of: Drawn

    @property
    def floats_only(self) -> bool:
        return self.of.floats_only


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the ``values`` for each element, all equally likely."""

    values: tuple[float, ...]
    floats_only: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class OneHot:
    """A single 1 in each row of the last axis, and zeros."""

    floats_only: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Permutation:
    """The numbers from 0 on, each once, in random order."""

    floats_only: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class Offsets:
    """Where ragged rows begin: from 0 to ``total``, ascending. An array of n + 1 elements is for n rows."""

    total: Expression
    floats_only: ClassVar[bool] = False


@dataclass(frozen=True, slots=True)
class FromFile:
    """Rows of the array of ``shape`` and ``dtype`` (as NumPy writes it) in a file (judge.packs.data.data_files)."""

    path: Path
    dtype: str
    shape: tuple[int, ...]
    floats_only: ClassVar[bool] = False

    def holds(self, shape: tuple[int, ...]) -> bool:
        """Returns whether an array of this shape can be cut out of it."""
        if len(shape) != len(self.shape):
            return False
        return all(part <= whole for part, whole in zip(shape, self.shape, strict=True))


Distribution = Drawn | Constant | Sorted | Sparse | Choice | OneHot | Permutation | Offsets | FromFile

#: The distributions of numbers that ``challenge.toml`` gives by ``kind``; the others are made of them.
DISTRIBUTIONS: dict[str, type[Drawn | Constant]] = {
    "uniform": Uniform,
    "normal": Normal,
    "integers": Integers,
    "constant": Constant,
}


def varies(distribution: Distribution, shape: tuple[int, ...]) -> bool:
    """Returns whether two calls with this distribution can get different values in an array of this shape."""
    if isinstance(distribution, FromFile):
        return distribution.shape[0] > shape[0]
    return not isinstance(distribution, Constant) or distribution.sentinels is not None
