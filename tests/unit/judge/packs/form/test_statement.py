"""Tests of statements without their hints."""

from __future__ import annotations

import pytest

from judge.packs.form.statement import without_hints

BEFORE, AFTER = "# Sums\n\nAdd all.\n\n", "## Notes\n\nNone.\n"


@pytest.mark.parametrize(
    "hints",
    [
        "## Hints\n\n1. Use shuffles.\n",
        "## Hints \n\n1. Use shuffles.\n",
        "## hint ##\n\n1. Use shuffles.\n",
        "## Hints\n\n### The second\n\n1. Use shuffles.\n",
        "## Hints\n\n```sh\n# no heading\n## nor this\n```\n\n1. Use shuffles.\n",
        "## Hints\n\n````\n```\n# inside\n```\n````\n\n1. Use shuffles.\n",
        "## Hints\n\n~~~\n```\n# inside\n~~~\n\n1. Use shuffles.\n",
    ],
)
@pytest.mark.parametrize("after", [AFTER, "# Notes\n", ""])
@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_the_whole_section_is_left_out(hints: str, after: str, newline: str) -> None:
    whole = f"{BEFORE}{hints}{after}".replace("\n", newline)
    assert without_hints(whole) == f"{BEFORE}{after}".replace("\n", newline)


def test_a_heading_within_code_begins_no_section() -> None:
    text = f"{BEFORE}```\n## Hints\nint x;\n```\n\n{AFTER}"
    assert without_hints(text) == text
    assert without_hints(f"{BEFORE}{AFTER}") == f"{BEFORE}{AFTER}"
