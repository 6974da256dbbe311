"""The policy of a jail as plain data. ``bwrap.py`` turns it into arguments, ``launch.py`` into a process.

A jail starts with nothing; a policy names what is added. A bind usually keeps the path that its files have outside, so
that an interpreter finds its own files. Later binds lie over earlier ones, and all of them over ``/tmp``.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field
from pathlib import Path
from typing import Literal

from judge.sandbox.bind import Bind
from judge.sandbox.gpu import gpu_binds, gpu_library_path
from judge.settings import BuildLimits, RunLimits
from records import dataclass

MIB = 1 << 20

#: ``talking``: processes may also talk to each other over the loopback of the jail's own network.
SeccompLevel = Literal["none", "base", "talking"]


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds on one jail. None means no bound.

    ``memory_bytes`` and ``processes`` bound the whole process tree where there is a cgroup; ``tmpfs_bytes`` bounds each
    of ``/tmp`` and ``/dev/shm``. Without a cgroup memory is bounded per process, by ``memory_fallback``:
    ``address_space`` is strict, but CUDA reserves too much address space to run under it; ``data`` counts writable
    private memory. Only with ``real_time`` can the jail be scheduled in real time (``judge.sandbox.real_time``).
    """

    memory_bytes: int | None = None
    processes: int | None = None
    cpu_s: float | None = None
    file_bytes: int | None = None
    open_files: int = 512
    tmpfs_bytes: int = 64 * MIB
    memory_fallback: Literal["address_space", "data"] = "data"
    real_time: bool = False


@dataclass(frozen=True, slots=True)
class Policy:
    """One jail. ``hidden`` folders are covered by an empty one; ``env`` is the whole environment inside."""

    limits: Limits
    binds: tuple[Bind, ...] = ()
    hidden: tuple[str, ...] = ()
    env: Mapping[str, str] = field(default_factory=dict)
    cwd: str = "/tmp"  # noqa: S108 (the jail's own)
    seccomp: SeccompLevel = "base"
    #: ``off`` runs the command without any protection: only for one's own code (JudgeSettings.jail).
    jail: str = "required"


#: What the loader and the compiler driver read under /etc.
_ETC = (Path("/etc/ld.so.cache"), Path("/etc/alternatives"))
#: The folders of ``judge`` that a jail shows.
_SHOWN = ("wire", "runner")
_BASE_ENV = {"PATH": "/usr/bin:/bin", "HOME": "/tmp", "TMPDIR": "/tmp", "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8"}  # noqa: S108 (the jail's own)


def build_policy(
    limits: BuildLimits,
    *,
    binds: Iterable[Bind] = (),
    env: Mapping[str, str] | None = None,
    jail: str = "required",
    hidden: Iterable[str] = (),
) -> Policy:
    """Returns the jail of a compilation: the toolkit given in ``binds``, the host compiler of ``/usr``, no device."""
    return Policy(
        limits=Limits(
            memory_bytes=limits.memory_bytes,
            processes=96,
            # Host and device code are compiled at once, and some of it runs before the jail's clock starts.
            cpu_s=2 * limits.wall_s + 5,
            file_bytes=build_file_bytes(limits),
            tmpfs_bytes=1024 * MIB,
            memory_fallback="address_space",
        ),
        binds=(*_existing(_ETC), *binds),
        # A source that includes a terminal (/dev/ptmx) would make the compiler wait for it.
        hidden=("/dev/pts", *hidden),
        env={**_BASE_ENV, **(env or {})},
        jail=jail,
    )


def build_file_bytes(limits: BuildLimits) -> int:
    """Returns the largest file that a compiler may write: intermediate ones are larger than the library."""
    return max(256 * MIB, limits.artifact_bytes)


def run_policy(
    limits: RunLimits,
    *,
    binds: Iterable[Bind] = (),
    env: Mapping[str, str] | None = None,
    hidden: Iterable[str] = (),
    gpus: Iterable[int] | None = None,
    memory_bytes: int | None = None,
    busy_threads: int | None = None,
    jail: str = "required",
) -> Policy:
    """Returns the jail of a runner: this Python with its packages, the runner's code, and GPUs.

    The GPUs are those with these minor numbers (none by default).

    ``memory_bytes`` overrides the limit on host memory. ``busy_threads`` is how many threads can work at a time; by
    default one a processor, beside the submission's own. The packs, references and the data folder are not inside.
    """
    working = busy_threads or 1 + len(os.sched_getaffinity(0))
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
            # A submission may have as many of its own, however many the device works on.
            processes=limits.processes + working,
            cpu_s=limits.wall_s * working,
            file_bytes=1024 * MIB,
            real_time=gpus is not None,
        ),
        binds=(*_existing(_ETC[:1]), *packages, *devices, *binds),
        hidden=(*trusted_folders(), *hidden),
        env={**_BASE_ENV, "PYTHONDONTWRITEBYTECODE": "1", **extra_env, **(env or {})},
        jail=jail,
    )


def python_binds() -> tuple[Bind, ...]:
    """Returns the paths with which this interpreter starts inside with the runner importable, each in its own place.

    Of a source checkout only ``judge.wire``, ``judge.runner``, ``emulator`` and ``records`` are shown, never the
    trusted side, the packs or the data.
    """
    wanted = [Path(sys.base_prefix), Path(sys.prefix), Path(sys.base_exec_prefix)]
    # A virtual environment's interpreter is a link, often to another link (pyenv, uv): the jail shows all of them.
    link = Path(sys.executable)
    while link.is_symlink():
        target = link.readlink()
        link = target if target.is_absolute() else link.parent / target
        wanted.append(link.parent.parent if link.parent.name == "bin" else link)
    judge, home = _judge_folder(), _judge_folder().parent
    wanted += [judge / "__init__.py", *(judge / name for name in _SHOWN), home / "emulator", home / "records"]
    usr = Path("/usr")
    seen: list[Path] = []
    for path in wanted:
        covered = any(path.is_relative_to(other) for other in seen)
        if path.exists() and not path.is_relative_to(usr) and not covered and path != Path("/"):
            seen.append(path)
    return tuple(Bind.same(path) for path in seen)


def trusted_folders() -> tuple[str, ...]:
    """Returns the folders of the trusted side and the packs, to hide where they are installed among shown packages."""
    judge, home = _judge_folder(), _judge_folder().parent
    shown = [bind.source for bind in python_binds()] + [Path("/usr")]
    if not any(judge.is_relative_to(folder) for folder in shown):
        return ()
    folders = [folder for folder in judge.iterdir() if folder.name not in _SHOWN]
    folders += [home / name for name in ("challenges", "logs", "store", "workers", "web", "cli", "migrations")]
    return tuple(str(folder) for folder in sorted(folders) if folder.is_dir())


def _judge_folder() -> Path:
    import judge

    return Path(judge.__file__).resolve().parent


def _existing(paths: Iterable[Path]) -> tuple[Bind, ...]:
    return tuple(Bind.same(path) for path in paths if path.exists())
