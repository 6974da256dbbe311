"""What a jail may see and use, as plain data. ``bwrap.py`` turns it into arguments, ``launch.py`` into a process.

Everything starts closed: a policy names what is added. A bind keeps the path that its files have outside unless it
says otherwise, so that an interpreter finds itself. Later binds lie over earlier ones, and all of them over ``/tmp``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from judge.settings import BuildLimits, RunLimits

MIB = 1 << 20

BindKind = Literal["ro", "rw", "dev"]
SeccompLevel = Literal["none", "base"]


@dataclass(frozen=True, slots=True)
class Bind:
    """A file or folder of the host shown inside as ``target``. ``dev`` is writable and its device nodes work."""

    source: Path
    target: str
    kind: BindKind = "ro"

    @staticmethod
    def same(path: Path, kind: BindKind = "ro") -> Bind:
        """``path`` at its own place."""
        return Bind(path, str(path), kind)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one jail. None means no bound.

    ``memory_bytes`` and ``processes`` bound the whole tree where a cgroup can be had, ``tmpfs_bytes`` each of ``/tmp``
    and ``/dev/shm``. Without a cgroup memory is bounded per process, by ``memory_fallback``: ``address_space`` is
    strict, but what reserves address space for CUDA cannot live under it; ``data`` counts writable private memory.
    """

    memory_bytes: int | None = None
    processes: int | None = None
    cpu_s: float | None = None
    file_bytes: int | None = None
    open_files: int = 512
    tmpfs_bytes: int = 64 * MIB
    memory_fallback: Literal["address_space", "data"] = "data"


@dataclass(frozen=True, slots=True)
class Policy:
    """One jail. ``hidden`` folders are covered by an empty one; ``env`` is the whole environment inside."""

    limits: Limits
    binds: tuple[Bind, ...] = ()
    hidden: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/tmp"
    seccomp: SeccompLevel = "base"
    #: ``off`` runs the command as it is, without any wall: only for one's own code (JudgeSettings.jail).
    jail: str = "required"


#: What the loader and the compiler driver look for under /etc, and nothing else of it.
_ETC = (Path("/etc/ld.so.cache"), Path("/etc/alternatives"))
_BASE_ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}


def build_policy(
    limits: BuildLimits, *, binds: Iterable[Bind] = (), env: Mapping[str, str] | None = None, jail: str = "required"
) -> Policy:
    """The jail of a compilation: the toolkit given in ``binds``, the host compiler of ``/usr``, no device."""
    return Policy(
        limits=Limits(
            memory_bytes=limits.memory_bytes,
            processes=96,
            # Two halves are compiled at once, and some of it runs before the clock of the jail starts.
            cpu_s=2 * limits.wall_s + 5,
            file_bytes=build_file_bytes(limits),
            tmpfs_bytes=1024 * MIB,
            memory_fallback="address_space",
        ),
        binds=(*_existing(_ETC), *binds),
        env={**_BASE_ENV, **(env or {})},
        jail=jail,
    )


def build_file_bytes(limits: BuildLimits) -> int:
    """The largest file a compiler may write: intermediate ones are larger than the library."""
    return max(256 * MIB, limits.artifact_bytes)


def run_policy(
    limits: RunLimits,
    *,
    binds: Iterable[Bind] = (),
    env: Mapping[str, str] | None = None,
    hidden: Iterable[str] = (),
    gpus: Iterable[int] | None = None,
    memory_bytes: int | None = None,
    jail: str = "required",
) -> Policy:
    """The jail of a runner: this Python with its packages, the code of the runner, and the GPUs whose minor numbers
    are given (none by default).

    ``memory_bytes`` overrides the limit on host memory. The packs, their references and the data folder are not inside.
    """
    from judge.sandbox.gpu import gpu_binds, gpu_library_path

    packages = python_binds()
    devices: tuple[Bind, ...] = ()
    extra_env: dict[str, str] = {}
    if gpus is not None:
        devices = gpu_binds(gpus)
        library_path = gpu_library_path()
        if library_path:
            extra_env["LD_LIBRARY_PATH"] = library_path
    return Policy(
        limits=Limits(
            memory_bytes=memory_bytes or limits.memory_bytes,
            processes=limits.processes,
            # Two threads of a GPU's runner can be at work; the emulator's are one a core beside the submission's own.
            cpu_s=limits.wall_s * (2 if gpus is not None else 1 + len(os.sched_getaffinity(0))),
            file_bytes=1024 * MIB,
        ),
        binds=(*_existing(_ETC[:1]), *packages, *devices, *binds),
        hidden=(*_pack_folders(), *hidden),
        env={**_BASE_ENV, "PYTHONDONTWRITEBYTECODE": "1", **extra_env, **(env or {})},
        jail=jail,
    )


def python_binds() -> tuple[Bind, ...]:
    """What this interpreter needs to start inside with ``judge`` and ``emulator`` importable, each at its own place.

    Of a source checkout only those two packages are shown: what lies beside them (packs, data) is none of the runner's.
    """
    import judge

    wanted = [Path(sys.base_prefix), Path(sys.prefix), Path(sys.base_exec_prefix)]
    # A virtual environment's interpreter is a link, often to a link elsewhere (pyenv, uv): every stop must be there.
    link = Path(sys.executable)
    while link.is_symlink():
        target = link.readlink()
        link = target if target.is_absolute() else link.parent / target
        wanted.append(link.parent.parent if link.parent.name == "bin" else link)
    package = Path(judge.__file__).resolve().parent
    wanted += [package, package.parent / "emulator"]
    usr = Path("/usr")
    seen: list[Path] = []
    for path in wanted:
        covered = any(path.is_relative_to(other) for other in seen)
        if path.exists() and not path.is_relative_to(usr) and not covered and path != Path("/"):
            seen.append(path)
    return tuple(Bind.same(path) for path in seen)


def _pack_folders() -> tuple[str, ...]:
    """Where an installed copy of the built-in packs would lie, beside the packages that are shown."""
    import judge

    folder = Path(judge.__file__).resolve().parent.parent / "challenges"
    shown = any(folder.is_relative_to(bind.source) for bind in python_binds()) or folder.is_relative_to("/usr")
    return (str(folder),) if folder.is_dir() and shown else ()


def _existing(paths: Iterable[Path]) -> tuple[Bind, ...]:
    return tuple(Bind.same(path) for path in paths if path.exists())
