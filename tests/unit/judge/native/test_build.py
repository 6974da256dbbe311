"""Whether a process gets the library, and that it goes on where it does not."""

from __future__ import annotations

import logging
from pathlib import Path

import numpy as np
import pytest

from emulator.cxx import SHARED_FOLDER
from judge.native import build, library
from judge.packs.data.distributions import Normal
from tests.draws import fill


@pytest.fixture(autouse=True)
def _fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_loaded", None)
    monkeypatch.delenv(SHARED_FOLDER, raising=False)


def _made() -> bytes:
    return fill(Normal(), (5000,), np.dtype(np.float32), 1, "c", "x", 0).tobytes()


@pytest.mark.cxx
def test_it_is_built_and_used_from_then_on(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Optimizing takes most of the time; other tests use the library that is optimized.
    compiler = tmp_path / "c++"
    compiler.write_text('#!/bin/sh\nexec g++ "$@" -O0\n')
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    before = _made()
    build.prepare(tmp_path)
    first = library.loaded()
    assert first is not None
    assert _made() == before
    build.prepare(tmp_path / "elsewhere")
    assert library.loaded() is first
    assert not (tmp_path / "elsewhere").exists()


def test_without_a_compiler_a_warning_says_so_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("shutil.which", lambda _name: None)
    with caplog.at_level(logging.WARNING):
        build.prepare(tmp_path)
        build.prepare(tmp_path)
    assert library.loaded() is None
    [said] = [record.getMessage() for record in caplog.records if record.name == build.__name__]
    assert "install g++" in said
    assert len(_made()) == 20_000


def test_a_compiler_that_fails_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    compiler = tmp_path / "c++"
    compiler.write_text("#!/bin/sh\necho no such flag >&2\nexit 1\n")
    compiler.chmod(0o755)
    monkeypatch.setenv("CXX", str(compiler))
    with caplog.at_level(logging.WARNING):
        build.prepare(tmp_path / "out")
    assert library.loaded() is None
    assert "no such flag" in caplog.text


@pytest.mark.cxx
def test_a_folder_that_cannot_be_written_is_a_warning(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").touch()
    with caplog.at_level(logging.WARNING):
        build.prepare(tmp_path / "file")
    assert library.loaded() is None
    assert "file" in caplog.text
