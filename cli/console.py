"""Data goes to stdout, everything else to stderr. Rich leaves colours out off a terminal and where NO_COLOR is set."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.text import Text

#: What a compiler's log or a server's message may not send to a terminal: every control character but tab and newline.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def stdout() -> Console:
    """Made anew for each use, so that it is the stdout of now (tests and pipes replace it)."""
    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def stderr() -> Console:
    """As :func:`stdout`."""
    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=not sys.stderr.isatty())


def clean(text: str) -> str:
    """``text`` without control characters."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def say(message: str, style: str = "") -> None:
    """One line to stderr."""
    stderr().print(Text(clean(message), style=style))


def print_json(value: Any) -> None:
    """One JSON object on stdout."""
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()


def print_text(text: str) -> None:
    """``text`` on stdout as it is, with a newline at the end."""
    cleaned = clean(text)
    sys.stdout.write(cleaned if cleaned.endswith("\n") else cleaned + "\n")
    sys.stdout.flush()


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]], *, right: Iterable[str] = ()) -> None:
    """A table on stdout; off a terminal, tab-separated lines under a line of names, for cut and awk."""
    console, names, right = stdout(), list(columns), set(right)
    cells = [["" if cell is None else clean(str(cell)) for cell in row] for row in rows]
    if not console.is_terminal:
        print_text("\n".join("\t".join(line) for line in [names, *cells]))
        return
    from rich import box
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for line in cells:
        table.add_row(*(Text(cell) for cell in line))
    console.print(table)
