"""Refuses instructions with modifiers that the emulator does not know.

An unknown modifier changes what the instruction means: to ignore it would give wrong results.
"""

from __future__ import annotations

import re

from emulator.ptx.errors import Unsupported
from emulator.ptx.ir import Instruction
from emulator.ptx.types import TYPES

_CACHE_HINT = re.compile(r"L[12]::")
_SHAPE = re.compile(r"m\d+n\d+k\d+$")


def check_modifiers(instruction: Instruction) -> None:
    """Raises ``Unsupported`` for a modifier that the opcode's row in ``opcodes`` does not list."""
    accepted = instruction.facts.modifiers
    if accepted is None:
        return
    for modifier in instruction.modifiers:
        if modifier in accepted or modifier in TYPES or _CACHE_HINT.match(modifier) or _SHAPE.match(modifier):
            continue
        location = instruction.location
        raise Unsupported(f"the instruction {instruction.name} (its .{modifier})", location.file, location.line)
