"""The ``judge`` command, which runs the engine in this process, without server, database or queue."""

from __future__ import annotations

import dataclasses
import secrets
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import batch, options
from cli.answers import Step
from cli.console import print_json, print_text, say, stdout
from cli.custom_input import read_custom_input
from cli.errors import UsageError
from cli.extras import need
from cli.headers import with_headers
from cli.local_setup import find_device, local_settings, pack_folders, pack_of, prepare_device
from cli.progress import ProgressLine
from cli.source import DEFAULT_DEVICE, STDIN, Source, read_content, read_sources
from cli.watching import saves
from judge.verdict import Verdict
from records import dataclass

if TYPE_CHECKING:
    from judge.bench.background import Background
    from judge.judgement import DeviceInfo, Judgement
    from judge.packs.pack import Pack
    from judge.pipeline import Mode, Progress
    from judge.recheck import Recheck
    from judge.settings import JudgeSettings
    from judge.supervisor.runner_start import EarlyRunners

#: Seeds are stored as signed numbers of 64 bits.
MAX_SEED = 2**63 - 1

Packs = Annotated[
    list[Path] | None,
    typer.Option("--packs", metavar="DIR", help="A folder of challenges, instead of the built-in ones."),
]
Seed = Annotated[
    int | None,
    typer.Option("--seed", min=0, max=MAX_SEED, help="The seed of the inputs; else a new one each time."),
]
DataDir = Annotated[
    Path | None,
    typer.Option("--data-dir", help="For what is built once; else GPUJUDGE_DATA_DIR, else a folder in your cache."),
]


def judge(
    files: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="FILE...", help="The .cu files; - is stdin. With --jsonl, folders too.", show_default=False
        ),
    ] = None,
    challenge: options.Challenge = None,
    device: options.Device = None,
    language: options.Language = None,
    samples_only: Annotated[
        bool, typer.Option("--samples-only", help="Only the public cases, and no ranked time.")
    ] = False,
    seed: Seed = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="ID", help="Only this case, and no timing: to repeat a failure.")
    ] = None,
    sizes: options.Set = None,
    contents: options.Input = None,
    watch: Annotated[bool, typer.Option("--watch", help="Judge again whenever a file is saved, until Ctrl-C.")] = False,
    packs: Packs = None,
    data_dir: DataDir = None,
    recheck: Annotated[
        bool, typer.Option("--recheck/--no-recheck", help="Check on the emulator what a GPU accepted.")
    ] = True,
    precision: Annotated[
        str | None,
        typer.Option("--precision", metavar="P", help="The precision that a time needs: 2% is ± 2 %, and quicker."),
    ] = None,
    untimed: Annotated[
        bool, typer.Option("--untimed", help="Call each benchmark once, check what it computes, and time nothing.")
    ] = False,
    jsonl: Annotated[
        Path | None,
        typer.Option("--jsonl", metavar="OUT", help="A batch: write a line of JSON for each kernel to this file."),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Of a batch: go on with OUT; judge again what ended with IE.")
    ] = False,
    devices: Annotated[
        str | None, typer.Option("--devices", metavar="NAMES", help="Of a batch: cuda:0,cuda:1 or all or emulator.")
    ] = None,
    jobs: Annotated[
        int | None, typer.Option("--jobs", min=1, help="Of a batch: builds, or emulators, at a time.")
    ] = None,
    screen: Annotated[
        str | None, typer.Option("--screen", metavar="emulator", help="Of a batch: what this refuses gets no GPU.")
    ] = None,
    stream: Annotated[
        bool, typer.Option("--stream", help="A batch for programs: kernels on stdin, results on stdout, as JSON lines.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Judge kernels here, without a server, on the emulator or a GPU of this machine (cuda:0).

    What a GPU accepts is then run on the emulator, which finds races and accesses outside of buffers that the GPU
    hides. The verdict stays, and so does the exit code; --no-recheck leaves it out.

    With --set and --input the kernels run on an input of your own, and the reference's answer is printed beside theirs.
    What you leave out is as in the first public case.

    With --jsonl it judges all .cu files in folders, each for the challenge that its first lines, or a folder above it,
    name, and writes one line for each. A batch that was ended goes on with --resume. The exit code is the highest.

    The seed is printed: with --seed, and --case for one case alone, the same inputs are made again. The exit code says
    the verdict: 0 AC, 10 WA, 11 CE, 12 RE, 13 TLE, 14 MLE, 15 OLE, 16 SV, 17 TI, 20 IE; of several files, the first
    that is not accepted.
    """
    chosen = secrets.randbits(MAX_SEED.bit_length()) if seed is None else seed
    if jsonl is not None or stream:
        alone = {"--json": as_json, "--watch": watch, "--case": case, "--set": sizes, "--input": contents}
        if (wrong := next((name for name, value in alone.items() if value), None)) is not None:
            raise UsageError(f"{wrong} is for single files: leave it out, or --jsonl")
        mode = "run" if samples_only else "check" if untimed else "submit"
        named = devices or device or DEFAULT_DEVICE
        chosen_options = batch.Options(named, jobs, mode, screen, chosen, pack_folders(packs))
        settings = _with_precision(local_settings(data_dir), precision)
        if jsonl is None:
            raise typer.Exit(batch.judge_stream(chosen_options, settings))
        if not files:
            raise UsageError("Missing argument 'FILE...'", hint="Name folders, or .cu files.")
        raise typer.Exit(batch.judge_folders(files, challenge, jsonl, chosen_options, settings, resume=resume))
    for name, value in {"--resume": resume, "--devices": devices, "--jobs": jobs, "--screen": screen}.items():
        if value:
            raise UsageError(f"{name} is for a batch: add --jsonl OUT")
    if not files:
        raise UsageError("Missing argument 'FILE...'", hint="Name one or more .cu files.")
    _require_files(files)
    custom = read_custom_input(sizes, contents)
    if custom is not None and case is not None:
        raise UsageError("--case names a case, and --set and --input make one: leave one of them out")
    chosen_cases = _Cases(samples_only, case, custom, is_untimed=untimed)
    if not watch:
        judged = _judge_all(
            files,
            challenge,
            device,
            language,
            chosen_cases,
            chosen,
            packs,
            data_dir,
            precision,
            as_json=as_json,
            recheck=recheck,
        )
        raise typer.Exit(next((one.verdict.exit_code for one in judged if one.verdict is not Verdict.ACCEPTED), 0))
    if as_json:
        raise UsageError("--json prints one object, and --watch judges again and again: leave one of them out")
    if STDIN in files:
        raise UsageError("stdin cannot be watched", hint="Name a file.")
    for _ in saves([*files, *_headers(files)]):
        try:
            _judge_all(
                files,
                challenge,
                device,
                language,
                chosen_cases,
                chosen,
                packs,
                data_dir,
                precision,
                as_json=False,
                recheck=recheck,
            )
        except UsageError as error:  # of what is being written just now
            say(f"error: {error.message}", "bold red")
            if error.hint:
                say(error.hint)
        say(f"watching {', '.join(str(path) for path in files)}: judged again when saved; Ctrl-C ends")


def _headers(files: list[Path]) -> list[Path]:
    """Returns the headers of their own that files include; none of files that cannot be read yet."""
    found: list[Path] = []
    for file in files:
        with suppress(UsageError):
            found += [file.parent / name for name in with_headers(file, read_content(file))[1]]
    return found


@dataclass(frozen=True, slots=True)
class _Cases:
    """Which cases to judge: all, the public ones, the one with an ``id``, or one that the user describes."""

    samples_only: bool
    id: str | None
    custom: dict[str, str] | None
    is_untimed: bool = False

    @property
    def are_timed(self) -> bool:
        """Whether the benchmarks are scored as well."""
        return not (self.samples_only or self.is_untimed) and self.id is None and self.custom is None


def _require_files(files: list[Path]) -> None:
    folder = next((file for file in files if file.is_dir()), None)
    if folder is not None:
        raise UsageError(f"cannot read {folder}: Is a directory", hint="A batch judges folders: add --jsonl OUT.")


def _with_precision(settings: JudgeSettings, precision: str | None) -> JudgeSettings:
    if precision is None:
        return settings
    return dataclasses.replace(settings, precision=batch.parse_precision(precision))


def _judge_all(
    files: list[Path], challenge: str | None, device: str | None, language: str | None, cases: _Cases, seed: int,
    packs: list[Path] | None, data_dir: Path | None, precision: str | None, *, as_json: bool, recheck: bool,
) -> list[Judgement]:  # fmt: skip
    """Reads and judges the files, and prints what comes of it. Raises UsageError as the command does."""
    sources = read_sources(files, challenge=challenge, device=device, language=language)
    settings = _with_precision(local_settings(data_dir), precision)
    devices = {source.device: find_device(source.device, settings) for source in sources}
    with ExitStack() as ending:
        early = start_early(devices[sources[0].device], settings, timed=cases.are_timed)
        if early is not None:
            ending.callback(early.close)
        # What was started for a judgement ends while its result is printed.
        background = need("judge.bench.background", "judge").Background()
        ending.callback(background.close)
        judged: list[Judgement] = []
        checked: list[Recheck | None] = []
        for source in sources:
            if len(sources) > 1 and not as_json:
                print_text(f"{'' if not judged else chr(10)}{source.path}")
            first = early if not judged else None
            judged.append(_judge_one(source, devices[source.device], cases, seed, packs, settings, first, background))
            if not as_json:
                _print(judged[-1], seed)
            wanted = recheck and cases.are_timed
            checked.append(_recheck(source, judged[-1], seed, packs, settings) if wanted else None)
            if not as_json and (found := checked[-1]) is not None:
                _print_recheck(found)
        if as_json:
            shown = [_as_json(*each, seed) for each in zip(sources, judged, checked, strict=True)]
            print_json(shown[0] if len(shown) == 1 else {"judgements": shown})
    return judged


def _judge_one(
    source: Source,
    device: DeviceInfo,
    cases: _Cases,
    seed: int,
    packs: list[Path] | None,
    settings: JudgeSettings,
    early: EarlyRunners | None,
    background: Background,
) -> Judgement:
    """Judges one source on the cases that were asked for. Raises UsageError."""
    pipeline = need("judge.pipeline", "judge")
    pack = pack_of(source, packs)
    mode = pipeline.Mode.SUBMIT
    if cases.samples_only or cases.is_untimed:
        mode = pipeline.Mode.RUN if cases.samples_only else pipeline.Mode.CHECK
    if cases.id is not None:
        pack, mode = _only_case(pack, cases.id), pipeline.Mode.SUBMIT
    elif cases.custom is not None:
        pack, mode = _only_custom_case(pack, cases.custom, device.kind), pipeline.Mode.RUN
    return judge_source(source, pack, device, seed, settings, mode, early=early, background=background)


def _recheck(
    source: Source, judgement: Judgement, seed: int, packs: list[Path] | None, settings: JudgeSettings
) -> Recheck | None:
    """Checks on the emulator the kernels that a GPU accepted. Returns None where no check is needed."""
    kind = need("judge.kinds", "judge").KINDS.get(judgement.device.kind)
    if judgement.verdict is not Verdict.ACCEPTED or kind is None or kind.rechecked_on is None:
        return None
    checking, pack = need("judge.rechecking", "judge"), pack_of(source, packs)
    with ProgressLine() as line:
        line.update("checking on the emulator", Step())
        try:
            found: Recheck = checking.recheck(source.content, pack, kind.rechecked_on, seed, settings)
        except need("judge.errors", "judge").InternalError as error:
            found = need("judge.recheck", "judge").unchecked("the emulator cannot run here", error.message)
    return found


def _print_recheck(found: Recheck) -> None:
    for line in need("cli.render", "judge").recheck_lines(found):
        stdout().print(line)


def start_early(device: DeviceInfo, settings: JudgeSettings, *, timed: bool) -> EarlyRunners | None:
    """Starts runners, which come up while the rest of the judge is imported; None where that may not be done."""
    with ProgressLine() as line:
        prepare_device(device, settings, line.update)
    backend = need("judge.backends.registry", "judge").BUILTIN_BACKENDS.of(device.kind)
    if not backend.early_runners:
        return None
    launcher, runner_start = need("judge.supervisor.launcher", "judge"), need("judge.supervisor.runner_start", "judge")
    # The judgement will report the same failure as an IE.
    with suppress(need("judge.errors", "judge").InternalError, runner_start.RunnerEnded):
        spec = backend.runner_spec(device, settings)
        count = backend.early_runners if timed else 1
        early: EarlyRunners = runner_start.EarlyRunners(launcher.JailLauncher(spec, settings), spec, settings, count)
        need("judge.compile.toolchain", "judge").find_ahead(settings.nvcc)
        return early
    return None


def judge_source(
    source: Source,
    pack: Pack,
    device: DeviceInfo,
    seed: int,
    settings: JudgeSettings,
    mode: Mode,
    *,
    early: EarlyRunners | None = None,
    background: Background | None = None,
) -> Judgement:
    """Judges one source and shows its progress on stderr."""
    pipeline = need("judge.pipeline", "judge")
    with ProgressLine() as line:

        def show(progress: Progress) -> None:
            verdict = None if progress.verdict is None else progress.verdict.value
            line.update(progress.stage, Step(progress.case_id or "", verdict, progress.done, progress.total))

        prepare_device(device, settings, line.update)
        judgement: Judgement = pipeline.judge(
            source.content, pack, device, seed, settings, mode=mode, progress=show, early=early, background=background
        )
    return judgement


def _print(judgement: Judgement, seed: int) -> None:
    need("cli.render", "judge").print_judgement(judgement)
    print_text(f"  seed    {seed}")
    if judgement.verdict is Verdict.INTERNAL_ERROR:
        say("`gpujudge doctor` says what this machine lacks.")


def _as_json(source: Source, judgement: Judgement, checked: Recheck | None, seed: int) -> dict[str, Any]:
    to_json = need("judge.judgement_json", "judge").to_json
    found = {} if checked is None else {"recheck": to_json(checked)}
    return {**to_json(judgement), **found, "file": str(source.path), "seed": seed}


def _only_case(pack: Pack, name: str) -> Pack:
    """Returns the challenge with this case alone, and nothing to time. Raises UsageError if it has no such case."""
    cases = tuple(case for case in pack.cases if case.id == name)
    if not cases:
        known = ", ".join(case.id for case in pack.cases)
        raise UsageError(f"{pack.slug} has no case {name!r}", hint=f"There are: {known}.")
    return dataclasses.replace(pack, cases=cases, benchmarks=())


def _only_custom_case(pack: Pack, given: dict[str, str], kind: str) -> Pack:
    """Returns the challenge with the described case alone. Raises UsageError if the texts make none."""
    module = need("judge.packs.custom.case", "judge")
    try:
        made: Pack = module.with_custom_case(pack, given, kind)
    except module.CustomInputError as error:
        known = "; ".join(f"{field.name} ({field.kind}, now {field.default})" for field in module.custom_fields(pack))
        raise UsageError(str(error), hint=f"{pack.slug} takes: {known}.") from None
    return made
