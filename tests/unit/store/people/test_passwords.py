from __future__ import annotations

import pytest

from store.people.passwords import weakness


@pytest.mark.parametrize("password", ["password1", "12345678", "qwertyuiop", "aaaaaaaa", "gpujudge1", "grace1906"])
def test_passwords_that_are_guessed_first_are_refused(password: str) -> None:
    assert weakness(password, username="grace1906") is not None


@pytest.mark.parametrize("password", ["correct horse battery", "x8$kQ2mw", "long " * 50])
def test_others_are_taken(password: str) -> None:
    assert weakness(password, username="grace1906") is None
