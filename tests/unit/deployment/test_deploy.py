"""deploy/: units, manifests and rules name only commands, settings, files, addresses and metrics that there are."""

from __future__ import annotations

import configparser
import json
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from cli.app import app
from tests.builds import ROOT
from tests.unit.test_docs import SETTINGS
from web.serving.gunicorn_conf import bind

UNITS = sorted((ROOT / "deploy/systemd").glob("*"))
KUBERNETES = ROOT / "deploy/kubernetes"
NAMES = {f"GPUJUDGE_{name.upper()}" for name in SETTINGS}
WORKERS = {"build-worker", "emulator-worker", "gpu-worker"}


def _check_command(argv: list[str]) -> None:
    """Raises for a command, an option or an argument that does not exist."""
    assert argv[0] == "gpujudge"
    group = typer.main.get_command(app)
    context = group.make_context("gpujudge", [*argv[1:], "--help"], resilient_parsing=True)
    name, found, rest = group.resolve_command(context, argv[1:])  # type: ignore[attr-defined]
    if hasattr(found, "commands"):
        name, found, rest = found.resolve_command(context, rest)
    found.make_context(name, list(rest))
    if argv[1] == "worker":
        assert argv[2] in ("build", "device", "sweeper")


def _unit(path: Path) -> configparser.ConfigParser:
    # A key may be there several times, and then the last is kept: only Environment is, and it is read by itself.
    parser = configparser.ConfigParser(strict=False, interpolation=None, delimiters=("=",))
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read(path)
    return parser


@pytest.mark.parametrize("path", [path for path in UNITS if path.suffix == ".service"], ids=lambda path: path.name)
def test_a_unit_starts_what_exists(path: Path) -> None:
    unit = _unit(path)
    service = unit["Service"]
    program, *rest = shlex.split(service["ExecStart"])
    if Path(program).name == "gunicorn":
        dockerfile = (ROOT / "docker/Dockerfile").read_text()
        assert json.dumps(["gunicorn", *rest]) in dockerfile
    else:
        _check_command([Path(program).name, *rest])
    assert service["User"] == "gpujudge"
    assert set(re.findall(r"GPUJUDGE_\w+", path.read_text())) <= NAMES
    named = " ".join(value for key, value in unit["Unit"].items() if key in ("Requires", "After", "PartOf")).split()
    ours = {name for name in named if name.startswith("gpujudge")}
    assert ours <= {one.name for one in UNITS}
    runs_submissions = "@" in path.name
    assert service.get("Delegate", "no") == ("yes" if runs_submissions else "no")
    if runs_submissions:
        assert not {"RestrictNamespaces", "ProtectKernelTunables", "ProtectProc", "PrivateDevices"} & set(service)


def test_systemd_reads_the_units(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("systemd-analyze is not installed")
    for path in UNITS:
        # The programs are where an operator installs them, not here.
        text = path.read_text().replace("/opt/gpujudge/.venv/bin/gunicorn", "/bin/true")
        (tmp_path / path.name).write_text(text.replace("/opt/gpujudge/.venv/bin/gpujudge", "/bin/true"))
    done = subprocess.run(
        ["systemd-analyze", "verify", *(str(tmp_path / path.name) for path in UNITS)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    if "Failed to initialize manager" in done.stderr:
        pytest.skip(f"systemd-analyze cannot work here: {done.stderr.strip()}")
    complaints = [line for line in done.stderr.splitlines() if line.partition(":")[0].endswith("service")]
    assert complaints == []


def _documents() -> Iterator[tuple[Path, dict[str, Any]]]:
    for path in sorted(KUBERNETES.rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            yield path, document


def _deployments() -> dict[str, dict[str, Any]]:
    return {one["metadata"]["name"]: one["spec"] for _, one in _documents() if one["kind"] == "Deployment"}


def test_the_kustomizations_name_each_file_and_each_image() -> None:
    images: set[str] = set()
    for path, one in _documents():
        if one["kind"] == "Kustomization":
            here = {file.name for file in path.parent.glob("*.yaml")} - {path.name}
            assert {name for name in one["resources"] if not name.startswith("..")} == here
            assert all((path.parent / name).exists() for name in one["resources"])
            images |= {image["name"] for image in one["images"]}
    used = {pod["image"] for spec in _deployments().values() for pod in _containers(spec)}
    assert used == images
    assert used == set(re.findall(r"image: (gpujudge-\S+)", (ROOT / "docker-compose.yml").read_text()))


def _containers(spec: dict[str, Any]) -> list[dict[str, Any]]:
    pod = spec["template"]["spec"]
    return [*pod.get("initContainers", []), *pod["containers"]]


@pytest.mark.parametrize("name", ["web", "sweeper", *sorted(WORKERS)])
def test_a_deployment_runs_what_exists(name: str) -> None:
    spec = _deployments()[name]
    pod = spec["template"]["spec"]
    assert spec["selector"]["matchLabels"].items() <= spec["template"]["metadata"]["labels"].items()
    assert pod["securityContext"]["runAsNonRoot"] is True
    assert f"--uid {pod['securityContext']['runAsUser']} " in (ROOT / "docker/Dockerfile").read_text()
    volumes = {volume["name"] for volume in pod["volumes"]}
    for one in _containers(spec):
        if "command" in one:
            _check_command(one["command"])
        assert {variable["name"] for variable in one.get("env", [])} <= NAMES
        secret = one["envFrom"][0]["secretRef"]["name"]
        assert secret == ("gpujudge" if name == "web" else "gpujudge-worker"), "only the website has the secret key"
        assert one["securityContext"]["capabilities"] == {"drop": ["ALL"]}
        assert one["securityContext"]["allowPrivilegeEscalation"] is False
        assert {mount["name"] for mount in one["volumeMounts"]} == volumes
    labels = spec["template"]["metadata"]["labels"]
    assert (labels.get("gpujudge/runs-submissions") == "true") == (name in WORKERS)


def test_workers_get_what_their_jail_needs_and_gpu_workers_a_node() -> None:
    deployments = _deployments()
    for name in WORKERS:
        pod = deployments[name]["template"]["spec"]
        context = pod["containers"][0]["securityContext"]
        assert pod["hostUsers"] is False
        assert context["procMount"] == "Unmasked"
        profile = Path(context["seccompProfile"]["localhostProfile"]).name
        assert (ROOT / "docker" / profile).is_file()
    gpu = deployments["gpu-worker"]
    assert gpu["strategy"] == {"type": "Recreate"}
    pod = gpu["template"]["spec"]
    assert set(pod["nodeSelector"]) == {"nvidia.com/gpu.present", "gpujudge/judges"}
    assert pod["containers"][0]["resources"]["limits"]["nvidia.com/gpu"] == 1


def test_the_website_is_probed_where_it_answers() -> None:
    [web] = _deployments()["web"]["template"]["spec"]["containers"]
    health = (ROOT / "web/health.py").read_text()
    for probe in ("livenessProbe", "readinessProbe"):
        assert f'"{web[probe]["httpGet"]["path"]}"' in health
    settings = {variable["name"]: variable["value"] for variable in web["env"]}
    assert int(settings["GPUJUDGE_PORT"]) == web["ports"][0]["containerPort"]
    assert bind.count(":") == 1


@pytest.mark.parametrize("folder", ["base", "gpu"])
def test_kustomize_builds_it(folder: str) -> None:
    if shutil.which("kubectl") is None:
        pytest.skip("kubectl is not installed")
    done = subprocess.run(
        ["kubectl", "kustomize", str(KUBERNETES / folder)], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    built = [one for one in yaml.safe_load_all(done.stdout) if one["kind"] == "Deployment"]
    assert {one["metadata"]["namespace"] for one in built} == {"gpujudge"}
    assert ("gpu-worker" in {one["metadata"]["name"] for one in built}) == (folder == "gpu")
