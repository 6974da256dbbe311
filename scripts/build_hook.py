"""Lays out a wheel: everything under the one name ``gpujudge``.

With GPUJUDGE_PLATFORM_WHEEL=1 it has the native libraries for this kind of machine, so that nothing is compiled where
the wheel is installed. Hatchling calls it.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

#: The headers of CUDA that the emulator's library is built with.
_HEADERS = ["nvidia-cuda-runtime==13.0.96", "nvidia-cuda-crt==13.0.88"]


class GpujudgeBuildHook(BuildHookInterface[Any]):
    """Adds to a wheel what is not at its own place in the repository."""

    _scratch: Path | None = None

    def dependencies(self) -> list[str]:
        """Returns the build's requirements besides hatchling."""
        return _HEADERS if _is_for_platform() else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Builds the libraries if the wheel is to bring them. An editable installation takes nothing."""
        if self.target_name != "wheel" or version == "editable":
            return
        root = Path(self.root)
        # Hatchling puts all of it under gpujudge.
        build_data["force_include"][str(root / "gpujudge.py")] = "__init__.py"
        if not _is_for_platform():
            return
        if (sys.platform, platform.machine()) != ("linux", "x86_64"):
            raise SystemExit("GPUJUDGE_PLATFORM_WHEEL: the native libraries are for Linux on x86-64")
        for entry in sys.path:
            if (Path(entry) / "nvidia/cu13/include/cuda_runtime_api.h").exists():
                os.environ["CUDA_HOME"] = str(Path(entry) / "nvidia/cu13")
        self._scratch = Path(tempfile.mkdtemp(prefix="gpujudge-wheel-"))
        sys.path.insert(0, self.root)
        from emulator import native
        from emulator.cxx import BROUGHT
        from judge.native.cxx import LIBRARY

        for library in (native.library(), LIBRARY):
            beside = library.sources.parent.relative_to(root)
            built = library.build_portable(self._scratch / beside / BROUGHT)
            build_data["force_include"][str(built)] = str(built.relative_to(self._scratch))
        build_data["pure_python"] = False
        # No module of Python's ABI is inside; the C library may be no older than this machine's.
        build_data["tag"] = f"py3-none-manylinux_{platform.libc_ver()[1].replace('.', '_')}_x86_64"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:  # noqa: ARG002
        """Removes the built files."""
        if self._scratch is not None:
            shutil.rmtree(self._scratch, ignore_errors=True)


def _is_for_platform() -> bool:
    return os.environ.get("GPUJUDGE_PLATFORM_WHEEL") == "1"
