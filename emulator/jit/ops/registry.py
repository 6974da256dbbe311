"""The functions that emit instructions, by opcode."""

from __future__ import annotations

from collections.abc import Callable

from emulator.jit.emitter import Emitter
from emulator.ptx.facts import Emission
from emulator.ptx.ir import Instruction
from emulator.ptx.opcodes import OPCODES

Emit = Callable[[Emitter, Instruction], None]
EMITTERS: dict[str, Emit] = {}

_EMITTED = frozenset(facts.opcode for facts in OPCODES.values() if facts.emission is Emission.EMITTER)


def emits(*opcodes: str) -> Callable[[Emit], Emit]:
    """Registers a function as the emitter of these opcodes.

    Raises ``ValueError`` for an opcode about which ``ptx.opcodes`` has no facts, or which has an emitter already.
    """

    def register(function: Emit) -> Emit:
        for opcode in opcodes:
            if opcode not in _EMITTED:
                raise ValueError(f"the opcode {opcode} has an emitter but no facts in emulator/ptx/opcodes.py")
            if opcode in EMITTERS:
                raise ValueError(f"the opcode {opcode} has two emitters")
            EMITTERS[opcode] = function
        return function

    return register
