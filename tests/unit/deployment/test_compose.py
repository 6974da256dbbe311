"""docker-compose.yml and the Dockerfile: no engine is needed to see that what they name exists."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from cli.app import app
from logs import LogSettings
from tests.builds import ROOT
from web.settings import WebSettings

DOCKERFILE = (ROOT / "docker/Dockerfile").read_text()
INSTALL = "docker/install-dependencies"


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    loaded: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text())
    return loaded


def _ours(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: one for name, one in compose["services"].items() if one["image"].startswith("gpujudge-")}


def _workers(compose: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: one for name, one in _ours(compose).items() if "worker" in one["image"]}


def test_the_services_asked_for_are_there(compose: dict[str, Any]) -> None:
    assert set(compose["services"]) == {
        "postgres",
        "redis",
        "migrate",
        "web",
        "proxy",
        "sweeper",
        "build-worker",
        "emulator-worker",
        "gpu-worker",
    }
    assert compose["services"]["gpu-worker"]["profiles"] == ["gpu"]
    assert {name for name in ("postgres", "redis", "web") if "healthcheck" not in compose["services"][name]} == set()


def test_commands_are_commands_of_ours(compose: dict[str, Any]) -> None:
    commands = [one["command"] for one in _ours(compose).values() if "command" in one]
    commands += [json.loads(line) for line in re.findall(r'^CMD (\["gpujudge".*\])$', DOCKERFILE, flags=re.MULTILINE)]
    assert len(commands) >= 7
    group = typer.main.get_command(app)
    for command in commands:
        assert command[0] == "gpujudge"
        argv = [re.sub(r"\$\{\w+:-(.*?)\}", r"\1", word) for word in command[1:]]
        context = group.make_context("gpujudge", [*argv, "--help"], resilient_parsing=True)
        name, found, rest = group.resolve_command(context, argv)  # type: ignore[attr-defined]
        assert name is not None, argv
        if hasattr(found, "commands"):
            name, found, rest = found.resolve_command(context, rest)
            assert name is not None, argv
        # Raises for an option or an argument that the command does not take.
        found.make_context(name, list(rest))


def test_the_workers_share_their_locks_and_nothing_else(compose: dict[str, Any]) -> None:
    for name, one in _workers(compose).items():
        assert one["environment"]["GPUJUDGE_LOCKS_DIR"] == "/locks", name
        assert "locks:/locks" in one["volumes"], name
    others = [volume for one in _workers(compose).values() for volume in one["volumes"] if volume != "locks:/locks"]
    assert len(set(others)) == len(others)
    assert "/data /locks" in DOCKERFILE, "the volume gets the owner of the image's folder"


def test_files_and_targets_exist(compose: dict[str, Any]) -> None:
    targets = set(re.findall(r"^FROM \S+ AS (\S+)$", DOCKERFILE, flags=re.MULTILINE))
    for name, one in _ours(compose).items():
        if "build" in one:
            assert one["build"]["target"] in targets, name
            assert (ROOT / one["build"]["dockerfile"]).is_file()
        for option in one.get("security_opt", ()):
            if option.startswith("seccomp="):
                assert (ROOT / option.removeprefix("seccomp=")).is_file()
    built = {one["image"] for one in _ours(compose).values() if "build" in one}
    assert {one["image"] for one in _ours(compose).values()} == built


def test_the_proxy_leads_to_the_website_and_has_limits_of_time(compose: dict[str, Any]) -> None:
    proxy, text = compose["services"]["proxy"], (ROOT / "docker/Caddyfile").read_text()
    assert proxy["profiles"] == ["https"]
    assert proxy["volumes"][0].split(":")[0] == "./docker/Caddyfile"
    assert f"reverse_proxy web:{compose['services']['web']['environment']['GPUJUDGE_PORT']} " in text
    assert set(proxy["networks"]) & set(compose["services"]["web"]["networks"])
    assert set(re.findall(r"\{\$(\w+)\}", text)) <= set(proxy["environment"])
    for limit in ("read_header", "read_body", "idle", "max_size", "request_buffers"):
        assert re.search(rf"^\s+{limit} \w+$", text, flags=re.MULTILINE), limit
    assert text.count("{") == text.count("}")


def test_what_the_images_are_made_from_exists() -> None:
    kept = [line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")]
    for name in kept:
        assert (ROOT / name).exists(), name
    copied = re.findall(r"^COPY (.+) \./$", DOCKERFILE, flags=re.MULTILINE)
    assert copied
    assert {name for line in copied for name in line.split()} <= set(kept)
    installing = re.search(r'^packages="(.+)"$', (ROOT / INSTALL).read_text(), flags=re.MULTILINE)
    assert installing is not None
    hatch = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]
    built, version = hatch["build"], hatch["version"]["path"]
    # judge is there already: the version is read from it.
    assert {"judge", *installing[1].split()} == set(built["targets"]["wheel"]["only-include"])
    assert f"COPY {INSTALL} docker/" in DOCKERFILE
    assert INSTALL in kept
    assert f"COPY {version} judge/" in DOCKERFILE
    assert f"COPY {built['hooks']['custom']['path']} scripts/" in DOCKERFILE


def test_environment_variables_are_settings(compose: dict[str, Any]) -> None:
    names = {name for one in _ours(compose).values() for name in one.get("environment", {})}
    names |= set(re.findall(r"\b(GPUJUDGE_\w+)=", DOCKERFILE))
    known = {f"GPUJUDGE_{field.upper()}" for field in (*WebSettings.model_fields, *LogSettings.model_fields)}
    assert names <= known
    example = (ROOT / "docker/env.example").read_text()
    used = set(re.findall(r"\$\{(\w+)[:}]", (ROOT / "docker-compose.yml").read_text()))
    assert {name for name in used if f"{name}=" not in example} == set()


def test_workers_get_what_their_jail_needs_and_no_capability(compose: dict[str, Any]) -> None:
    for name, one in _ours(compose).items():
        assert one["cap_drop"] == ["ALL"], name
        assert "cap_add" not in one
        assert "privileged" not in one
        assert one["read_only"] is True
    for name, one in _workers(compose).items():
        assert "no-new-privileges:true" in one["security_opt"], name
        assert "systempaths=unconfined" in one["security_opt"]
        assert one["networks"] == ["inside"]
    assert compose["networks"]["inside"]["internal"] is True
    assert "security_opt" not in compose["services"]["web"]


def test_compose_itself_reads_the_file() -> None:
    docker = shutil.which("docker")
    if (
        docker is None
        or subprocess.run([docker, "compose", "version"], capture_output=True, check=False).returncode != 0
    ):
        pytest.skip("docker compose is not installed")
    done = subprocess.run(
        [docker, "compose", "-f", str(ROOT / "docker-compose.yml"), "--profile", "gpu", "config", "--quiet"],
        capture_output=True,
        text=True,
        check=False,
        env={"PATH": str(Path(docker).parent), "GPUJUDGE_DB_PASSWORD": "x"},
    )
    assert done.returncode == 0, done.stderr
