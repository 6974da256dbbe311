"""The emulator's backend asks for the native library once, and times one benchmark in a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from emulator import native
from judge.backends.emulator import backend
from judge.packs.pack import Pack
from judge.settings import JudgeSettings


def test_the_native_library_is_asked_for_once_and_again_when_it_is_gone(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def ensure(folder: Path, _progress: object = None) -> Path:
        asked.append(folder)
        folder.mkdir(exist_ok=True)
        library = folder / "library.so"
        library.touch()
        return library

    monkeypatch.setattr(native, "ensure", ensure)
    settings = JudgeSettings(data_dir=data_dir)
    library = backend._ensure_library(settings)
    assert backend._ensure_library(settings) == library
    assert asked == [data_dir / "emulator"]
    library.unlink()
    assert backend._ensure_library(settings) == library
    assert library.exists()
    assert len(asked) == 2


def test_a_run_times_one_benchmark_unless_it_is_a_whole_model(packs: dict[str, Pack]) -> None:
    made = backend.make_backend()
    (timed,) = made.benchmarks_of_run(packs["gemm"])
    assert timed in packs["gemm"].benchmarks_for("emulator")
    assert made.benchmarks_of_run(packs["gpt2-block"]) == ()
