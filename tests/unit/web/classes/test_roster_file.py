"""Teachers' lists, as spreadsheets and other systems write them, and what is wrong with others."""

from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.teaching.roster import Person
from web.classes.roster_file import MOST_ROWS, RosterError, read_roster

ADA = Person("Lovelace, Ada", "ada@example.org", "1815", "A")
GAUSS = Person("Gauß", "cfg@example.org", "", "B")


@pytest.mark.parametrize(
    "text",
    [
        'name,e-mail,SIS id,section\n"Lovelace, Ada",ada@example.org,1815,A\nGauß,cfg@example.org,,B\n',
        '\ufeffname,e-mail,SIS id,section\r\n"Lovelace, Ada",ada@example.org,1815,A\r\nGauß,cfg@example.org,,B\r\n',
        "Section;SIS User ID;Student;Email Address;Note\n A ;1815;Lovelace,  Ada;ada@example.org;x\n;;;;\n"
        "B;;Gauß;cfg@example.org",
        "full_name\tmail\tID number\tgroup\nLovelace, Ada\tada@example.org\t1815\tA\nGauß\tcfg@example.org\t\tB",
    ],
)
def test_what_systems_write_is_read(text: str) -> None:
    assert read_roster(text.encode()) == [ADA, GAUSS]


def test_section_and_id_may_be_missing() -> None:
    assert read_roster(b"email,name\nada@example.org,Ada") == [Person("Ada", "ada@example.org", "", "")]


HEAD = "name,e-mail,SIS id,section\n"
ROW = "Ada,ada@example.org,1,A\n"


@pytest.mark.parametrize(
    ("data", "says"),
    [
        (b"", "The file is empty."),
        (b"\n\n", "The file is empty."),
        (HEAD.encode(), "names nobody"),
        ("name,e-mail\nGauß,cfg@example.org".encode("latin-1"), "Line 2 is not UTF-8, maybe Latin-1"),
        ("name,e-mail\nAda,ada@example.org".encode("utf-16"), "UTF-16"),
        ("name,e-mail\nAda,ada@example.org".encode("utf-16-le"), "UTF-16"),
        ("name,e-mail\nAda,ada@example.org".encode("utf-32"), "UTF-32"),
        (b"PK\x03\x04 and more", "workbook"),
        ("name,e-mail\nA\u202eda,ada@example.org".encode(), "U+202E"),
        (b"name,e-mail\nAda\x00,ada@example.org", "NUL"),
        (b"name,section\nAda,A", "There is no column e-mail. The first line names these: name, section."),
        (b"e-mail,section\nada@example.org,A", "There is no column name."),
        (b"name,e-mail,email\nAda,a@b.org,a@b.org", "Two columns are the e-mail: e-mail and email."),
        ((HEAD + ROW + "Eve,ADA@example.org,2,A\n").encode(), "Line 3: the e-mail ada@example.org is in line 2, too."),
        ((HEAD + ROW + "Eve,eve@example.org,1,A\n").encode(), "Line 3: the SIS id 1 is in line 2, too."),
        ((HEAD + ",eve@example.org,1,A\n").encode(), "Line 2 has no name."),
        ((HEAD + "Eve,,1,A\n").encode(), "Line 2: nothing is not an e-mail address."),
        ((HEAD + "Eve,eve at home,1,A\n").encode(), "Line 2: eve at home is not an e-mail address."),
        ((HEAD + "Eve,eve@example.org,=1+1,A\n").encode(), "Line 2: a SIS id does not begin with =."),
        ((HEAD + f"{'E' * 101},eve@example.org,1,A\n").encode(), "Line 2: the name has more than 100 characters."),
        ((HEAD + '"Eve,eve@example.org,1,A\n').encode(), "is not CSV"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(data: bytes, says: str) -> None:
    with pytest.raises(RosterError) as caught:
        read_roster(data)
    assert says in str(caught.value)


@pytest.mark.parametrize("rows", [MOST_ROWS, MOST_ROWS + 1, 10_000])
def test_a_list_has_a_limit(rows: int) -> None:
    data = ("name,e-mail\n" + "".join(f"P{n},p{n}@example.org\n" for n in range(rows))).encode()
    if rows == MOST_ROWS:
        assert len(read_roster(data)) == rows
    else:
        with pytest.raises(RosterError, match=f"names {rows:,} people; a class has at most 2,000"):
            read_roster(data)


_LINES = st.text(max_size=200).map(lambda text: f"name,e-mail\n{text}".encode("utf-8", "replace"))


@given(st.binary(max_size=200) | _LINES)
def test_any_file_is_read_or_refused(data: bytes) -> None:
    people: list[Person] = []
    with contextlib.suppress(RosterError):
        people = read_roster(data)
    assert all(person.name and "@" in person.email for person in people)
