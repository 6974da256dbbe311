"""The table of instruction semantics and the decorator that fills it."""

from __future__ import annotations

from collections.abc import Callable

from emulator.jit.emitter import Emitter
from emulator.ptx.ir import Instruction

Semantics = Callable[[Emitter, Instruction], None]
SEMANTICS: dict[str, Semantics] = {}


def semantics(*opcodes: str) -> Callable[[Semantics], Semantics]:
    def register(function: Semantics) -> Semantics:
        for opcode in opcodes:
            SEMANTICS[opcode] = function
        return function

    return register
