"""Options and arguments that several commands share."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]
Server = Annotated[
    str | None,
    typer.Option("--server", metavar="URL", help="The server; else GPUJUDGE_SERVER, else the one logged in to."),
]
Slug = Annotated[str, typer.Argument(metavar="SLUG", help="A challenge, such as softmax.", show_default=False)]
KernelFiles = Annotated[
    list[Path], typer.Argument(metavar="FILE...", help="The files, such as add.cu; - is stdin.", show_default=False)
]
SubmissionId = Annotated[str, typer.Argument(metavar="ID", help="A submission.", show_default=False)]
Challenge = Annotated[
    str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="The challenge; else as the file says.")
]
Language = Annotated[
    str | None,
    typer.Option(
        "--language", metavar="NAME", help="The language, such as cuda; else that of the file's ending, or as it says."
    ),
]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="NAME=VALUE", help="A size or parameter of an input of your own, such as N=1000."),
]
Input = Annotated[
    list[str] | None,
    typer.Option(
        "--input",
        metavar="NAME=DATA",
        help="The contents of an input: a distribution ('A=uniform -1 1'), values ('A=1 2 3'), or a file (A=@FILE).",
    ),
]
Device = Annotated[
    str | None, typer.Option("--device", "-d", metavar="NAME", help="The device; else as the file says, else emulator.")
]
#: How a moment in UTC is typed.
MOMENT_FORMATS = ["%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M", "%Y-%m-%d"]


def in_utc(moment: datetime | None) -> datetime | None:
    """Returns a moment as typed, which is in UTC, with its time zone."""
    return None if moment is None else moment.replace(tzinfo=UTC)
