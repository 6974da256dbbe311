"""Estimates the machine instructions that ptxas makes of PTX instructions.

The counts are from its code for sm_90 (CUDA 13.0), on the path that ordinary numbers take. Where the members of a class
differ (division, root and reciprocal; signed and unsigned), the count is about their mean.
"""

from __future__ import annotations

from collections.abc import Mapping

#: By class of PTX instruction: the machine instructions of one, by class.
EXPANSIONS: Mapping[str, Mapping[str, int]] = {
    "int_division": {"int": 17, "convert": 2, "special": 1},
    "long_product": {"int": 4},
    "long_division": {"int": 68, "control": 4, "convert": 2, "special": 1},
    "fp32_division": {"fp32": 5, "special": 1, "int": 2, "control": 3},
    "fp64_division": {"fp64": 7, "fp32": 1, "special": 1, "int": 4, "control": 3},
}
#: Fraction of PTX's integer instructions that remain in machine code: accesses absorb address arithmetic.
_INTEGER_SHARE = 0.6


def machine_instructions(counts: Mapping[str, int]) -> dict[str, float]:
    """Returns the estimated number of machine instructions by class, given that of PTX instructions by class."""
    found = {kind: float(count) for kind, count in counts.items() if kind not in EXPANSIONS}
    found["int"] = _INTEGER_SHARE * found.get("int", 0.0)
    for kind, parts in EXPANSIONS.items():
        for part, number in parts.items():
            found[part] = found.get(part, 0.0) + number * counts.get(kind, 0)
    return found
