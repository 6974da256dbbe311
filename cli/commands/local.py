"""The ``judge`` command, which runs the engine in this process, without server, database or queue."""

from __future__ import annotations

import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.answers import Step
from cli.console import print_json, say
from cli.errors import UsageError
from cli.extras import need
from cli.progress import ProgressLine
from cli.render import print_judgement
from cli.source import read_source
from judge.judgement_json import to_json
from judge.verdict import Verdict

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo
    from judge.packs.pack import Pack
    from judge.pipeline import Progress
    from judge.settings import JudgeSettings

Packs = Annotated[
    list[Path] | None,
    typer.Option("--packs", metavar="DIR", help="A folder of challenges, instead of the built-in ones."),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="For what is built once; else GPUJUDGE_DATA_DIR, else a folder in your cache."),
]


def judge(
    file: options.KernelFile,
    challenge: options.Challenge = None,
    device: options.Device = None,
    samples_only: Annotated[bool, typer.Option("--samples-only", help="Only the public cases, and no timing.")] = False,
    seed: Annotated[int | None, typer.Option(help="What the inputs are made from; else a new one each time.")] = None,
    packs: Packs = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Judge a kernel here, without a server, on the emulator or a GPU of this machine (cuda:0).

    The exit code says the verdict: 0 AC, 10 WA, 11 CE, 12 RE, 13 TLE, 14 MLE, 15 OLE, 16 SV, 17 TI, 20 IE.
    """
    source = read_source(file, challenge=challenge, device=device)
    pipeline = need("judge.pipeline", "judge")
    settings = local_settings(data_dir)
    pack = find_pack(source.challenge, packs)
    found = find_device(source.device, settings)
    mode = pipeline.Mode.RUN if samples_only else pipeline.Mode.SUBMIT
    with ProgressLine() as line:

        def show(progress: Progress) -> None:
            verdict = None if progress.verdict is None else progress.verdict.value
            line.update(progress.stage, Step(progress.case_id or "", verdict, progress.done, progress.total))

        prepare_device(found, settings, line.update)
        chosen = secrets.randbits(63) if seed is None else seed
        judgement = pipeline.judge(source.content, pack, found, chosen, settings, mode=mode, progress=show)
    if as_json:
        print_json(to_json(judgement))
    else:
        print_judgement(judgement)
        if judgement.verdict is Verdict.INTERNAL_ERROR:
            say("`gpujudge doctor` says what this machine lacks.")
    raise typer.Exit(judgement.verdict.exit_code)


def prepare_device(device: DeviceInfo, settings: JudgeSettings, say: Callable[[str], None]) -> None:
    """Builds what the device needs, if it is missing. Calls ``say`` before each slow step."""
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
    nvcc = environ.get("GPUJUDGE_NVCC")
    made: JudgeSettings = settings.JudgeSettings(
        data_dir=folder,
        nvcc=Path(nvcc) if nvcc else None,
        jail=jail,
        emulator_threads=int(threads) if threads else None,
        emulator_gpu=gpu,
    )
    return made


def pack_folders(given: list[Path] | None) -> list[Path]:
    """Returns the folders of ``--packs``, else those of GPUJUDGE_PACK_PATHS, else the built-in one."""
    if given:
        return given
    named = os.environ.get("GPUJUDGE_PACK_PATHS")
    if named:
        return [Path(part).expanduser() for part in named.split(os.pathsep) if part]
    return [Path(__file__).resolve().parent.parent.parent / "challenges"]


def find_pack(slug: str, folders: list[Path] | None) -> Pack:
    """Returns the pack of a challenge. Raises UsageError if it is unknown or broken."""
    module = need("judge.packs.registry", "judge")
    registry = module.Registry.load(pack_folders(folders))
    try:
        pack: Pack = registry.find(slug)
    except module.UnknownChallenge as error:
        for problem in registry.problems:
            if problem.file.parent.name == slug:
                raise UsageError(f"challenge {slug} is broken: {problem}") from None
        raise UsageError(str(error), hint=f"There are: {', '.join(registry.packs) or 'none'}.") from None
    return pack


def find_device(name: str, settings: JudgeSettings) -> DeviceInfo:
    """Returns the device of this machine named ``emulator``, ``cuda:0`` or by key. Raises UsageError."""
    registry = need("judge.backends.registry", "judge")
    try:
        device: DeviceInfo = registry.BUILTIN_BACKENDS.find_device(name, settings)
    except registry.UnknownDevice as error:
        raise UsageError(str(error)) from None
    return device
