"""The ``profile`` command, which measures a kernel with Nsight Compute on a GPU of this machine."""

from __future__ import annotations

import secrets
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cli import options
from cli.answers import Step
from cli.commands.local import MAX_SEED, DataDir, Packs, Seed
from cli.console import print_json, print_text, say
from cli.errors import CliError, UsageError
from cli.extras import need
from cli.local_setup import find_device, local_settings, pack_of, prepare_device
from cli.progress import ProgressLine
from cli.source import DEFAULT_DEVICE, read_source

if TYPE_CHECKING:
    from judge.profiling import Profiled

_GPU = "cuda:0"


def profile(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file; - is stdin.", show_default=False)],
    challenge: options.Challenge = None,
    device: Annotated[
        str | None, typer.Option("--device", "-d", metavar="NAME", help="The GPU; else as the file says, else cuda:0.")
    ] = None,
    language: options.Language = None,
    case: Annotated[
        str | None, typer.Option("--case", metavar="ID", help="The case; else the GPU's first benchmark.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="REPORT", help="Keep the report (.ncu-rep) for ncu-ui.")
    ] = None,
    seed: Seed = None,
    packs: Packs = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Profile a kernel with Nsight Compute on a GPU of this machine, beside the figures of the emulator's model.

    The kernel runs in a jail, once on the GPU's benchmark and once on the smaller one that the emulator models. For
    each it prints how close to its limit each part of the GPU came, what passed through the memories, what warps waited
    for, and which lines they did it at. `gpujudge doctor` says whether the counters may be read, and what to type.
    """
    source = read_source(file, challenge=challenge, device=device, language=language)
    named = _GPU if source.device == DEFAULT_DEVICE and device is None else source.device
    settings = local_settings(data_dir)
    gpu = find_device(named, settings)
    pack = pack_of(source, packs)
    profiling, errors = need("judge.profiling", "judge"), need("judge.errors", "judge")
    chosen = secrets.randbits(MAX_SEED.bit_length()) if seed is None else seed
    try:
        with ProgressLine() as line:
            prepare_device(gpu, settings, line.update)
            found: Profiled = profiling.profile(
                source.content, pack, gpu, chosen, settings, case_id=case, say=lambda stage: line.update(stage, Step())
            )
    except need("judge.gpu.nsight.tool", "judge").NoProfile as problem:
        raise CliError(f"no profile: {problem.message}", hint=problem.remedy) from None
    except errors.Cancelled:
        raise CliError("no profile: somebody is timing on this machine", hint="Try again when that is over.") from None
    except errors.InternalError as error:
        raise CliError(error.message, hint=error.remedy) from None
    if output is not None:
        try:
            output.write_bytes(found.report)
        except OSError as error:
            raise UsageError(f"cannot write {output}: {error.strerror}") from None
        say(f"the report is in {output}: open it with ncu-ui")
    if as_json:
        print_json(need("judge.judgement_json", "judge").to_json(found.profile))
        return
    text = source.content.decode("utf-8", "replace")
    for each in need("cli.profile_lines", "judge").profile_lines(found.profile, text):
        print_text(each)
