from __future__ import annotations

import pytest

from store.people.names import is_reserved, skeleton


@pytest.mark.parametrize(
    ("one", "other"), [("Ida", "1da"), ("ida", "lda"), ("burns", "bums"), ("savvy", "sawy"), ("Bob", "b0b")]
)
def test_names_that_look_alike_have_one_skeleton(one: str, other: str) -> None:
    assert skeleton(one) == skeleton(other)


def test_numbered_names_stay_apart() -> None:
    assert len({skeleton(f"user{number}") for number in range(1000)}) == 1000


@pytest.mark.parametrize("name", ["admin", "Adm1n", "r-o-o-t", "deleted-5", "System"])
def test_reserved_names(name: str) -> None:
    assert is_reserved(name)


@pytest.mark.parametrize("name", ["ada", "administratrix", "rooter", "user7"])
def test_other_names_are_free(name: str) -> None:
    assert not is_reserved(name)
