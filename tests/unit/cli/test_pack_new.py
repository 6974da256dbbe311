from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.unit.cli.conftest import Cli

ABI = "void solve(const float* A, float* B, int N)"
REFERENCE = """\
import numpy as np


def reference(A, N):
    return np.sqrt(np.abs(A.astype(np.float64)) + 1)
"""
HINTS = "1. A thread for each element.\n2. Loads of 16 bytes."


def finish(folder: Path) -> None:
    """Finishes the open tasks."""
    (folder / "reference.py").write_text(REFERENCE)
    for file in (folder / "challenge.toml", folder.parents[1] / "reference_solutions" / folder.name / "plain.cu"):
        file.write_text(re.sub(r" *(#|//) TODO.*", "", file.read_text()))
    statement = folder / "statement.md"
    text, _, _ = statement.read_text().partition("1. TODO")
    statement.write_text(re.sub("TODO: ", "", text) + HINTS)


def test_a_new_pack_says_what_is_left_to_do_and_is_then_in_order(cli: Cli, tmp_path: Path) -> None:
    packs = tmp_path / "mine"
    ended = cli("pack", "new", "square-roots", "--abi", ABI, "--directory", str(packs))
    assert ended.exit_code == 0, ended.stderr
    assert "pack verify" in ended.stderr
    folder = packs / "square-roots"
    verified = cli("pack", "verify", "--quick", str(folder))
    assert verified.exit_code == 1
    assert verified.stdout.count("[error: todo]") == verified.stdout.count("\n")
    assert "compute B from A, and return an array in float64 [error: todo]" in verified.stdout
    for file in ("challenge.toml", "reference.py", "statement.md", "plain.cu"):
        assert re.search(rf"{file}: line \d+: \S", verified.stdout), file
    finish(folder)
    verified = cli("pack", "verify", "--quick", str(folder))
    assert (verified.exit_code, verified.stdout.count("[")) == (0, 0), verified.stdout


def test_nothing_is_overwritten(cli: Cli, tmp_path: Path) -> None:
    command = ("pack", "new", "twice", "--abi", ABI, "--directory", str(tmp_path / "mine"))
    assert cli(*command).exit_code == 0
    statement = tmp_path / "mine" / "twice" / "statement.md"
    statement.write_text("mine")
    again = cli(*command)
    assert again.exit_code == 2
    assert "is there already" in again.stderr
    assert statement.read_text() == "mine"


def test_a_wrong_abi_is_told_at_the_character(cli: Cli, tmp_path: Path) -> None:
    wrong = "void solve(const float* A, flaot* B, int N)"
    ended = cli("pack", "new", "any", "--abi", wrong, "--directory", str(tmp_path / "mine"))
    assert ended.exit_code == 2
    assert "unknown type 'flaot*'" in ended.stderr
    line, arrow = ended.stderr.rstrip("\n").splitlines()[-2:]
    assert line.strip() == wrong
    assert line[arrow.index("^") :].startswith("flaot*")
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize(
    ("slug", "abi", "message"),
    [
        ("Upper", ABI, "lower-case"),
        ("a/b", ABI, "lower-case"),
        ("any", "void solve(const float* A, float* B)", "pass the sizes"),
        ("any", "void solve(const float* A, int N)", "no pointer is an output"),
    ],
)
def test_what_cannot_be_begun(cli: Cli, slug: str, abi: str, message: str, tmp_path: Path) -> None:
    ended = cli("pack", "new", slug, "--abi", abi, "--directory", str(tmp_path))
    assert ended.exit_code == 2
    assert message in ended.stderr
    assert not list(tmp_path.iterdir())
