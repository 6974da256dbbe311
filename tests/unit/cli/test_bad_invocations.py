"""The table of wrong invocations of ``gpujudge judge``, and the message of each, word for word."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.errors import USAGE
from tests.unit.cli.conftest import Cli

#: The words after ``gpujudge judge``, and what stderr must contain. ``k.cu`` names no challenge; ``folder`` is one.
_WRONG: list[tuple[str, tuple[str, ...]]] = [
    ("", ("Missing argument 'FILE...'",)),
    ("--nosuch", ("No such option: --nosuch",)),
    ("k.cu", ("which challenge is k.cu for?", "--challenge SLUG", "// gpujudge: challenge=SLUG")),
    ("nosuch.cu -c vector-add", ("cannot read nosuch.cu: No such file or directory",)),
    ("folder -c vector-add", ("cannot read folder: Is a directory",)),
    ("k.cu k.cu -c vector-add", ("k.cu is named twice",)),
    ("no-colon.cu", ("`// gpujudge` has no colon", "Write `// gpujudge: challenge=vector-add`.")),
    ("typing-error.cu", ("`// gpujudge:` does not know 'chalenge=vector-add'", "It takes challenge=SLUG")),
    (
        "no-value.cu",
        (
            "`// gpujudge:` does not know 'challenge='",
            "It takes challenge=SLUG, device=NAME, language=NAME and arch=NAME.",
        ),
    ),
    ("bom.cu", ("there is no challenge 'vectoradd'", "did you mean vector-add")),
    ("k.cu -c vectoradd", ("there is no challenge 'vectoradd'", "did you mean vector-add")),
    ("k.cu -c vector-add --packs nowhere", ("cannot read the challenges in nowhere", "No such file or directory")),
    ("k.cu -c vector-add --packs k.cu", ("cannot read the challenges in k.cu", "Not a directory")),
    ("k.cu -c vector-add --packs folder", ("there is no challenge 'vector-add'", "There are: none.")),
    ("k.cu -c vector-add -d gpu9", ("unknown device 'gpu9'", "this machine has emulator")),
    ("k.cu -c vector-add -d cuda:99", ("unknown device 'cuda:99'",)),
    ("k.cu -c vector-add --case nine", ("vector-add has no case 'nine'", "There are: four, one-block, one,")),
    ("k.cu -c vector-add --case four --set N=3", ("--case names a case", "leave one of them out")),
    ("k.cu -c vector-add --set N", ("--set 'N' is not NAME=VALUE", "For example: --set N=1000")),
    ("k.cu -c vector-add --set N=", ("--set 'N=' is not NAME=VALUE", "For example: --set N=1000")),
    ("k.cu -c vector-add --set =3", ("--set '=3' is not NAME=VALUE",)),
    ("k.cu -c vector-add --set N=1 --set N=2", ("N is given twice",)),
    ("k.cu -c vector-add --set M=3", ("M: vector-add has no such input; there are N, A, B", "N (size, now 4)")),
    ("k.cu -c vector-add --set N=abc", ("N: 'abc' is not a whole number", "vector-add takes: N (size, now 4)")),
    ("k.cu -c vector-add --set N=0", ("N: must be from 1 to 100,000,000, not 0",)),
    ("k.cu -c vector-add --set N=-1", ("N: must be from 1 to 100,000,000, not -1",)),
    ("k.cu -c vector-add --set N=99999999999", ("N: must be from 1 to 100,000,000, not 99,999,999,999",)),
    ("k.cu -c vector-add --input A=foo", ("A: 'foo' is none of uniform LOW HIGH, normal MEAN SD",)),
    ("k.cu -c vector-add --input A=uniform", ("A: write uniform LOW HIGH",)),
    ("k.cu -c vector-add --input A=@nowhere.txt", ("cannot read nowhere.txt",)),
    ("k.cu -c vector-add --seed x", ("Invalid value for '--seed'",)),
    ("k.cu -c vector-add --seed -1", ("Invalid value for '--seed'", "is not in the range 0<=x")),
    ("k.cu -c vector-add --watch --json", ("--json prints one object, and --watch judges again and again",)),
    ("- -c vector-add --watch", ("stdin cannot be watched", "Name a file.")),
    ("k.cu -c vector-add --data-dir k.cu/data", ("cannot make", "Not a directory")),
]
_WRONG_SETTINGS = [
    ("GPUJUDGE_JAIL", "maybe", "GPUJUDGE_JAIL is required or off, not 'maybe'"),
    ("GPUJUDGE_EMULATOR_THREADS", "many", "GPUJUDGE_EMULATOR_THREADS is a number, not 'many'"),
    ("GPUJUDGE_PYTORCH", "yes", "GPUJUDGE_PYTORCH is off, tensors or functions, not 'yes'"),
    ("GPUJUDGE_EMULATOR_GPU", "voodoo", "GPUJUDGE_EMULATOR_GPU is one of a100, h100, h200, rtx4090, t4, not 'voodoo'"),
]
_FILES = {
    "k.cu": b'extern "C" void solve() {}\n',
    "no-colon.cu": b"// gpujudge challenge=vector-add\n",
    "typing-error.cu": b"// gpujudge: chalenge=vector-add\n",
    "no-value.cu": b"// gpujudge: challenge=\n",
    "bom.cu": b"\xef\xbb\xbf// gpujudge: challenge=vectoradd\n",
}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The files that the table names, in the working directory, and no settings of the machine's own."""
    for name, content in _FILES.items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "folder").mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("COLUMNS", "200")
    for name in ("GPUJUDGE_DATA_DIR", "GPUJUDGE_PACK_PATHS", *(name for name, _, _ in _WRONG_SETTINGS)):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("words", "told"), _WRONG, ids=[words or "nothing" for words, _ in _WRONG])
def test_a_wrong_invocation_is_told_what_is_wrong(cli: Cli, words: str, told: tuple[str, ...]) -> None:
    ended = cli("judge", *words.split())
    assert ended.exit_code == USAGE
    for text in told:
        assert text in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("words", [words for words, _ in _WRONG], ids=[words or "nothing" for words, _ in _WRONG])
def test_with_json_it_is_one_object_as_well(cli: Cli, words: str) -> None:
    error = cli("judge", "--json", *words.split()).json["error"]
    assert error["code"] == "usage"
    assert error["message"]


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("name", "value", "told"), _WRONG_SETTINGS)
def test_a_wrong_setting_is_named(cli: Cli, monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str) -> None:
    monkeypatch.setenv(name, value)
    ended = cli("judge", "k.cu", "-c", "vector-add")
    assert ended.exit_code == USAGE
    assert told in ended.stderr
