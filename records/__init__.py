"""``dataclass`` as the standard library's, of which ``frozen`` is checked by the type checker alone.

Forbidding assignment at run time as well takes a third of the time in which a class is made, and three quarters of
that in which an object is: every runner makes a hundred classes, a judgement in a process of its own three times as
many, and a parsed kernel is thousands of objects.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

__all__ = ["dataclass"]

if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    import dataclasses

    def dataclass(cls: type | None = None, /, *, frozen: bool = False, **options: Any) -> Any:
        """As ``dataclasses.dataclass``. Classes that are ``frozen`` and compared can be hashed, as there."""
        if frozen and options.get("eq", True):
            options["unsafe_hash"] = True
        made = dataclasses.dataclass(**options)
        return made if cls is None else made(cls)
