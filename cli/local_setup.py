"""Finds this machine's settings, challenges and devices for commands without a server."""

from __future__ import annotations

import os
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import UsageError
from cli.extras import need
from cli.source import Source
from store.operation.config_file import apply_config
from store.operation.environment import SettingsProblem, check_names

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo
    from judge.packs.pack import Pack
    from judge.settings import JudgeSettings

#: The configurations of an autotuned kernel that Triton's stand-in takes.
_MOST_CONFIGS = 64


def prepare_device(device: DeviceInfo, settings: JudgeSettings, say: Callable[[str], None]) -> None:
    """Builds the missing parts that the device needs. Calls ``say`` before each slow step."""
    backends = need("judge.backends.registry", "judge").BUILTIN_BACKENDS
    # The judgement will report the same failure as an IE.
    with suppress(need("judge.errors", "judge").InternalError):
        backends.of(device.kind).prepare(settings, say)


def local_settings(data_dir: Path | None) -> JudgeSettings:
    """Returns the engine's settings without a server, from GPUJUDGE_*. Raises UsageError for a wrong value.

    The data folder defaults to one in the user's cache.
    """
    settings = need("judge.settings", "judge")
    environ = os.environ
    try:
        apply_config(environ)
        check_names(environ)
    except SettingsProblem as error:
        raise UsageError(error.message, hint=error.remedy) from None
    cache = Path(environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "gpujudge"
    folder = data_dir or Path(environ.get("GPUJUDGE_DATA_DIR") or cache)
    folder = folder.expanduser().resolve()
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"cannot make {folder}: {error.strerror}") from None
    jail = environ.get("GPUJUDGE_JAIL", "required")
    if jail not in ("required", "off"):
        raise UsageError(f"GPUJUDGE_JAIL is required or off, not {jail!r}")
    threads = environ.get("GPUJUDGE_EMULATOR_THREADS")
    if threads is not None and not threads.isdecimal():
        raise UsageError(f"GPUJUDGE_EMULATOR_THREADS is a number, not {threads!r}")
    gpu = environ.get("GPUJUDGE_EMULATOR_GPU", "h200")
    known = need("emulator.model", "judge").gpu_names()
    if gpu not in known:
        raise UsageError(f"GPUJUDGE_EMULATOR_GPU is one of {', '.join(known)}, not {gpu!r}")
    configs, tuning_s = environ.get("GPUJUDGE_AUTOTUNE_CONFIGS", "8"), environ.get("GPUJUDGE_AUTOTUNE_S", "10")
    if not configs.isdecimal() or not 1 <= int(configs) <= _MOST_CONFIGS:
        raise UsageError(f"GPUJUDGE_AUTOTUNE_CONFIGS is a number from 1 to {_MOST_CONFIGS}, not {configs!r}")
    if not tuning_s.replace(".", "", 1).isdecimal():
        raise UsageError(f"GPUJUDGE_AUTOTUNE_S is a number of seconds, not {tuning_s!r}")
    pytorch = environ.get("GPUJUDGE_PYTORCH", "off")
    if pytorch not in ("off", "tensors", "functions"):
        raise UsageError(f"GPUJUDGE_PYTORCH is off, tensors or functions, not {pytorch!r}")
    nvcc, locks = environ.get("GPUJUDGE_NVCC"), environ.get("GPUJUDGE_LOCKS_DIR")
    made: JudgeSettings = settings.JudgeSettings(
        data_dir=folder,
        nvcc=Path(nvcc) if nvcc else None,
        jail=jail,
        emulator_threads=int(threads) if threads else None,
        emulator_gpu=gpu,
        autotune_configs=int(configs),
        autotune_s=float(tuning_s),
        pytorch=pytorch,
        locks_dir=Path(locks) if locks else None,
    )
    return made


def pack_folders(given: list[Path] | None) -> list[Path]:
    """Returns the folders of ``--packs``, else the built-in one and those of GPUJUDGE_PACK_PATHS."""
    if given:
        return given
    named = os.environ.get("GPUJUDGE_PACK_PATHS", "")
    builtin = Path(__file__).resolve().parent.parent / "challenges"
    return [builtin, *(Path(part).expanduser() for part in named.split(os.pathsep) if part)]


def find_pack(slug: str, folders: list[Path] | None) -> Pack:
    """Returns the pack of a challenge. Raises UsageError if it is unknown or broken, or a folder cannot be read."""
    for folder in folders or ():
        try:
            next(folder.iterdir(), None)
        except OSError as error:
            raise UsageError(f"cannot read the challenges in {folder}: {error.strerror}") from None
    module = need("judge.packs.collection.registry", "judge")
    registry = module.Registry.load(pack_folders(folders), only=slug)
    if slug not in registry.packs:
        registry = module.Registry.load(pack_folders(folders))
    try:
        pack: Pack = registry.find(slug)
    except module.UnknownChallenge as error:
        for problem in registry.problems:
            if problem.file.parent.name == slug:
                raise UsageError(f"challenge {slug} is broken: {problem}") from None
        raise UsageError(str(error), hint=f"There are: {', '.join(registry.packs) or 'none'}.") from None
    return pack


def pack_of(source: Source, folders: list[Path] | None) -> Pack:
    """Returns the pack that a source is for, in its language.

    Raises UsageError as ``find_pack`` does, if the challenge takes no such language, and if this machine cannot build
    it.
    """
    pack = find_pack(source.challenge, folders)
    name = source.language or pack.languages[0]
    try:
        pack = pack.in_language(name)
    except ValueError as error:
        raise UsageError(str(error)) from None
    missing = need("judge.languages.registry", "judge").BUILTIN_LANGUAGES.of(name).missing()
    if missing:
        raise UsageError(missing)
    return pack


def find_device(name: str, settings: JudgeSettings) -> DeviceInfo:
    """Returns the device of this machine named ``emulator``, ``cuda:0`` or by key. Raises UsageError."""
    registry = need("judge.backends.registry", "judge")
    try:
        device: DeviceInfo = registry.BUILTIN_BACKENDS.find_device(name, settings)
    except registry.UnknownDevice as error:
        raise UsageError(str(error)) from None
    return device
