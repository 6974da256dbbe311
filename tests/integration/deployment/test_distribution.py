"""The wheel and the source distribution: built, compared, and installed in an environment with nothing else in it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

from emulator.cxx import SHARED_FOLDER
from judge.native.cxx import LIBRARY
from tests.builds import ROOT, built_once
from tests.gate import missing
from tests.releases import RELEASES, make_database

pytestmark = [pytest.mark.cxx, pytest.mark.nvcc, pytest.mark.timeout(900)]

#: Of the tests that need the wheel, with its libraries for many processors.
BUILDS_THE_WHEEL = pytest.mark.exhaustive(by_file=True, costly=True)


def _run(command: list[str], **more: str) -> subprocess.CompletedProcess[str]:
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", SHARED_FOLDER)}
    return subprocess.run(command, env=kept | more, capture_output=True, text=True, check=False, cwd="/")


def _build(folder: Path, *options: str, source: Path = ROOT, platform: str = "0") -> Path:
    build = [sys.executable, "-P", "-m", "build", "--no-isolation", "--skip-dependency-check", *options]
    done = _run([*build, "--outdir", str(folder), str(source)], GPUJUDGE_PLATFORM_WHEEL=platform)
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture(scope="module")
def dist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the source distribution, and the platform's wheel built from it: once for all test processes."""
    session = tmp_path_factory.getbasetemp()
    folder = (session.parent if "PYTEST_XDIST_WORKER" in os.environ else session) / "dist"
    with built_once(folder):
        if not folder.exists():
            _build(folder.with_name("unfinished-dist"), platform="1").rename(folder)
    return folder


@pytest.fixture(scope="module")
def wheel(dist: Path) -> Path:
    [wheel] = dist.glob("*.whl")
    return wheel


def _installed(wheel: Path, home: Path, extra: str, *others: str) -> tuple[str, str]:
    """Installs the wheel with an extra, and other packages. Returns the paths of python and of gpujudge."""
    assert _run([sys.executable, "-m", "venv", "--without-pip", str(home)]).returncode == 0
    python = str(home / "bin/python")
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--python", python, "install", "-q"]
    # A run imports few of the modules that pip would compile.
    constraints = ["--no-compile", "-c", str(ROOT / "constraints.txt")]
    done = _run([*pip, *constraints, f"{wheel}[{extra}]", *others])
    if "Could not find a version" in done.stderr:
        missing("the Python package index")
    assert done.returncode == 0, done.stderr
    return python, str(home / "bin/gpujudge")


@BUILDS_THE_WHEEL
@pytest.mark.slow(120)
def test_the_wheel_takes_one_name_and_brings_the_libraries(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    tops = {name.partition("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"gpujudge"}
    assert {Path(name).name for name in names if "/built/" in name} == {"libcudart.so.13", "libgpujudge.so"}
    assert {"gpujudge/__init__.py", "gpujudge/cli/main.py", "gpujudge/challenges/vector-add/challenge.toml"} < {*names}
    assert "-py3-none-manylinux_" in wheel.name


@pytest.mark.exhaustive(by_file=True)
@pytest.mark.slow(10)
def test_the_source_distribution_has_what_the_repository_has(tmp_path: Path) -> None:
    listed = _run(["git", "-C", str(ROOT), "ls-files"])
    if listed.returncode:
        missing("the repository's history, to know its files")
    [sdist] = _build(tmp_path / "sdist", "--sdist").iterdir()
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    wanted = {name for name in listed.stdout.splitlines() if (ROOT / name).is_file()}
    assert wanted - names == set()


@BUILDS_THE_WHEEL
@pytest.mark.slow(120)
def test_a_second_build_is_the_same_to_the_byte(dist: Path, tmp_path: Path) -> None:
    [sdist] = dist.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "unpacked", filter="data")
    [unpacked] = (tmp_path / "unpacked").iterdir()
    first, second = _build(tmp_path / "first"), _build(tmp_path / "second", "--wheel", source=unpacked)
    assert (first / sdist.name).read_bytes() == sdist.read_bytes()
    [wheel] = second.iterdir()
    assert (first / wheel.name).read_bytes() == wheel.read_bytes()


@BUILDS_THE_WHEEL
@pytest.mark.slow(120)
def test_a_library_for_many_cpus_is_the_same_to_the_byte(tmp_path: Path, wheel: Path) -> None:
    """The wheel's was made by another process, of a copy of the sources."""
    again = LIBRARY.build_portable(tmp_path).read_bytes()
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith("libgpujudge.so")]
        assert archive.read(name) == again


@BUILDS_THE_WHEEL
@pytest.mark.slow(120)
@pytest.mark.jail
def test_it_judges_in_a_clean_environment_and_compiles_nothing_of_its_own(wheel: Path, tmp_path: Path) -> None:
    python, gpujudge = _installed(wheel, tmp_path / "environment", "judge")
    assert _run([gpujudge, "--version"]).stdout.startswith("gpujudge ")
    for name in ("web", "store", "judge", "migrations", "cli", "docs", "logs"):
        assert _run([python, "-c", f"import {name}"]).returncode == 1, f"{name} is taken"
    # The server's packages are not there, and the command that needs them says what to do.
    assert "pipx install --force '.[server]'" in _run([gpujudge, "up"], GPUJUDGE_DATA_DIR=str(tmp_path)).stderr

    kernel = tmp_path / "kernel.cu"
    kernel.write_text((ROOT / "reference_solutions/vector-add/plain.cu").read_text())
    judged = _run([gpujudge, "judge", str(kernel), "-c", "vector-add", "--data-dir", str(tmp_path / "data")])
    assert judged.returncode == 0, judged.stderr
    assert judged.stdout.startswith("AC")
    assert "compiling the emulator" not in judged.stderr
    assert list((tmp_path / "data").rglob("*.so*")) == []


@BUILDS_THE_WHEEL
@pytest.mark.slow(120)
@pytest.mark.parametrize("release", RELEASES)
def test_it_upgrades_the_database_of_a_release(release: str, wheel: Path, tmp_path: Path) -> None:
    _, gpujudge = _installed(wheel, tmp_path / "environment", "server")
    home = {"GPUJUDGE_DATA_DIR": str(tmp_path / "data")}
    (tmp_path / "data").mkdir()
    make_database(release, tmp_path / "data/gpujudge.db")
    done = _run([gpujudge, "db", "upgrade"], **home)
    assert done.returncode == 0, done.stderr
    listed = _run([gpujudge, "user", "list", "--json"], **home)
    assert listed.returncode == 0, listed.stderr
    assert [user["username"] for user in json.loads(listed.stdout)["users"]] == ["Ada"]


@BUILDS_THE_WHEEL
@pytest.mark.slow(120)
def test_the_emulator_alone_runs_programs_and_a_project_s_tests(wheel: Path, tmp_path: Path) -> None:
    python, gpujudge = _installed(wheel, tmp_path / "environment", "emulator", "pytest")
    absent = "numpy", "flask", "sqlalchemy", "pydantic_settings"
    assert _run([python, "-c", f"import importlib.util as u; print([u.find_spec(n) for n in {absent}])"]).stdout == (
        f"{[None] * len(absent)}\n"
    )
    project = tmp_path / "project"
    project.mkdir()
    # Folders of the project's own with the names of ours: nothing of gpujudge may be in their place.
    (project / "web").mkdir()
    (project / "web/__init__.py").write_text("NAME = 'the project'\n")
    (project / "test_web.py").write_text("import web\n\ndef test_name():\n    assert web.NAME == 'the project'\n")
    (project / "test_scale.cu").write_text(
        "__global__ void scale(float *a) { a[threadIdx.x] *= 2; }\n"
        "int main() { float *a; cudaMalloc(&a, 64); scale<<<1, 16>>>(a); return cudaFree(a); }\n"
    )
    home = {"XDG_CACHE_HOME": str(tmp_path / "cache")}

    script = "import sys; print([path for path in sys.path if 'gpujudge' in path.split('/')])"
    done = _run([gpujudge, "emulate", python, "-c", script], **home)
    assert (done.returncode, done.stdout) == (0, "[]\n"), done.stderr
    assert list(tmp_path.glob("cache/**/*.so*")) == []
    done = _run([python, "-m", "pytest", "--emulate", "-v", "--rootdir", str(project), str(project)], **home)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "test_scale.cu::main PASSED" in done.stdout
    assert "2 passed" in done.stdout

    kernel = str(ROOT / "reference_solutions/vector-add/plain.cu")
    judged = _run([gpujudge, "judge", kernel, "-c", "vector-add"], **home)
    assert judged.returncode == 2
    assert "pipx install --force '.[judge]'" in judged.stderr
