"""A file or folder that a jail shows."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from records import dataclass

BindKind = Literal["ro", "rw", "dev"]


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or folder of the host shown inside as ``target``. ``dev`` is writable and its device nodes work."""

    source: Path
    target: str
    kind: BindKind = "ro"

    @staticmethod
    def same(path: Path, kind: BindKind = "ro") -> Bind:
        """Returns a bind that shows ``path`` under the same path."""
        return Bind(path, str(path), kind)
