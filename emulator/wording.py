"""The words of findings and advice that depend on the language of a kernel.

They name what its author writes, and what a compiler decides for them. What is found, and the figures, are the same in
every language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from records import dataclass


@dataclass(frozen=True, slots=True)
class Wording:
    """Words for one language; those that are empty add nothing to a sentence.

    ``block`` is what it calls a block. ``not_launched`` says how to see whether a kernel was launched, ``bounds`` what
    keeps an access within its buffer; ``lowest`` and ``highest`` are the numbers beyond all others. The rest is advice
    on time: ``divergence`` explains idle lanes, ``masked`` lanes whose loads are masked off, which are not reported
    where it is empty, and ``occupancy`` says by resource what gives more of it.
    """

    block: str
    not_launched: str
    coalescing: str
    divergence: str
    combining: str
    local: str
    lowest: str
    highest: str
    bounds: str = ""
    latency: str = ""
    conflicts: str = ""
    masked: str = ""
    occupancy: Mapping[str, str] = field(default_factory=dict)


CUDA = Wording(
    block="block",
    not_launched="cudaGetLastError() tells",
    coalescing="let neighbouring threads use neighbouring addresses",
    divergence="the threads of a warp part ways (divergence)",
    combining="combine values within the warp or block first",
    local="an array indexed by what is known only at run time",
    lowest="-INFINITY",
    highest="INFINITY",
)
TRITON = Wording(
    block="program",
    not_launched="look at its grid",
    bounds="; does its mask leave out what lies behind the end?",
    coalescing=(
        "let the offsets along the last axis of a tile step by 1; if they do, the mask keeps Triton from loading 16 "
        "bytes at a time, which lengths that are multiples of 16 allow"
    ),
    divergence="few threads have an element here, as in a reduction (divergence); use larger tiles or fewer num_warps",
    combining="combine values within the program first, by tl.sum or tl.histogram",
    local="Triton keeps a part of a tile there; use smaller tiles or more num_warps",
    lowest='float("-inf")',
    highest='float("inf")',
    latency="; try more programs, another num_warps, or num_stages in loops with tl.dot",
    conflicts="; Triton chooses the layout, and another tile size or num_warps gives another one",
    masked="BLOCK is far larger than what there is to load",
    occupancy={
        "threads": "use another num_warps",
        "blocks": "use larger tiles with more num_warps",
        "registers": "use smaller tiles or more num_warps",
        "shared memory": "use smaller tiles or fewer num_stages",
    },
)
_BY_LANGUAGE = {"triton": TRITON}


def wording_of(language: str) -> Wording:
    """Returns the words for a language by its name; those of CUDA for one that has none of its own."""
    return _BY_LANGUAGE.get(language, CUDA)
