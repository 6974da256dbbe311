"""Files that are saved are seen, whatever way an editor saves."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli import watching
from cli.watching import saves
from tests.unit.cli.conftest import Cli


def test_each_save_is_told_of_once(tmp_path: Path) -> None:
    one, other = tmp_path / "a.cu", tmp_path / "b.cu"
    one.write_text("1")
    other.write_text("2")

    def replace() -> None:
        (tmp_path / "new").write_text("3")
        (tmp_path / "new").replace(one)

    steps = iter([lambda: None, lambda: other.write_text("longer"), lambda: None, one.unlink, lambda: None, replace])
    seen = saves([one, other], pause=lambda _s: next(steps)())
    next(seen)
    next(seen)  # the second step
    next(seen)  # the last one: a file that is away is waited for
    assert one.read_text() == "3"
    assert next(steps, None) is None


def test_what_is_saved_while_it_is_judged_is_judged_again(tmp_path: Path) -> None:
    path = tmp_path / "a.cu"
    path.write_text("1")
    seen = saves([path], pause=lambda _s: pytest.fail("nothing to wait for"))
    next(seen)
    path.write_text("longer")
    next(seen)


def test_watching_tells_what_is_wrong_and_goes_on_until_it_is_interrupted(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    path = tmp_path / "a.cu"
    path.write_text("// nothing is named\n")
    pauses = iter([lambda: path.write_text("// gpujudge: challenge=softmx\n")])

    def pause(_s: float) -> None:
        step = next(pauses, None)
        if step is None:
            raise KeyboardInterrupt
        step()

    monkeypatch.setattr(watching.saves, "__kwdefaults__", {"pause": pause})
    monkeypatch.setattr(watching.saves, "__defaults__", (pause,))
    ended = cli("judge", "a.cu", "--watch", "--data-dir", "data")
    assert ended.exit_code == 130
    assert "which challenge is a.cu for?" in ended.stderr
    assert "softmx" in ended.stderr
    assert ended.stderr.count("Ctrl-C ends") == 2


@pytest.mark.parametrize(("argv", "why"), [(["a.cu", "--json"], "--json prints one object"), (["-"], "stdin")])
def test_what_cannot_be_watched(cli: Cli, tmp_path: Path, argv: list[str], why: str) -> None:
    (tmp_path / "a.cu").write_text("")
    ended = cli("judge", "--watch", *argv)
    assert ended.exit_code == 2
    assert why in ended.stderr
