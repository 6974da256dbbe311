"""The arguments that several commands of ``class`` have."""

from __future__ import annotations

from typing import Annotated

import typer

Number = Annotated[
    int, typer.Argument(metavar="CLASS", min=1, help="A class, as `class list` says.", show_default=False)
]
Assignment = Annotated[
    int, typer.Argument(metavar="ID", min=1, help="An assignment, as `class assignments` says.", show_default=False)
]
User = Annotated[str, typer.Argument(metavar="USER", help="A user name.", show_default=False)]
