"""The process that calls libraries, as the judge sees it: rounds, and every way in which it can fail."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from judge.bench.library import process
from judge.bench.library.process import LibraryProcess
from judge.errors import InternalError
from judge.libraries import Alternation
from judge.packs.pack import Pack
from tests.unit.judge.bench.library.test_record import GEMM, GPU

KERNELS, FOLDER = Path("kernels.cubin"), Path("baselines")


@pytest.fixture(autouse=True)
def fake(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(process, "_SERVER", "tests.fake_library_server")


def named(how: str) -> Pack:
    return dataclasses.replace(GEMM, directory=Path("/packs") / how)


def test_three_rounds_give_the_times() -> None:
    with LibraryProcess(GEMM, GPU, KERNELS, FOLDER, 1) as opened:
        for _ in range(3):
            opened.round()
        [found] = opened.times()
    assert (found.library, found.value) == ("cuBLAS", pytest.approx(102e-6))


def test_what_is_not_installed_is_said() -> None:
    with pytest.raises(InternalError, match="gemm cannot be called: ModuleNotFoundError: No module named 'torch'"):
        LibraryProcess(named("lacks"), GPU, KERNELS, FOLDER, 1)


def test_a_process_that_ends_is_said_with_what_to_try() -> None:
    with LibraryProcess(named("dies"), GPU, KERNELS, FOLDER, 1) as opened, pytest.raises(InternalError) as raised:
        opened.round()
    assert "ended with exit status 3" in str(raised.value)
    assert "import torch" in str(raised.value)


def test_a_process_that_does_not_answer_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    with LibraryProcess(named("hangs"), GPU, KERNELS, FOLDER, 1) as opened:
        monkeypatch.setattr(process, "_ROUND_S", 0.2)
        with pytest.raises(InternalError, match="do not answer within"):
            opened.round()


def test_an_audit_goes_on_without_libraries_that_fail() -> None:
    with Alternation(lambda: LibraryProcess(named("dies"), GPU, KERNELS, FOLDER, 1)) as libraries:
        for _ in range(3):
            libraries.round()
        assert libraries.times() == ()
    assert "exit status 3" in libraries.problem
    with Alternation(lambda: LibraryProcess(named("lacks"), GPU, KERNELS, FOLDER, 1)) as libraries:
        libraries.round()
    assert "torch" in libraries.problem
    with Alternation(lambda: None) as libraries:
        libraries.round()
        assert libraries.times() == ()


def test_libraries_take_their_turns_in_an_audit() -> None:
    with Alternation(lambda: LibraryProcess(GEMM, GPU, KERNELS, FOLDER, 1)) as libraries:
        for _ in range(3):
            libraries.round()
        assert [each.library for each in libraries.times()] == ["cuBLAS"]
