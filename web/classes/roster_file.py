"""Reads a teacher's list of a class: CSV in UTF-8 with the columns name, e-mail, SIS id and section.

The whole file is read before anything is done with it. What is wrong is told with its line.
"""

from __future__ import annotations

import csv
import io
import unicodedata
from collections.abc import Mapping, Sequence

from store.people.email_addresses import address_fault, address_key
from store.teaching.roster import Person

#: The most people in a list.
MOST_ROWS = 2000
#: What the columns may be called, without regard to case, spaces, hyphens and underlines: ours first.
_NAMES: Mapping[str, tuple[str, ...]] = {
    "name": ("name", "student", "fullname", "studentname"),
    "e-mail": ("email", "emailaddress", "mail"),
    "SIS id": ("sisid", "sisuserid", "idnumber", "studentid"),
    "section": ("section", "group", "sections"),
}
_NEEDED = ("name", "e-mail")
_LONGEST = 100
#: A spreadsheet takes what begins so for a formula.
FORMULA = ("=", "+", "-", "@", "\t", "\r")

#: Kinds of characters that turn the direction of what follows them: they would garble a page of names.
_TURNING = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


class RosterError(Exception):
    """A fault in a list, in a sentence for its teacher."""


def read_roster(data: bytes) -> list[Person]:
    """Returns the people that a file names. Raises RosterError."""
    rows = list(_rows(_text(data)))
    if not rows:
        raise RosterError("The file is empty. Its first line names the columns: name, e-mail, SIS id, section.")
    places = _places(rows[0][1])
    if len(rows) - 1 > MOST_ROWS:
        raise RosterError(f"The file names {len(rows) - 1:,} people; a class has at most {MOST_ROWS:,}.")
    people: list[Person] = []
    lines: dict[tuple[str, str], int] = {}
    for line, cells in rows[1:]:
        person = _person(line, cells, places)
        for what, value in (("e-mail", address_key(person.email)), ("SIS id", person.sis_id)):
            first = lines.setdefault((what, value), line) if value else line
            if first != line:
                raise RosterError(f"Line {line}: the {what} {value} is in line {first}, too.")
        people.append(person)
    if not people:
        raise RosterError("The file names nobody: it has no line beneath the names of the columns.")
    return people


def _text(data: bytes) -> str:
    if data.startswith((b"\xff\xfe", b"\xfe\xff")) or b"\x00" in data[:2]:
        raise RosterError("The file is in UTF-16 or UTF-32. Save it as “CSV UTF-8”.")
    if data.startswith(b"PK"):
        raise RosterError("The file is a workbook or an archive. Save the list as “CSV UTF-8”.")
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise RosterError(f"Line {line} is not UTF-8, maybe Latin-1. Save the file as “CSV UTF-8”.") from None
    if "\x00" in text:
        raise RosterError("The file has NUL characters: it is not a CSV file.")
    return text


def _rows(text: str) -> list[tuple[int, list[str]]]:
    """Returns the rows that are not empty, with their lines. Commas, semicolons or tabs separate the cells."""
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    rows = []
    try:
        for cells in reader:
            shown = [" ".join(cell.split()) for cell in cells]
            if any(shown):
                rows.append((reader.line_num, shown))
    except csv.Error as error:
        raise RosterError(f"Line {reader.line_num} is not CSV: {error}.") from None
    return rows


def _places(header: Sequence[str]) -> dict[str, int]:
    """Returns where each column is. Raises RosterError for one that is needed and missing, or there twice."""
    plain = ["".join(letter for letter in cell.casefold() if letter.isalnum()) for cell in header]
    places = {}
    for column, names in _NAMES.items():
        found = [place for place, cell in enumerate(plain) if cell in names]
        if len(found) > 1:
            raise RosterError(f"Two columns are the {column}: {header[found[0]]} and {header[found[1]]}.")
        if found:
            places[column] = found[0]
        elif column in _NEEDED:
            known = ", ".join(cell for cell in header if cell) or "none"
            raise RosterError(f"There is no column {column}. The first line names these: {known[:200]}.")
    return places


def _person(line: int, cells: Sequence[str], places: Mapping[str, int]) -> Person:
    def cell(column: str) -> str:
        place = places.get(column)
        value = cells[place] if place is not None and place < len(cells) else ""
        if len(value) > _LONGEST and column != "e-mail":
            raise RosterError(f"Line {line}: the {column} has more than {_LONGEST} characters.")
        return value

    name, email, sis_id = cell("name"), cell("e-mail"), cell("SIS id")
    if not name:
        raise RosterError(f"Line {line} has no name.")
    if (fault := address_fault(email)) is not None:
        raise RosterError(f"Line {line}: {fault}")
    if sis_id.startswith(FORMULA):
        raise RosterError(f"Line {line}: a SIS id does not begin with {sis_id[0]}.")
    section = cell("section")
    for each in name + sis_id + section:
        if unicodedata.category(each) == "Cc" or unicodedata.bidirectional(each) in _TURNING:
            raise RosterError(f"Line {line} has an invisible character, U+{ord(each):04X}. Delete it.")
    return Person(name, email, sis_id, section)
