"""Writes tables as CSV files that spreadsheets may open: no cell of them is taken for a formula."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable

from flask import Response

from web.classes.access import Pending
from web.classes.roster_file import FORMULA

#: The header of a file of grades that says how many submissions are being judged. Whatever reads the file as a table
#: would take a comment in it for a row.
PENDING = "Gpujudge-Being-Judged"


def neutral(cell: object) -> object:
    """Returns a cell, with an apostrophe before a text that a spreadsheet would compute."""
    return f"'{cell}" if isinstance(cell, str) and cell.startswith(FORMULA) else cell


def csv_file(rows: Iterable[Iterable[object]], name: str, pending: Pending) -> Response:
    """Returns the answer that downloads the table as a file, and says in a header what is being judged."""
    text = io.StringIO()
    csv.writer(text).writerows([neutral(cell) for cell in row] for row in rows)
    response = Response(text.getvalue(), mimetype="text/csv")
    response.headers["Content-Disposition"] = f'attachment; filename="{name}"'
    response.headers[PENDING] = str(pending.waiting)
    return response
