"""Output: data to stdout, everything else to stderr. Rich omits colors off a terminal and under NO_COLOR."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

# Rich takes as long to import as the rest of a short command: it is imported where a terminal shows it.
if TYPE_CHECKING:
    from rich.console import Console

#: Control characters except tab and newline: compiler logs and server messages must not control the terminal.
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
#: Columns of a terminal below which a table that does not fit is no longer folded.
_NARROW = 70
_has_printed_json = False


def stdout() -> Console:
    """Returns a console for the current stdout. Built on each call, because tests replace stdout."""
    from rich.console import Console

    return Console(file=sys.stdout, highlight=False, markup=False, emoji=False, soft_wrap=not sys.stdout.isatty())


def stderr() -> Console:
    """Returns a console for the current stderr, like ``stdout``."""
    from rich.console import Console

    return Console(file=sys.stderr, highlight=False, markup=False, emoji=False, soft_wrap=not sys.stderr.isatty())


def clean(text: str) -> str:
    """Returns ``text`` without control characters."""
    return _CONTROL.sub("", text.replace("\r\n", "\n"))


def say(message: str, style: str = "") -> None:
    """Prints one line to stderr. Does nothing if stderr is closed."""
    if sys.stderr is None:
        return
    if not sys.stderr.isatty() and "FORCE_COLOR" not in os.environ:
        sys.stderr.write(clean(message) + "\n")
        sys.stderr.flush()
        return
    from rich.text import Text

    stderr().print(Text(clean(message), style=style))


def print_json(value: Any) -> None:
    """Prints one JSON object to stdout."""
    global _has_printed_json
    sys.stdout.write(json.dumps(value, indent=2, ensure_ascii=False) + "\n")
    sys.stdout.flush()
    _has_printed_json = True


def print_answer(answer: Any, told: str, *, as_json: bool) -> None:
    """Prints the server's answer to a request that changes something as JSON on stdout, or says what was done."""
    if as_json:
        print_json(answer)
    else:
        say(told)


def print_json_line(value: Any) -> None:
    """Prints one of several JSON objects to stdout, on a line of its own."""
    global _has_printed_json
    sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")
    sys.stdout.flush()
    _has_printed_json = True


def has_printed_json() -> bool:
    """Returns whether stdout has its one object: an error that follows goes to stderr alone."""
    return _has_printed_json


def start_afresh() -> None:
    """Forgets the output of earlier commands of this process."""
    global _has_printed_json
    _has_printed_json = False


def print_text(text: str) -> None:
    """Prints ``text`` to stdout without control characters, with a newline at the end."""
    cleaned = clean(text)
    sys.stdout.write(cleaned if cleaned.endswith("\n") else cleaned + "\n")
    sys.stdout.flush()


def print_table(columns: Iterable[str], rows: Iterable[Iterable[object]], *, right: Iterable[str] = ()) -> None:
    """Prints a table to stdout; off a terminal, as tab-separated lines below a header, for cut and awk.

    A terminal shows no empty columns. Where a narrow one has no room for the others, each row is a paragraph with a
    line for each cell.
    """
    names, right = list(columns), set(right)
    cells = [["" if cell is None else clean(str(cell)) for cell in row] for row in rows]
    if not sys.stdout.isatty() and "FORCE_COLOR" not in os.environ:
        print_text("\n".join("\t".join(line) for line in [names, *cells]))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    console = stdout()
    told = [number for number in range(len(names)) if not cells or any(line[number] for line in cells)]
    names, cells = [names[number] for number in told], [[line[number] for number in told] for line in cells]
    widest = [max(map(len, column), default=0) for column in zip(names, *cells, strict=True)]
    if console.width < _NARROW and sum(widest) + 2 * len(widest) > console.width:
        for line in cells:
            for number, (name, cell) in enumerate(zip(names, line, strict=True)):
                if cell:
                    console.print(Text(cell, style="bold") if number == 0 else Text(f"  {name}: {cell}"))
        return
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for name in names:
        table.add_column(name, justify="right" if name in right else "left", overflow="fold")
    for line in cells:
        table.add_row(*(Text(cell) for cell in line))
    console.print(table)
