"""PTX fundamental types by their names in modifiers (``s32``, ``f16x2`` …)."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ScalarType:
    """``kind`` is ``u``, ``s``, ``f``, ``bf``, ``tf``, ``b`` or ``pred``; ``lanes`` 2 for the packed types."""

    name: str
    kind: str
    bits: int
    lanes: int = 1

    @property
    def size_bytes(self) -> int:
        return max(1, self.bits // 8)

    @property
    def is_float(self) -> bool:
        return self.kind in ("f", "bf")

    @property
    def is_signed(self) -> bool:
        return self.kind == "s"


def _all_types() -> dict[str, ScalarType]:
    types = [ScalarType(f"{kind}{bits}", kind, bits) for kind in "usb" for bits in (8, 16, 32, 64)]
    types += [ScalarType(f"f{bits}", "f", bits) for bits in (16, 32, 64)]
    types += [
        ScalarType("b128", "b", 128),
        ScalarType("bf16", "bf", 16),
        ScalarType("f16x2", "f", 32, 2),
        ScalarType("bf16x2", "bf", 32, 2),
        ScalarType("tf32", "tf", 32),
        ScalarType("u16x2", "u", 32, 2),
        ScalarType("s16x2", "s", 32, 2),
        ScalarType("pred", "pred", 1),
        ScalarType("b1", "b", 1),
        ScalarType("u4", "u", 4),
        ScalarType("s4", "s", 4),
        ScalarType("e4m3", "e4m3", 8),
        ScalarType("e5m2", "e5m2", 8),
        ScalarType("e4m3x2", "e4m3", 16, 2),
        ScalarType("e5m2x2", "e5m2", 16, 2),
    ]
    return {t.name: t for t in types}


TYPES: dict[str, ScalarType] = _all_types()
