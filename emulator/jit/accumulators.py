"""Finds instructions that use the registers of a ``wgmma`` before its group has been waited for."""

from __future__ import annotations

from emulator.ptx.cfg import Cfg
from emulator.ptx.effects import defs_and_uses
from emulator.ptx.ir import Imm, Instruction

#: For each register of a product in flight: how many groups have ended since it was issued, and the product.
_InFlight = dict[str, tuple[int, Instruction]]

_MOST_GROUPS = 64


def early_uses(cfg: Cfg) -> dict[int, Instruction]:
    """Returns, by the id of an instruction that reads or writes such a register, the ``wgmma`` that it is of.

    Copies of registers do not count: compilers make them where the source has none.
    """
    if not any(i.opcode == "wgmma" for block in cfg.blocks for i in block.instructions):
        return {}
    found: dict[int, Instruction] = {}
    at_start: list[_InFlight] = [{} for _ in cfg.blocks]
    work = [block.index for block in cfg.blocks]
    while work:
        index = work.pop()
        state = dict(at_start[index])
        for instruction in cfg.blocks[index].instructions:
            _step(instruction, state, found)
        for successor in cfg.blocks[index].successors:
            if _join(at_start[successor], state):
                work.append(successor)
    return found


def _step(i: Instruction, state: _InFlight, found: dict[int, Instruction]) -> None:
    written, read = defs_and_uses(i)
    if i.opcode == "wgmma":
        match i.modifiers[0]:
            case "mma_async":
                state.update(dict.fromkeys(written, (0, i)))
            case "commit_group":
                state.update({name: (min(age + 1, _MOST_GROUPS), of) for name, (age, of) in state.items()})
            case "wait_group":
                left = i.operands[0].value if i.operands and isinstance(i.operands[0], Imm) else 0
                for name in [name for name, (age, _) in state.items() if age > left]:
                    del state[name]
        return
    if not state:
        return
    if i.opcode == "mov":
        source = next((state[name] for name in read if name in state), None)
        for name in written:
            if source is not None:
                state[name] = source
            else:
                state.pop(name, None)
        return
    for name in (*read, *written):
        if name in state:
            found.setdefault(id(i), state[name][1])


def _join(into: _InFlight, state: _InFlight) -> bool:
    changed = False
    for name, (age, of) in state.items():
        known = into.get(name)
        if known is None or age < known[0]:
            into[name] = (age, of)
            changed = True
    return changed
