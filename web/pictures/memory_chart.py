"""The chart of a kernel's memories: what passed between the multiprocessors, the L1, the L2 and DRAM."""

from __future__ import annotations

from collections.abc import Mapping

from markupsafe import Markup

from web.formatting import percent, size
from web.pictures.svg import Shape

_WIDTH, _HEIGHT, _BOX, _GAP, _TOP = 640, 96, 100, 80, 30
_HEAD = Shape('<svg class="strip memory-chart" viewBox="0 0 {} {}" role="img"><title>{}</title>')
_BOX_SHAPE = Shape('<rect class="memory" x="{}" y="{}" width="{}" height="44" rx="6"/>')
_ARROW = Shape('<line class="flow" x1="{}" x2="{}" y1="{}" y2="{}"/>')
_TEXT = Shape('<text x="{}" y="{}" text-anchor="middle">{}</text>')


def memory_chart(memory: Mapping[str, float]) -> Markup:
    """Draws bytes and hit rates, by the names of ``MeasuredKernel.memory``; nothing where none is known."""
    if not memory:
        return Markup("")
    dram = [memory[name] for name in ("DRAM read bytes", "DRAM written bytes") if name in memory]
    names = ("warps", "L1", "L2", "DRAM")
    hits = ("", _hits(memory, "L1 hits"), _hits(memory, "L2 hits"), "")
    flows = (_bytes(memory, "L1 bytes"), _bytes(memory, "L2 bytes"), size(round(sum(dram))) if dram else "")
    shared = _bytes(memory, "shared bytes")
    says = [f"{left} to {right}: {flow}" for left, right, flow in zip(names, names[1:], flows, strict=False) if flow]
    says += [f"{name}: {hit}" for name, hit in zip(names, hits, strict=True) if hit]
    says += [f"shared memory: {shared}"] if shared else []
    parts = [_HEAD.format(_WIDTH, _HEIGHT, "; ".join(says))]
    for index, (name, hit) in enumerate(zip(names, hits, strict=True)):
        x = index * (_BOX + _GAP)
        parts.append(_BOX_SHAPE.format(x, _TOP, _BOX))
        below = shared and f"shared {shared}" if index == 0 else hit
        parts.append(_TEXT.format(x + _BOX / 2, _TOP + (18 if below else 27), name))
        if below:
            parts.append(_TEXT.format(x + _BOX / 2, _TOP + 35, below))
        if index < len(flows):
            parts.append(_ARROW.format(x + _BOX + 4, x + _BOX + _GAP - 4, _TOP + 22, _TOP + 22))
            parts.append(_TEXT.format(x + _BOX + _GAP / 2, _TOP + 14, flows[index] or "–"))
    return Markup("").join([*parts, Markup("</svg>")])


def _hits(memory: Mapping[str, float], name: str) -> str:
    return f"{percent(memory[name])} hit" if name in memory else ""


def _bytes(memory: Mapping[str, float], name: str) -> str:
    return size(round(memory[name])) if name in memory else ""
