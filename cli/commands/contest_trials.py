"""The commands ``contest trial``: the dry run of a contest, for those who manage it."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import items_of, read
from cli.connect import connect
from cli.console import print_answer, print_json, print_table
from cli.errors import FAILED, CliError
from cli.teaching_answers import StartedTrial, TrialRun

app = typer.Typer(help="The dry run of a contest that you manage.", no_args_is_help=True)
Slug = Annotated[str, typer.Argument(metavar="CONTEST", help="A contest, as `contest list` says.", show_default=False)]


@app.command()
def start(contest: Slug, server: options.Server = None, as_json: options.Json = False) -> None:
    """Have a kernel judged for each challenge on each device. Runs count nowhere, and nobody else sees them."""
    with connect(server) as api:
        answer = api.post(f"contests/{quote(contest, safe='')}/trial")
    found = read(StartedTrial, answer)
    print_answer(answer, f"{found.sent} runs are on the way: gpujudge contest trial show {contest}", as_json=as_json)
    if found.refused:
        first = found.refused[0]
        raise CliError(f"{first.first}: {first.message}", exit_code=FAILED)


@app.command()
def show(contest: Slug, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print your latest run for each challenge and device, those from the editor too."""
    with connect(server) as api:
        listed = items_of(api.get(f"contests/{quote(contest, safe='')}/trial"), "runs")
    if as_json:
        print_json({"runs": listed})
        return
    print_table(
        ("challenge", "device", "submission", "verdict"),
        (
            (one.challenge, one.device, one.submission or "none yet", one.verdict or one.state)
            for one in (read(TrialRun, item) for item in listed)
        ),
    )
