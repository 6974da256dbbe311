"""Output on a terminal: narrow tables, formulae, and servers that are something else."""

from __future__ import annotations

import io

import httpx
import pytest

from cli.console import print_table
from tests.unit.cli.conftest import Cli, FakeServer

STATEMENT = (
    "# T\n\nSum $a_i * b_i$ and `x_$i_$`:\n\n$$\ny_i = \\sum_{j} w_{j} * x_{j}\n$$\n\n```cuda\nint $a_b$;\n```\n"
)
CHALLENGE = {
    "slug": "t", "title": "T", "statement": STATEMENT, "version": "1.0.0", "difficulty": "easy",
    "signature": "void solve();", "starter": "x",
}  # fmt: skip


class Terminal(io.StringIO):
    """A stdout that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    shown = Terminal()
    monkeypatch.setenv("TERM", "dumb")
    # rich takes COLUMNS of a dumb terminal only beside LINES.
    monkeypatch.setenv("LINES", "25")
    return shown


@pytest.mark.parametrize("columns", [40, 69])
def test_a_table_in_a_narrow_terminal_is_not_cut_into_letters(
    terminal: Terminal, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", str(columns))
    tags = "matrix, shared memory, tiling, tensor cores"
    print_table(("slug", "title", "tags"), [("gemm", "Matrix multiplication", tags), ("add", "Sum", "")])
    shown = terminal.getvalue()
    assert "gemm\n  title: Matrix multiplication\n" in shown
    assert tags in " ".join(shown.split())
    assert shown.endswith("add\n  title: Sum\n")


def test_a_table_that_fits_stays_one(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    print_table(("slug", "title"), [("gemm", "Matrix multiplication")])
    assert [line.split() for line in terminal.getvalue().splitlines() if "gemm" in line] == [
        ["gemm", "Matrix", "multiplication"]
    ]


def test_formulae_keep_their_underscores(
    cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch, terminal: Terminal
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    server.routes = {"GET challenges/t": CHALLENGE}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sys.stdout", terminal)
        cli("show", "t")
    shown = terminal.getvalue()
    assert "a_i * b_i" in shown
    assert "y_i = \\sum_{j} w_{j} * x_{j}" in shown
    assert "x_$i_$" in shown
    assert "int $a_b$;" in shown


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(404, text="<html>nothing here</html>"),
        httpx.Response(403, json=["no"]),
        httpx.Response(200, text="hello"),
    ],
)
def test_a_server_that_is_something_else_is_told_as_that(cli: Cli, server: FakeServer, answer: httpx.Response) -> None:
    server.routes = {"GET challenges": answer}
    ended = cli("challenges", "--server", "http://elsewhere.example")
    assert ended.exit_code == 3
    assert "http://elsewhere.example" in ended.stderr
    assert "gpujudge" in ended.stderr
    assert "right address" in ended.stderr


@pytest.mark.parametrize("token", ["gpj_a\nX-Other: 1", "gpj_\u00e9", "gpj_\x00"])
def test_a_token_that_no_header_can_hold_is_refused(
    cli: Cli, server: FakeServer, monkeypatch: pytest.MonkeyPatch, token: str
) -> None:
    monkeypatch.setattr("cli.connect.resolve_token", lambda _server: token)
    ended = cli("whoami")
    assert (ended.exit_code, server.requests) == (2, [])
    assert "the token holds a line break" in ended.stderr
    assert "X-Other" not in ended.stderr
