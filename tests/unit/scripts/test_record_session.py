"""The recorded session: the page holds what the script types, in its order."""

from __future__ import annotations

from scripts.record_session import PAGE, SESSION


def test_the_page_is_the_one_that_the_script_writes() -> None:
    typed = [line.removeprefix("$ ") for line in PAGE.read_text().splitlines() if line.startswith("$ ")]
    assert typed == [command for _, command in SESSION if command != "mend"]
