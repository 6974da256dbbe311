"""The ``pack`` commands, for authors of challenges."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import options
from cli.commands.local import DataDir, find_device, local_settings, prepare_device
from cli.console import print_json, print_text, say
from cli.errors import FAILED, CliError, UsageError
from cli.extras import need
from cli.progress import ProgressLine

app = typer.Typer(help="For authors of challenges.", no_args_is_help=True)


@app.callback()
def _pack() -> None:
    """For authors of challenges."""


@app.command()
def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Challenges, or folders of them.", show_default=False)
    ],
    device: Annotated[str, typer.Option("--device", "-d", help="What to judge the kernels on.")] = "emulator",
    quick: Annotated[
        bool, typer.Option("--quick/--full", help="Only what takes seconds: nothing is compiled or judged.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="How many challenges to verify at a time.")] = 1,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Of the challenges, only the I-th of N parts, from 1 on.")
    ] = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Check challenges: texts, sizes, references, and that wrong answers are noticed and kernels get their verdicts.

    Exits with 0 only if all of them were verified and no error was found.
    """
    verification = need("cli.verification", "judge")
    need("judge.pipeline", "judge")
    folders = _shard(verification.pack_folders_in(paths), shard)
    if not folders:
        raise UsageError("there is no challenge to verify")
    settings = local_settings(data_dir)
    results = []
    with ProgressLine() as line:
        chosen = None
        if not quick:
            chosen = find_device(device, settings)
            prepare_device(chosen, settings, line.update)
        task = verification.Task("quick" if quick else "full", chosen, settings)
        for _, result in verification.verify_all(folders, task, jobs, line.update):
            results.append(result)
            if not as_json:
                for finding in result["findings"]:
                    print_text(finding["text"])
                if result["ok"]:
                    print_text(_summary(result))
    bad = [result["challenge"] for result in results if not result["ok"]]
    if as_json:
        print_json({"ok": not bad, "challenges": results})
    if bad:
        raise CliError(f"{len(bad)} of {len(results)} not in order: {', '.join(bad)}", exit_code=FAILED)
    if not as_json and len(results) > 1:
        say(f"{len(results)} challenges are in order")


@app.command()
def migrate(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder of a challenge.", show_default=False)],
) -> None:
    """Rewrite the challenge.toml of a challenge from schema 1 to schema 2. Comments in it are lost."""
    errors = need("judge.packs.errors", "judge")
    try:
        file = need("judge.packs.migrate", "judge").migrate_pack(path)
    except errors.PackError as error:
        raise CliError(str(error), exit_code=FAILED) from None
    print_text(f"{file} is in schema 2 now; check it with: gpujudge pack verify {path}")


def _shard(folders: list[Path], shard: str | None) -> list[Path]:
    if shard is None:
        return folders
    first, _, second = shard.partition("/")
    if not (first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise UsageError(f"--shard is I/N with I from 1 to N, not {shard!r}")
    return folders[int(first) - 1 :: int(second)]


def _summary(result: dict[str, object]) -> str:
    mutants, kernels = result["mutants"], result["submissions"]
    assert isinstance(mutants, list)
    assert isinstance(kernels, list)
    judged = f", {len(kernels)} kernels judged" if kernels else ""
    return (
        f"{result['challenge']} {result['version']} is in order: {result['cases']} cases, "
        f"{len(mutants)} mutants of answers killed{judged}"
    )
