"""Each mutant's library is loaded by a path that no other was loaded by: the loader would give the earlier one."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from judge.runner import main


class _Device:
    def rewrite(self, texts: Sequence[str]) -> None:
        pass


@pytest.mark.parametrize("taken", [(), (0,), (1,), (2, 3), (0, 2, 4)])
def test_no_two_libraries_have_the_same_descriptor(monkeypatch: pytest.MonkeyPatch, taken: tuple[int, ...]) -> None:
    loaded: list[int] = []
    loader = SimpleNamespace(load_program=lambda fd, _arguments, _device: loaded.append(fd))
    # Above all that other tests have open.
    monkeypatch.setattr(main, "_FIRST_MUTANT", 500)
    library = os.memfd_create("library")
    mine = [fcntl.fcntl(library, fcntl.F_DUPFD_CLOEXEC, 500 + each) for each in taken]
    try:
        runner = main.Runner(-1, -1, library)
        monkeypatch.setattr(runner, "_device", _Device())
        monkeypatch.setattr(runner, "_loader", loader, raising=False)
        for _ in range(6):
            runner._mutate([""])
    finally:
        for descriptor in (library, *mine):
            os.close(descriptor)
    assert len(set(loaded)) == 6
