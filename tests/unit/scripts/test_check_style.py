"""scripts/check_style.py: the turns that it refuses, and the plain ones beside them that it leaves alone."""

from __future__ import annotations

from pathlib import Path

import pytest

from scripts import check_style
from scripts.check_style import CLAUSE, RULES, docstrings, findings, messages, refused

PAIRS = [
    ("The author is told the line.", "The page shows the line."),
    ("A message tells of races.", "A message names races."),
    ("This is dear to read.", "This is slow to read."),
    ("It takes what is no kernel.", "There is no kernel, and it is no longer needed."),
    ("At most so\nmany members.", "So many members that the page is cut."),
    ("What waits is taken.", "What waits? The queue takes it."),
    ("The colours of neighbours.", "The colors of neighbors, optimistic ones."),
]


@pytest.mark.parametrize(("bad", "good"), PAIRS)
def test_each_rule_refuses_the_turn_and_not_its_plain_neighbor(bad: str, good: str) -> None:
    assert len({advice for _, _, advice in refused(bad)}) == 1
    assert not list(refused(good))


def test_every_rule_is_tried() -> None:
    tried = {advice for bad, _ in PAIRS for _, _, advice in refused(bad)}
    assert tried == {rule.advice for rule in RULES}


def test_headings_and_code_may_hold_anything() -> None:
    assert not list(refused("## What is measured\n\n`is told.`\n\n```sh\nso many colours\n```\n"))


def test_a_turn_has_the_line_where_it_begins() -> None:
    assert [line for line, _, _ in refused("One.\n\nThe user\nis told.\n")] == [4]


def test_docstrings_are_found_and_other_strings_are_not() -> None:
    code = '"""A module."""\n\nX = """no docstring"""\n\n\ndef f():\n    """Returns.\n\n    More.\n    """\n'
    assert list(docstrings(code)) == [(1, "A module."), (7, "Returns.")]


def test_messages_are_strings_of_several_words() -> None:
    code = 'def f(a):\n    """Returns it."""\n    return {"key": f"{a} is told", "word": "x y"}\n'
    assert sorted(messages(code)) == [(3, " is told"), (3, "x y")]


def test_a_docstring_that_begins_with_a_clause_is_refused(tmp_path: Path) -> None:
    (tmp_path / "judge").mkdir()
    (tmp_path / "judge/it.py").write_text('"""Who waits."""\n')
    [finding] = findings(tmp_path)
    assert (finding.path, finding.line, finding.advice) == ("judge/it.py", 1, CLAUSE.advice)


def test_an_exception_that_matches_nothing_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "README.md").write_text("The colours.\n")
    monkeypatch.setattr(check_style, "ROOT", tmp_path)
    monkeypatch.setattr(check_style, "ALLOWED", {("README.md", "colours"): "a name"})
    assert check_style.main() == 0
    monkeypatch.setattr(check_style, "ALLOWED", {("README.md", "colours"): "a name", ("README.md", "gray"): "a name"})
    assert check_style.main() == 1
    assert '"gray" in README.md' in capsys.readouterr().out
