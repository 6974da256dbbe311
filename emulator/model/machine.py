"""What ptxas makes of PTX instructions for which there is no machine instruction.

Counted in its code for sm_90 (CUDA 13.0), along the way that ordinary numbers take; where the kinds of a class differ
(division, root, reciprocal; with and without sign), about their mean.
"""

from __future__ import annotations

from collections.abc import Mapping

EXPANSIONS: Mapping[str, Mapping[str, int]] = {
    "int_division": {"int": 17, "convert": 2, "special": 1},
    "long_product": {"int": 4},
    "long_division": {"int": 68, "control": 4, "convert": 2, "special": 1},
    "fp32_division": {"fp32": 5, "special": 1, "int": 2, "control": 3},
    "fp64_division": {"fp64": 7, "fp32": 1, "special": 1, "int": 4, "control": 3},
}
#: Of PTX's integer instructions so many are left in machine code: address arithmetic goes into the accesses.
_INTEGER_SHARE = 0.6


def machine_instructions(counts: Mapping[str, int]) -> dict[str, float]:
    """Warp instructions by class, of PTX → about those of machine code."""
    found = {kind: float(count) for kind, count in counts.items() if kind not in EXPANSIONS}
    found["int"] = _INTEGER_SHARE * found.get("int", 0.0)
    for kind, parts in EXPANSIONS.items():
        for part, number in parts.items():
            found[part] = found.get(part, 0.0) + number * counts.get(kind, 0)
    return found
