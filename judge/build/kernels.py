"""Names of kernels as people wrote them. ptxas speaks of ``_Z3addPKfS0_Pfi``; the author called it ``add``."""

from __future__ import annotations

import re


def kernel_name(symbol: str) -> str:
    """The qualified name in a mangled symbol (Itanium C++ ABI), without template arguments and parameters.

    Only the plain forms are read: a name, or nested names. Anything else stays as it is.
    """
    if (found := re.match(r"_ZN?(?=\d)", symbol)) is None:
        return symbol
    names: list[str] = []
    at, nested = found.end(), found[0].endswith("N")
    while length := re.match(r"\d+", symbol[at:]):
        begin = at + length.end()
        at = begin + int(length[0])
        names.append("(anonymous)" if symbol.startswith("_GLOBAL__N_", begin) else symbol[begin:at])
        if not nested or at > len(symbol):
            break
    return "::".join(names) if names and at <= len(symbol) else symbol
