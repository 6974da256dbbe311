"""The table of device kinds. A new kind is a folder of ``judge/backends`` and a line here.

Packs and store import this for the names, so it imports no backend: that happens at its first use.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from records import dataclass


@dataclass(frozen=True, slots=True)
class Kind:
    """``module`` offers ``make_backend()``; ``phrase`` names a device of this kind in a sentence.

    ``is_real``: times on it are those of hardware that exists; such devices are offered first. ``rechecked_on`` is the
    kind on which accepted submissions are run once more, since it finds what this one hides; None: nowhere.
    """

    module: str
    phrase: str
    is_real: bool
    rechecked_on: str | None = None


KINDS: Mapping[str, Kind] = MappingProxyType(
    {
        "emulator": Kind("judge.backends.emulator.backend", "the emulator", is_real=False),
        "cuda": Kind("judge.backends.cuda.backend", "a GPU", is_real=True, rechecked_on="emulator"),
    }
)


def check_kind(name: str) -> str:
    """Returns the name if it is a kind. Raises ValueError, which lists the kinds, if it is not."""
    if name not in KINDS:
        raise ValueError(unknown_kind(name, KINDS))
    return name


def unknown_kind(name: str, known: Mapping[str, object]) -> str:
    """Returns the message about a kind that is not among those known."""
    return f"'{name}' is not a kind of device; the kinds are: {', '.join(known)}"
