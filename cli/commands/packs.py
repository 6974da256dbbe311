"""The ``pack`` commands, for authors of challenges."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import options
from cli.commands import pack_collection
from cli.commands.local import DataDir
from cli.console import print_json, print_text, say
from cli.errors import FAILED, CliError, UsageError
from cli.extras import need
from cli.local_setup import find_device, local_settings, prepare_device
from cli.progress import ProgressLine

app = typer.Typer(help="For authors of challenges.", no_args_is_help=True)
app.command("list")(pack_collection.list_packs)
app.command("new")(pack_collection.new)
app.command("add")(pack_collection.add)


@app.callback()
def _pack() -> None:
    """For authors of challenges."""


@app.command()
def verify(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Challenges, or folders of them.", show_default=False)
    ],
    device: Annotated[str, typer.Option("--device", "-d", help="The device that judges the kernels.")] = "emulator",
    quick: Annotated[
        bool, typer.Option("--quick/--full", help="Only what takes seconds: nothing is compiled or judged.")
    ] = False,
    jobs: Annotated[int, typer.Option("--jobs", "-j", min=1, help="How many challenges to verify at a time.")] = 1,
    shard: Annotated[
        str | None, typer.Option(metavar="I/N", help="Of the challenges, only the I-th of N parts, from 1 on.")
    ] = None,
    changed: Annotated[
        bool, typer.Option("--changed", help="Only those that the ledger does not have as they are now.")
    ] = False,
    record: Annotated[
        bool, typer.Option("--record", help="Write what was verified into the ledger, verified.json.")
    ] = False,
    against: Annotated[
        str | None, typer.Option(metavar="GITREF", help="Require another version than this commit's if it matters.")
    ] = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Check challenges: texts, sizes, references, and that wrong answers are noticed and kernels get their verdicts.

    Exits with 0 only if all of them were verified and no error was found.
    """
    verification = need("judge.verify.many_packs", "judge")
    need("judge.pipeline", "judge")
    ledger = need("judge.verify.ledger", "judge")
    folders = verification.pack_folders_in(paths)
    if not folders:
        raise UsageError("there is no challenge to verify")
    if changed:
        folders = [folder for folder in folders if not _is_current(ledger, folder, quick=quick)]
    folders = _shard(folders, shard)
    settings = local_settings(data_dir)
    results = []
    with ProgressLine() as line:
        chosen = None
        if not quick:
            chosen = find_device(device, settings)
            prepare_device(chosen, settings, line.update)
        task = verification.Task("quick" if quick else "full", chosen, settings, against)
        for folder, result in verification.verify_all(folders, task, jobs, line.update):
            results.append(result)
            if record:
                _record(ledger, folder, result["entry"])
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


def _is_current(ledger: Any, folder: Path, *, quick: bool) -> bool:
    entry = ledger.read_ledger(folder.resolve().parent).get(folder.resolve().name)
    digests = ledger.Digests.of(folder)
    return bool(digests.are_of_files_in(entry) if quick else digests.are_in(entry))


def _record(ledger: Any, folder: Path, entry: dict[str, Any] | None) -> None:
    """Writes the entry of a pack, or removes that of one which is not in order. Each at once: much may follow."""
    packs, slug = folder.resolve().parent, folder.resolve().name
    entries = ledger.read_ledger(packs)
    entries.pop(slug, None)
    if entry is not None:
        entries[slug] = ledger.Entry(**entry)
    ledger.write_ledger(packs, entries)


@app.command()
def mutants(
    packs: Annotated[Path, typer.Argument(metavar="DIR", help="A folder of challenges.", show_default=False)],
) -> None:
    """Print the mutants of all verified challenges as a table in Markdown, from the ledger."""
    ledger = need("judge.verify.ledger", "judge")
    print_text(ledger.table(ledger.read_ledger(packs)).rstrip())


@app.command()
def slack(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder of a challenge.", show_default=False)],
    case: Annotated[
        str | None, typer.Option(metavar="ID", help="The case to try it on; else the largest that is not timed.")
    ] = None,
    as_json: options.Json = False,
) -> None:
    """Print how much of a challenge's work can be left out, or done in less precision, before its checks object.

    A row an argument: how many significant bits its elements need, and which share of an input may be zero or a copy of
    its neighbour, or of an output unwritten. The last three are dashes where even the smallest share is noticed.
    """
    errors, pack_slack = need("judge.packs.errors", "judge"), need("judge.verify.slack", "judge")
    prepared = need("judge.verify.prepared", "judge")
    try:
        pack = need("judge.packs.collection.loader", "judge").load_pack(path)
        chosen = prepared.PreparedCase(pack, _case_of(pack, case))
        with ProgressLine() as line:
            rows = []
            for row in pack_slack.measure_slack(chosen):
                rows.append(row)
                line.update(f"{row.argument} was tried")
    except errors.PackError as error:
        raise CliError(str(error), exit_code=FAILED) from None
    if as_json:
        print_json(
            {"challenge": pack.slug, "version": pack.version, "slack": [dataclasses.asdict(row) for row in rows]}
        )
    else:
        print_text(pack_slack.slack_table(rows))


@app.command()
def shortcuts(
    paths: Annotated[list[Path], typer.Argument(metavar="PATH...", help="Folders of challenges.", show_default=False)],
    kinds: Annotated[
        list[str] | None,
        typer.Option("--device", metavar="KIND", help="The benchmarks to try: emulator, cuda, or both."),
    ] = None,
) -> None:
    """Print, as a table in Markdown, which ways to do less work the checks of timed calls accept.

    Parts of the inputs are left out, numbers lose bits, iterations end early, each at the size and with the data of the
    benchmarks. Those of a GPU take minutes for a challenge.
    """
    errors, tried = need("judge.packs.errors", "judge"), need("judge.verify.shortcuts", "judge")
    rows = []
    with ProgressLine() as line:
        for folder in need("judge.verify.many_packs", "judge").pack_folders_in(paths):
            try:
                pack = need("judge.packs.collection.loader", "judge").load_pack(folder)
                for case in pack.benchmarks:
                    if not set(case.devices).isdisjoint(kinds or ["emulator"]):
                        line.update(f"{pack.slug}: {case.id}")
                        rows += [(pack.slug, each) for each in tried.passing_shortcuts(pack, case)]
            except errors.PackError as error:
                raise CliError(str(error), exit_code=FAILED) from None
    print_text(tried.shortcuts_table(rows))


def _case_of(pack: Any, case_id: str | None) -> Any:
    if case_id is None:
        sizes = need("judge.packs.sizes", "judge")
        return max(pack.cases, key=lambda case: sum(sizes.buffer_bytes(case, each) for each in pack.arguments))
    for case in (*pack.cases, *pack.benchmarks):
        if case.id == case_id:
            return case
    raise UsageError(f"{pack.slug} has no case {case_id}; it has: {', '.join(case.id for case in pack.cases)}")


def _shard(folders: list[Path], shard: str | None) -> list[Path]:
    if shard is None:
        return folders
    first, _, second = shard.partition("/")
    if not (first.isdecimal() and second.isdecimal() and 1 <= int(first) <= int(second)):
        raise UsageError(f"--shard is I/N with I from 1 to N, not {shard!r}")
    return folders[int(first) - 1 :: int(second)]


def _summary(result: dict[str, Any]) -> str:
    kernels, tried = result["submissions"], result["kernel_mutants"]
    killed = sum(each["killed"] for each in result["mutants"])
    judged = f", {len(kernels)} kernels judged" if kernels else ""
    fates = [str(each["fate"]) for each in tried]
    if fates:
        judged += f", {fates.count('killed')} mutants of a kernel killed, {fates.count('equivalent')} equivalent"
    return (
        f"{result['challenge']} {result['version']} is in order: {result['cases']} cases, "
        f"{killed} mutants of answers killed{judged}"
    )
