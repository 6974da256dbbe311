"""The NVIDIA devices and driver libraries that a jail with a GPU must see."""

from __future__ import annotations

import functools
import os
import subprocess
from collections.abc import Iterable
from pathlib import Path

from judge.sandbox.bind import Bind

#: The control nodes every CUDA process opens; uvm-tools is optional with some drivers and asked for by others.
_CONTROL_NODES = ("nvidiactl", "nvidia-uvm", "nvidia-uvm-tools")


def gpu_binds(minors: Iterable[int]) -> tuple[Bind, ...]:
    """Returns the paths that a jail with the GPUs of these minor numbers must show.

    These are the device nodes (``/dev/nvidia<minor>``), ``/sys`` (the driver reads the topology there; without it
    ``cuInit`` fails on some machines) and the driver's libraries where they lie outside ``/usr``.
    """
    names = [*_CONTROL_NODES, *(f"nvidia{minor}" for minor in minors)]
    nodes = [Path("/dev") / name for name in names]
    binds = [Bind.same(node, "dev") for node in nodes if node.exists()]
    if Path("/sys").is_dir():
        binds.append(Bind.same(Path("/sys")))
    folder = driver_folder()
    if folder is not None and not folder.is_relative_to("/usr"):
        binds.append(Bind.same(folder))
    return tuple(binds)


def visible_minors() -> tuple[int, ...]:
    """Returns the minor numbers of the GPUs that have device nodes on this machine."""
    names = (path.name.removeprefix("nvidia") for path in Path("/dev").glob("nvidia[0-9]*"))
    return tuple(sorted(int(name) for name in names if name.isdigit()))


def gpu_library_path() -> str:
    """Returns the LD_LIBRARY_PATH that finds the driver's libraries; empty where the loader finds them by itself."""
    folder = driver_folder()
    if folder is None or str(folder) in _loader_folders():
        return ""
    return str(folder)


@functools.cache
def driver_folder() -> Path | None:
    """Finds the folder of ``libcuda.so.1``: in LD_LIBRARY_PATH, the loader's cache, or where containers have it."""
    candidates = [Path(part) for part in os.environ.get("LD_LIBRARY_PATH", "").split(":") if part.startswith("/")]
    candidates += [Path(folder) for folder in sorted(_loader_folders())]
    candidates += [
        Path("/usr/local/nvidia/lib64"),
        Path("/usr/lib/x86_64-linux-gnu"),
        Path("/usr/lib64"),
        Path("/usr/lib/wsl/lib"),
        Path("/run/opengl-driver/lib"),
    ]
    for folder in candidates:
        if (folder / "libcuda.so.1").exists():
            return folder
    return None


@functools.cache
def _loader_folders() -> frozenset[str]:
    """Returns the folders of each libcuda.so.1 in the loader's cache."""
    for ldconfig in ("/sbin/ldconfig", "/usr/sbin/ldconfig"):
        if Path(ldconfig).exists():
            listing = subprocess.run([ldconfig, "-p"], capture_output=True, text=True, check=False).stdout
            lines = (line for line in listing.splitlines() if line.strip().startswith("libcuda.so.1 "))
            return frozenset(str(Path(line.split("=>")[-1].strip()).parent) for line in lines)
    return frozenset()
