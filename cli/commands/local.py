"""The ``judge`` command, which runs the engine in this process, without server, database or queue."""

from __future__ import annotations

import dataclasses
import os
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.answers import Step
from cli.console import print_json, print_text, say
from cli.errors import UsageError
from cli.extras import need
from cli.progress import ProgressLine
from cli.source import Source, read_sources
from judge.verdict import Verdict

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo, Judgement
    from judge.packs.pack import Pack
    from judge.pipeline import Mode, Progress
    from judge.settings import JudgeSettings

#: Seeds are stored as signed numbers of 64 bits.
_MAX_SEED = 2**63 - 1

Packs = Annotated[
    list[Path] | None,
    typer.Option("--packs", metavar="DIR", help="A folder of challenges, instead of the built-in ones."),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="For what is built once; else GPUJUDGE_DATA_DIR, else a folder in your cache."),
]


def judge(
    files: options.KernelFiles,
    challenge: options.Challenge = None,
    device: options.Device = None,
    samples_only: Annotated[bool, typer.Option("--samples-only", help="Only the public cases, and no timing.")] = False,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=_MAX_SEED, help="What the inputs are made from; else a new one each time."),
    ] = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="ID", help="Only this case, and no timing: to repeat a failure.")
    ] = None,
    packs: Packs = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Judge kernels here, without a server, on the emulator or a GPU of this machine (cuda:0).

    The seed is printed: with --seed, and --case for one case alone, the same inputs are made again. The exit code says
    the verdict: 0 AC, 10 WA, 11 CE, 12 RE, 13 TLE, 14 MLE, 15 OLE, 16 SV, 17 TI, 20 IE; of several files, the first
    that is not accepted.
    """
    sources = read_sources(files, challenge=challenge, device=device)
    pipeline = need("judge.pipeline", "judge")
    settings = local_settings(data_dir)
    chosen = secrets.randbits(_MAX_SEED.bit_length()) if seed is None else seed
    judged: list[Judgement] = []
    for source in sources:
        pack = find_pack(source.challenge, packs)
        found = find_device(source.device, settings)
        mode = pipeline.Mode.RUN if samples_only else pipeline.Mode.SUBMIT
        if case is not None:
            pack, mode = _only_case(pack, case), pipeline.Mode.SUBMIT
        if len(sources) > 1 and not as_json:
            print_text(f"{'' if not judged else chr(10)}{source.path}")
        judged.append(_judge(source, pack, found, chosen, settings, mode, as_json=as_json))
    if as_json:
        shown = [_as_json(source, one, chosen) for source, one in zip(sources, judged, strict=True)]
        print_json(shown[0] if len(shown) == 1 else {"judgements": shown})
    raise typer.Exit(next((one.verdict.exit_code for one in judged if one.verdict is not Verdict.ACCEPTED), 0))


def _judge(
    source: Source, pack: Pack, device: DeviceInfo, seed: int, settings: JudgeSettings, mode: Mode, *, as_json: bool
) -> Judgement:
    pipeline = need("judge.pipeline", "judge")
    with ProgressLine() as line:

        def show(progress: Progress) -> None:
            verdict = None if progress.verdict is None else progress.verdict.value
            line.update(progress.stage, Step(progress.case_id or "", verdict, progress.done, progress.total))

        prepare_device(device, settings, line.update)
        judgement: Judgement = pipeline.judge(source.content, pack, device, seed, settings, mode=mode, progress=show)
    if not as_json:
        need("cli.render", "judge").print_judgement(judgement)
        print_text(f"  seed    {seed}")
        if judgement.verdict is Verdict.INTERNAL_ERROR:
            say("`gpujudge doctor` says what this machine lacks.")
    return judgement


def _as_json(source: Source, judgement: Judgement, seed: int) -> dict[str, Any]:
    made: dict[str, Any] = need("judge.judgement_json", "judge").to_json(judgement)
    return {**made, "file": str(source.path), "seed": seed}


def _only_case(pack: Pack, name: str) -> Pack:
    """Returns the challenge with this case alone, and nothing to time. Raises UsageError if it has no such case."""
    cases = tuple(case for case in pack.cases if case.id == name)
    if not cases:
        known = ", ".join(case.id for case in pack.cases)
        raise UsageError(f"{pack.slug} has no case {name!r}", hint=f"There are: {known}.")
    return dataclasses.replace(pack, cases=cases, benchmarks=())


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
    """Returns the folders of ``--packs``, else the built-in one and those of GPUJUDGE_PACK_PATHS."""
    if given:
        return given
    named = os.environ.get("GPUJUDGE_PACK_PATHS", "")
    builtin = Path(__file__).resolve().parent.parent.parent / "challenges"
    return [builtin, *(Path(part).expanduser() for part in named.split(os.pathsep) if part)]


def find_pack(slug: str, folders: list[Path] | None) -> Pack:
    """Returns the pack of a challenge. Raises UsageError if it is unknown or broken."""
    module = need("judge.packs.registry", "judge")
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


def find_device(name: str, settings: JudgeSettings) -> DeviceInfo:
    """Returns the device of this machine named ``emulator``, ``cuda:0`` or by key. Raises UsageError."""
    registry = need("judge.backends.registry", "judge")
    try:
        device: DeviceInfo = registry.BUILTIN_BACKENDS.find_device(name, settings)
    except registry.UnknownDevice as error:
        raise UsageError(str(error)) from None
    return device
