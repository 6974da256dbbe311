"""The documents are true: commands, options, paths, settings, exit codes and JSON keys that they name exist."""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from cli.app import app
from judge.judgement import BuildReport, CaseJudgement, DeviceInfo, Judgement
from judge.judgement_json import to_json
from judge.measurements import Measurement
from judge.verdict import Verdict
from logs import LogSettings
from logs.traces import TraceSettings
from tests.builds import ROOT
from web.settings import WebSettings

#: The names of all.
SETTINGS = [*WebSettings.model_fields, *LogSettings.model_fields, *TraceSettings.model_fields]
DOCUMENTS = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").glob("**/*.md")])
#: Read by the command line or the tests, not by the server's settings.
OTHER_VARIABLES = {
    "GPUJUDGE_CONFIG",
    "GPUJUDGE_IGNORE_UNKNOWN",
    "GPUJUDGE_SERVER",
    "GPUJUDGE_TOKEN",
    "GPUJUDGE_TRACEBACK",
    "GPUJUDGE_TEST_REQUIRE",
    "GPUJUDGE_TEST_SEED",
    "GPUJUDGE_TEST_DATABASE_URL",
    "GPUJUDGE_TEST_REDIS_URL",
    "GPUJUDGE_TEST_GOLDEN",
    "GPUJUDGE_TEST_RECORD",
}


def blocks(document: Path, language: str) -> list[str]:
    """The fenced blocks of that language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", document.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)


def _commands() -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        for block in blocks(document, "sh"):
            for line in block.splitlines():
                if line.strip():
                    yield str(document.relative_to(ROOT)), line.strip()


def _check_gpujudge(argv: list[str]) -> None:
    """Raises for a command or an option that does not exist."""
    group = typer.main.get_command(app)
    context = group.make_context("gpujudge", [*argv, "--help"], resilient_parsing=True)
    _, command, rest = group.resolve_command(context, argv)  # type: ignore[attr-defined]
    if hasattr(command, "commands"):
        _, command, rest = command.resolve_command(context, rest)
    command.make_context("gpujudge", list(rest))


@pytest.mark.parametrize(("document", "line"), list(_commands()))
def test_commands_exist(document: str, line: str) -> None:
    words = shlex.split(line.split("|")[0])
    match words:
        case ["gpujudge", *argv]:
            _check_gpujudge(argv)
            for word in argv:
                if "/" in word and not word.startswith("http"):
                    assert (ROOT / word).exists(), f"{document}: {word}"
        case ["make", target, *_]:
            assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(), flags=re.MULTILINE), document
        case ["docker", "compose", *_] | ["curl", *_] | ["sudo", "apparmor_parser", *_]:
            pass
        case ["git", "clone", "ADDRESS", folder, "&&", "cd", entered]:
            assert entered == folder
        case ["cp", source, _]:
            assert (ROOT / source).is_file()
        case ["sudo", "install", "-m", _, source, _]:
            assert list(ROOT.glob(source))
        case ["sudo", "systemctl", "enable", "--now", *units]:
            for unit in units:
                name, _, instance = unit.partition("@")
                assert list((ROOT / "deploy/systemd").glob(f"{name}@.service" if instance else f"{name}*")), unit
        case ["pipx", "install", what] | ["uv", "tool", "install", what]:
            name, _, extras = what.removesuffix("]").partition("[")
            assert name in (".", "gpujudge")
            known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
            assert set(filter(None, extras.split(","))) <= set(known)
        case ["kubectl", "apply", "-k", folder]:
            assert (ROOT / folder / "kustomization.yaml").is_file()
        case _:
            pytest.fail(f"{document}: nobody checks {line!r}")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_somewhere(document: Path) -> None:
    text = document.read_text("utf-8")
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if "://" in target:
            continue
        name, _, anchor = target.partition("#")
        path = (document.parent / name).resolve() if name else document
        assert path.exists(), target
        if anchor:
            headings = re.findall(r"^#+ (.+)$", path.read_text("utf-8"), flags=re.MULTILINE)
            assert anchor in {re.sub(r"[^\w -]", "", heading).lower().replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_paths_in_the_text_exist(document: Path) -> None:
    folders = "docs|docker|deploy|scripts|judge|store|web|workers|cli|challenges|benchmarks"
    for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", document.read_text("utf-8")):
        assert (ROOT / name).exists(), name


def test_variables_are_settings() -> None:
    known = {f"GPUJUDGE_{name.upper()}" for name in SETTINGS} | OTHER_VARIABLES
    compose = (ROOT / "docker-compose.yml").read_text()
    for document in DOCUMENTS:
        named = set(re.findall(r"\bGPUJUDGE_[A-Z_]+[A-Z]", document.read_text("utf-8")))
        assert {name for name in named - known if f"${{{name}" not in compose} == set(), document


def test_every_setting_is_documented() -> None:
    guide = (ROOT / "docs/operators.md").read_text()
    assert [name for name in SETTINGS if f"GPUJUDGE_{name.upper()}" not in guide] == []


def test_exit_codes() -> None:
    guide = (ROOT / "docs/user-guide.md").read_text()
    section = guide.partition("## Exit codes")[2].partition("\n## ")[0]
    codes = {int(code): text for code, text in re.findall(r"^\| (\d+) \| (.+) \|$", section, flags=re.MULTILINE)}
    for verdict in Verdict:
        assert codes[verdict.exit_code].startswith(verdict.value)
    assert {1, 2, 3, 4, 5, 130} <= set(codes)


def test_the_json_object_has_the_keys_of_a_judgement() -> None:
    [text] = blocks(ROOT / "docs/user-guide.md", "json")
    shown = json.loads(text)
    judgement = Judgement(
        verdict=Verdict.ACCEPTED,
        challenge="softmax",
        pack_version="1.0.0",
        device=DeviceInfo("emulator", "emulator", "CPU emulator", "9.0"),
        build=BuildReport(ok=True, wall_s=0.8),
        cases=(CaseJudgement("one-row", "sample", Verdict.ACCEPTED, 0.01),),
        measurement=Measurement("modelled_time_s", 1.0, 1, 0.0),
    )
    whole = to_json(judgement)
    assert list(shown) == list(whole)
    for name in ("device", "build", "measurement"):
        assert set(shown[name]) == set(whole[name]), name
    assert set(shown["cases"][0]) == set(whole["cases"][0])


def test_every_path_that_the_architecture_names_is_there() -> None:
    """Paths with a slash, from the root; those in the paragraphs on a folder may be relative to it."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    table = text[text.index("## Where do I change X?") :]
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w.-]*)`", table))
    assert len(named) > 50
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []
