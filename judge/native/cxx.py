"""The sources and compiler options of the native library. Imports no NumPy: the build of a wheel reads this, too."""

from __future__ import annotations

from pathlib import Path

from emulator.cxx import CxxLibrary

LIBRARY = CxxLibrary("libgpujudge.so", Path(__file__).parent / "sources", flags=("-O3",))
