"""Targets that submissions are compiled for."""

from __future__ import annotations

import re

from judge.judgement import DeviceKind
from records import dataclass


@dataclass(frozen=True, slots=True)
class Target:
    """The target of a compilation: a ``kind`` of device, and the architecture by its compiler's name.

    nvcc knows two forms: ``compute_80`` is PTX alone, ``sm_90`` a GPU's machine code (judge.compile.architecture).
    ``specific`` is the architecture for sources that use Hopper's own instructions; empty where ``arch`` has them, or
    the device has not.
    Raises ValueError for a name that no architecture can have.
    """

    kind: DeviceKind
    arch: str
    specific: str = ""

    def __post_init__(self) -> None:
        if not re.fullmatch(r"[a-z]\w*", self.arch):
            raise ValueError(f"no architecture of {self.kind}: '{self.arch}'")
