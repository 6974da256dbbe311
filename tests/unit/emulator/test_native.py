"""Building the native library: once, however many ask for it, and with words when it cannot be built.

The compiler is a script that writes down its calls, so that these tests cost nothing.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from emulator import native
from emulator.cxx import SHARED_FOLDER

COMPILER = """#!/bin/sh
[ "$1" = --version ] && { echo fake 1.0; exit 0; }
echo "$*" >> "$LOG"
[ -n "$FAIL" ] && { echo "fake.cpp:1: error: no" >&2; exit 1; }
while [ $# -gt 0 ]; do [ "$1" = -o ] && { sleep 0.02; echo built > "$2"; }; shift; done
"""


@pytest.fixture
def log(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    compiler = tmp_path / "c++"
    compiler.write_text(COMPILER)
    compiler.chmod(0o755)
    toolkit = tmp_path / "cuda"
    (toolkit / "include").mkdir(parents=True)
    for header in ("cuda_runtime_api.h", "driver_types.h"):
        (toolkit / "include" / header).touch()
    log = tmp_path / "log"
    monkeypatch.delenv(SHARED_FOLDER, raising=False)
    for name, value in (("CXX", compiler), ("CUDA_HOME", toolkit), ("LOG", log)):
        monkeypatch.setenv(name, str(value))
    return log


def links(log: Path) -> int:
    return sum("-shared" in line for line in log.read_text().splitlines())


def test_it_is_built_once(log: Path, tmp_path: Path) -> None:
    first = native.ensure(tmp_path / "out")

    assert first == native.ensure(tmp_path / "out")
    assert first.name == native.LIBRARY
    assert first.read_text() == "built\n"
    assert links(log) == 1
    assert sorted(p.name for p in first.parent.iterdir()) == [native.LIBRARY, "lock"]


def test_concurrent_callers_share_one_build(log: Path, tmp_path: Path) -> None:
    code = "import sys, pathlib; from emulator import native; print(native.ensure(pathlib.Path(sys.argv[1])))"
    command = [sys.executable, "-c", code, str(tmp_path / "out")]
    callers = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for _ in range(4)]

    paths = {caller.communicate()[0].strip() for caller in callers}

    assert len(paths) == 1
    assert Path(paths.pop()).read_text() == "built\n"
    assert links(log) == 1


def test_folders_share_one_build_through_the_library_cache(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(SHARED_FOLDER, str(tmp_path / "shared"))

    libraries = [native.ensure(tmp_path / name) for name in ("one", "other", "shared")]

    assert [library.parents[1].name for library in libraries] == ["one", "other", "shared"]
    assert len({library.stat().st_ino for library in libraries}) == 1
    assert links(log) == 1


def test_a_library_that_cannot_be_linked_is_copied(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(_self: Path, _target: Path) -> None:
        raise OSError("another file system")

    monkeypatch.setattr(Path, "hardlink_to", refuse)
    monkeypatch.setenv(SHARED_FOLDER, str(tmp_path / "shared"))

    library = native.ensure(tmp_path / "one")

    assert library.read_text() == "built\n"
    assert list(library.parent.iterdir()) == [library]
    assert links(log) == 1


def test_another_compiler_or_source_is_another_library(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = native.ensure(tmp_path / "out")
    sources = tmp_path / "sources"
    sources.mkdir()
    (sources / "only.cpp").write_text("int x;")
    monkeypatch.setattr(native, "_SOURCES", sources)

    assert native.ensure(tmp_path / "out") != first
    assert links(log) == 2


def test_sources_of_one_name_in_two_folders_are_both_part_of_the_library(
    log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sources = tmp_path / "sources"
    for folder in ("one", "other"):
        (sources / folder).mkdir(parents=True)
        (sources / folder / "same.cpp").write_text("int x;")
    monkeypatch.setattr(native, "_SOURCES", sources)
    first = native.ensure(tmp_path / "out")

    (sources / "other" / "same.cpp").rename(sources / "other" / "moved.cpp")

    assert native.ensure(tmp_path / "out") != first
    assert log.read_text().count(" -c ") == 4
    linked = [line.split("-shared ")[1].split()[:2] for line in log.read_text().splitlines() if "-shared" in line]
    assert all(one != other for one, other in linked)


def test_what_the_compiler_says_is_in_the_error(log: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FAIL", "1")
    with pytest.raises(native.NativeBuildError, match=r"fake\.cpp:1: error: no"):
        native.ensure(tmp_path / "out")
    monkeypatch.delenv("FAIL")
    assert native.ensure(tmp_path / "out").exists()
    assert links(log) == 1


@pytest.mark.usefixtures("log")
def test_what_to_install_is_in_the_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with pytest.raises(native.NativeBuildError, match=r"install g\+\+"):
        native.ensure(tmp_path / "out")
