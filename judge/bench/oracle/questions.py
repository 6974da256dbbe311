"""The messages between the judge and the oracle's process."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy.typing as npt

from judge.packs.collection.pool import SecretPool
from judge.packs.pack import Case, Pack
from judge.wire.recipe import Recipe
from records import dataclass

#: First words of an answer.
READY, RIGHT, NOT_RIGHT, UNABLE = "ready", "right", "not right", "unable"


@dataclass(frozen=True, slots=True)
class Begin:
    """Imports the pack's reference, to be computed on the GPU numbered ``ordinal``.

    ``kernels`` are the judge's own, compiled for the GPU; ``rehearsal`` is a small case that is checked once, so that
    what has to be compiled is ready when the first question comes. CuPy keeps what it compiles in ``folder``, which is
    the pack's on this GPU. As long as nothing is kept there, ``benchmark``, some of whose kernels are others, is
    computed too. Answered with READY or UNABLE and why.
    """

    pack: Pack
    kernels: Path
    ordinal: int
    rehearsal: Case | None
    folder: Path
    benchmark: Case | None = None


@dataclass(frozen=True, slots=True)
class Rest:
    """No question comes for a while: the memory of the last ones is freed. Answered with READY."""


@dataclass(frozen=True, slots=True)
class Question:
    """Are these the outputs of this call? Answered with RIGHT, NOT_RIGHT or UNABLE, and why.

    ``recipes`` say how inputs are drawn, with ``pool``; ``given`` are those that only the host can make, and scalars.
    ``outputs`` are arrays as they lie in memory. ``digests`` are those of the outputs, in their order; empty if the
    outputs need not be compared with any.
    """

    case: Case
    recipes: dict[str, Recipe | None]
    given: dict[str, Any]
    outputs: dict[str, npt.NDArray[Any]]
    digests: tuple[bytes, ...] = ()
    pool: SecretPool | None = None
