from __future__ import annotations

import json
from pathlib import Path

from tests.unit.cli.conftest import Cli

CHALLENGES = Path(__file__).parents[3] / "challenges"


def test_each_argument_has_a_row(cli: Cli) -> None:
    ended = cli("pack", "slack", str(CHALLENGES / "vector-add"), "--case", "prime", "--json")
    assert ended.exit_code == 0, ended.stderr
    rows = {row["argument"]: row for row in json.loads(ended.stdout)["slack"]}
    assert list(rows) == ["A", "B", "C"]
    assert rows["C"]["unwritten"] == 0.0
    assert rows["A"]["bits"] > 16


def test_an_unknown_case_is_told_with_those_that_there_are(cli: Cli) -> None:
    ended = cli("pack", "slack", str(CHALLENGES / "vector-add"), "--case", "nowhere")
    assert ended.exit_code == 2
    assert "has no case nowhere; it has: " in ended.stderr
