"""The headers of CUTLASS and CuTe, which a source may include where they are installed.

The extra ``gpujudge[cutlass]`` installs them. A source that includes one of them is compiled with their folder on its
path, and its builds are kept by their version. No other source sees the folder.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import re
from pathlib import Path

from judge.sandbox.bind import Bind
from records import dataclass

_PACKAGE, _MODULE = "nvidia-cutlass", "cutlass_library"
_INSIDE = "/cutlass"
_INCLUDED = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*[<"](?:cutlass|cute)/', re.MULTILINE)
_MISSING = (
    "This kernel includes CUTLASS or CuTe, and their headers are not installed here. The operator of this site adds "
    "them with `pip install 'gpujudge[cutlass]'`; or write the kernel with the headers of CUDA alone."
)


@dataclass(frozen=True, slots=True)
class Headers:
    """A folder of headers, and the version of its package."""

    folder: Path
    version: str

    @property
    def bind(self) -> Bind:
        """How a jail shows the folder."""
        return Bind(self.folder, _INSIDE)

    def options(self, *, walled: bool) -> tuple[str, ...]:
        """Returns the compiler's options, in a jail or without one. Warnings of these headers are not the author's."""
        return ("-isystem", _INSIDE if walled else str(self.folder))


def includes_cutlass(source: bytes) -> bool:
    """Returns whether a source, or a header that was sent with it, includes a header of CUTLASS or CuTe."""
    return _INCLUDED.search(source) is not None


@functools.cache
def find_headers() -> Headers | None:
    """Returns the installed headers, None if there are none."""
    spec = importlib.util.find_spec(_MODULE)
    if spec is None or not spec.submodule_search_locations:
        return None
    folder = Path(spec.submodule_search_locations[0]) / "source" / "include"
    if not (folder / "cutlass" / "cutlass.h").is_file():
        return None
    return Headers(folder, importlib.metadata.version(_PACKAGE))


def headers_for(source: bytes) -> Headers | None:
    """Returns the headers that a source needs, None if it needs none or there are none."""
    return find_headers() if includes_cutlass(source) else None


def missing_headers(source: bytes) -> str | None:
    """Returns why a source that needs the headers cannot be compiled here, in words for its author; None if it can."""
    return _MISSING if includes_cutlass(source) and find_headers() is None else None
