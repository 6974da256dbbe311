from __future__ import annotations

from pathlib import Path

import pytest

from cli.custom_input import read_custom_input
from cli.errors import UsageError
from tests.unit.cli.conftest import Cli, FakeServer, status


def test_sizes_and_contents_are_texts_by_name(tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("4 5 6\n")
    made = read_custom_input(["N=3", "alpha = 0.5"], ["A=uniform -1 1", f"B=@{tmp_path}/b.txt"])
    assert made == {"N": "3", "alpha": "0.5", "A": "uniform -1 1", "B": "4 5 6\n"}
    assert read_custom_input(None, []) is None


@pytest.mark.parametrize(
    ("sizes", "contents", "told"),
    [
        (["N"], [], "not NAME=VALUE"),
        (["=3"], [], "not NAME=VALUE"),
        ([], ["A="], "not NAME=VALUE"),
        (["N=1", "N=2"], [], "N is given twice"),
        ([], ["A=@/nowhere/at/all"], "cannot read /nowhere/at/all"),
    ],
)
def test_what_cannot_be_read_is_told(sizes: list[str], contents: list[str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        read_custom_input(sizes, contents)


def test_run_sends_the_input(cli: Cli, server: FakeServer, kernel: Path) -> None:
    server.routes = {"POST submissions": status()}
    assert cli("run", str(kernel), "--no-wait", "--set", "N=3", "--input", "A=1 2 3").exit_code == 0
    assert server.bodies("POST submissions")[0]["input"] == {"N": "3", "A": "1 2 3"}


def test_judge_takes_one_case_or_an_input(cli: Cli, kernel: Path) -> None:
    ended = cli("judge", str(kernel), "--case", "n-4", "--set", "N=3")
    assert ended.exit_code == 2
    assert "leave one of them out" in ended.stderr
