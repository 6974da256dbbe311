"""The ``compare`` command: judges several kernels here and shows them side by side."""

from __future__ import annotations

import secrets
from typing import Annotated

import typer

from cli import options
from cli.commands.local import MAX_SEED, DataDir, Packs, Seed, judge_source
from cli.console import print_json, print_table, print_text, say
from cli.errors import UsageError
from cli.extras import need
from cli.local_setup import find_device, local_settings, pack_of
from cli.source import read_sources
from judge.verdict import Verdict


def compare(
    files: options.KernelFiles,
    challenge: options.Challenge = None,
    device: options.Device = None,
    seed: Seed = None,
    packs: Packs = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
    baselines: Annotated[
        bool, typer.Option("--baselines", help="Beside them, what libraries take; one file suffices.")
    ] = False,
    lines: Annotated[bool, typer.Option(help="The source lines that differ most in cost.")] = True,
) -> None:
    """Judge two or more kernels here, on the same inputs, and show them side by side.

    Shows verdict, time, what limits it, registers and sectors per request, then the source lines whose cost differs
    most (of modelled times: the emulator's). All are for one challenge and one device. The exit code says the verdict,
    as that of `judge`: of the first that is not accepted. With --baselines, shows beside them what libraries (cuBLAS,
    cuDNN, PyTorch) take for the same task on this GPU, and how many times as fast each file is; on the emulator, our
    own kernels.
    """
    if len(files) < 2 and not baselines:
        raise UsageError(
            "compare takes two files or more, or one with --baselines", hint="One alone: gpujudge judge FILE."
        )
    sources = read_sources(files, challenge=challenge, device=device)
    for what, names in (
        ("challenge", sorted({source.challenge for source in sources})),
        ("device", sorted({source.device for source in sources})),
    ):
        if len(names) > 1:
            raise UsageError(
                f"the files are for different {what}s: {', '.join(names)}", hint=f"One for all: --{what} {names[0]}."
            )
    settings = local_settings(data_dir)
    loaded, found = [pack_of(source, packs) for source in sources], find_device(sources[0].device, settings)
    chosen = secrets.randbits(MAX_SEED.bit_length()) if seed is None else seed
    mode = need("judge.pipeline", "judge").Mode.SUBMIT
    comparison = need("cli.comparison", "judge")
    compared = []
    for source, pack in zip(sources, loaded, strict=True):
        say(f"{source.path}:")
        judgement = judge_source(source, pack, found, chosen, settings, mode)
        compared.append(comparison.Compared(source.path, source.content.decode("utf-8", "replace"), judgement))
    beside = need("cli.baselines", "judge") if baselines else None
    found_beside = beside.unranked(loaded[0], found, settings, compared) if beside else None
    if as_json:
        more = beside.as_json(found_beside, compared) if beside else {}
        print_json({**comparison.as_json(compared), **more, "seed": chosen})
    else:
        print_text(f"{pack.slug} {pack.version} on {found.key} ({found.name}), seed {chosen}")
        print_table(comparison.COLUMNS, map(comparison.cells, comparison.rows(compared)), right=comparison.NUMBERS)
        if beside and found_beside:
            _print_baselines(beside, found_beside, compared)
        if lines:
            _print_lines(comparison.line_differences(compared), [str(source.path) for source in sources])
        for one in compared:
            if one.judgement.verdict is not Verdict.ACCEPTED:
                say(f"{one.file}: {one.judgement.message or one.judgement.verdict.in_words}")
                say(f"    gpujudge judge {one.file} --seed {chosen}")
    failed = [one.judgement.verdict for one in compared if one.judgement.verdict is not Verdict.ACCEPTED]
    raise typer.Exit(failed[0].exit_code if failed else 0)


def _print_baselines(beside, found, compared) -> None:  # type: ignore[no-untyped-def]
    """Prints the unranked rows, and how many times as fast each file is."""
    if found.rows:
        print_text("")
        print_table(beside.COLUMNS, map(beside.cells, found.rows), right=beside.NUMBERS)
        for file, row, ratio in beside.ratios(compared, found.rows):
            print_text(f"{file}: {beside.in_words(ratio, row)}")
    for message in found.messages:
        say(message)


def _print_lines(differences: list, files: list[str]) -> None:  # type: ignore[type-arg]
    """Prints a table of the lines: their cost in each file, with the line's number there."""
    if not differences:
        return
    scores = need("cli.scores", "judge")
    print_text(f"\nlines that differ most in cost, in {differences[0].case}")
    print_table(
        ("line", *files),
        (
            (
                one.text,
                *(
                    "" if cost.line is None else f"{scores.format_score(cost.seconds)} (line {cost.line})"
                    for cost in one.costs
                ),
            )
            for one in differences
        ),
        right=files,
    )
