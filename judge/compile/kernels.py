"""Demangles the names of kernels: ptxas reports ``_Z3addPKfS0_Pfi``, and the author wrote ``add``."""

from __future__ import annotations

import re

#: Nobody reads a longer name.
_MOST_CHARACTERS = 4096
#: No name is longer than what four digits say: a longer run of them is no length.
_LENGTH = re.compile(r"\d{1,4}(?!\d)")


def kernel_name(symbol: str) -> str:
    """Returns the qualified name in a mangled symbol (Itanium C++ ABI), without template arguments and parameters.

    Reads plain and nested names only; returns anything else unchanged.
    """
    found = re.match(r"_ZN?(?=\d)", symbol)
    if found is None or len(symbol) > _MOST_CHARACTERS:
        return symbol
    names: list[str] = []
    at, nested = found.end(), found[0].endswith("N")
    while length := _LENGTH.match(symbol, at):
        begin = length.end()
        at = begin + int(length[0])
        names.append("(anonymous)" if symbol.startswith("_GLOBAL__N_", begin) else symbol[begin:at])
        if not nested or at > len(symbol):
            break
    return "::".join(names) if names and at <= len(symbol) else symbol
