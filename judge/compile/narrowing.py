"""Narrows ``#include <cub/cub.cuh>`` to the headers of what a source uses of CUB.

That header includes all of CUB, which costs a build a third of its CPU time. What the narrow one lacks (a standard
header that the wide one happens to bring) fails to compile; the caller then builds with the wide one, so that no source
is refused for this.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from judge.compile.source import strip_noise

#: The header that is narrowed, by the path under which sources include it.
WIDE = "cub/cub.cuh"
#: Where a toolkit has the headers of CUB and Thrust: CUDA 13 has a folder of its own for them.
FOLDERS = ("include/cccl", "include")
_INCLUDED = re.compile(rf"^[ \t]*#[ \t]*include[ \t]*<{WIDE}>", re.MULTILINE)
_NAME = re.compile(r"(?<![\w:])(?:::)?\bcub\s*::\s*(\w+)")
_WORD = re.compile(r"\b(?:cub|CUB)(?:\b|_)")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_UTILITIES = {
    "thread/thread_operators.cuh": ("Sum", "Max", "Min", "ArgMax", "ArgMin", "Equality", "Inequality"),
    "util_type.cuh": ("DoubleBuffer", "KeyValuePair", "NullType", "Traits", "FutureValue"),
    "util_allocator.cuh": ("CachingDeviceAllocator",),
}


def narrowed_includes(source: bytes, toolkit: Path) -> tuple[str, ...]:
    """Returns the headers to include instead of the wide one, sorted; empty where it is not included or is needed.

    It is needed where CUB is used in another way than by ``cub::Name``, or for names whose header is not known.
    """
    code = strip_noise(source.decode("utf-8", "replace"))
    if not _INCLUDED.search(code):
        return ()
    code = _INCLUDED.sub("", code)
    names = _NAME.findall(code)
    if not names or len(names) != len(_WORD.findall(code)):
        return ()
    found = {_header(name, toolkit) for name in names}
    return () if None in found else tuple(sorted(header for header in found if header))


def _header(name: str, toolkit: Path) -> str | None:
    for candidate in _candidates(name):
        if any((toolkit / folder / candidate).is_file() for folder in FOLDERS):
            return candidate
    return None


def _candidates(name: str) -> Iterator[str]:
    """Yields where a name may be declared: ``BLOCK_REDUCE_RAKING`` is beside ``BlockReduce``."""
    for header, names in _UTILITIES.items():
        if name in names:
            yield f"cub/{header}"
    words = _HUMP.sub("_", name).lower().split("_")
    if words[0] in ("block", "device", "thread", "warp"):
        for count in range(len(words), 1, -1):
            yield f"cub/{words[0]}/{'_'.join(words[:count])}.cuh"
    yield f"cub/iterator/{'_'.join(words)}.cuh"
