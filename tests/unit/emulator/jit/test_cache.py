"""The disk cache: what it keeps apart, and that nothing that happens to its files does harm."""

from __future__ import annotations

import os
import threading
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from emulator.jit import cache as cache_module
from emulator.jit.artifact import Artifact, Code, Description, Function, Tier
from emulator.jit.cache import Cache, KernelKey
from emulator.jit.compiler import Compilation
from emulator.jit.options import Options, Target
from emulator.ptx import parse_module
from tests.unit.emulator.jit.conftest import HEADER

KEY = KernelKey(b"hash", "kernel", (32, 1, 1), Options())


@cache
def description() -> Description:
    module = parse_module(HEADER + ".visible .entry kernel() { ret; }")
    return Compilation(module, "kernel", (32, 1, 1)).description()


def artifact(size: int = 100, fill: bytes = b"x") -> Artifact:
    return Artifact(description(), {Function.UNIFORM: Code(Tier.QUICK, fill * size)})


def test_what_was_stored_is_found_by_another_process(tmp_path: Path) -> None:
    Cache(tmp_path).store(KEY, artifact())

    assert Cache(tmp_path).load(KEY) == artifact()


@pytest.mark.parametrize(
    "other",
    [
        replace(KEY, ptx=b"other"),
        replace(KEY, entry="other"),
        replace(KEY, block=(1, 32, 1)),
        replace(KEY, options=Options(check_memory=False)),
        replace(KEY, options=Options(observe=True)),
        replace(KEY, options=Options(observe=True, follow=True)),
        replace(KEY, options=Options(target=Target("haswell", "+avx2"))),
    ],
)
def test_what_is_compiled_otherwise_is_another_kernel(tmp_path: Path, other: KernelKey) -> None:
    cache = Cache(tmp_path)
    cache.store(KEY, artifact())

    assert cache.load(other) is None


@pytest.mark.parametrize("part", ["_source_digest", "_llvm_version", "_cpu"])
def test_another_emulator_or_machine_begins_anew(tmp_path: Path, part: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Cache(tmp_path).store(KEY, artifact())
    assert getattr(cache_module, part)()  # there is something to go by

    monkeypatch.setattr(cache_module, part, lambda: b"another")

    assert Cache(tmp_path).load(KEY) is None


def test_a_change_in_a_subfolder_of_the_native_sources_begins_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "native" / "exec" / "block.cpp"
    source.parent.mkdir(parents=True)
    source.write_text("int x;")
    monkeypatch.setattr(cache_module, "_SOURCES", tmp_path)
    before = cache_module._source_digest()

    source.write_text("int y;")
    changed = cache_module._source_digest()
    source.rename(tmp_path / "native" / "block.cpp")

    assert len({before, changed, cache_module._source_digest()}) == 3


@pytest.mark.parametrize("damage", [lambda data: data[:50], lambda data: data[:-1] + b"y", lambda _: b""])
def test_a_damaged_file_is_removed_and_replaced(tmp_path: Path, damage: object) -> None:
    cache = Cache(tmp_path)
    cache.store(KEY, artifact())
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))  # type: ignore[operator]

    assert cache.load(KEY) is None
    assert not list(tmp_path.iterdir())
    cache.store(KEY, artifact())
    assert cache.load(KEY) == artifact()


def test_readers_see_whole_files_while_writers_replace_them(tmp_path: Path) -> None:
    choices = [artifact(200_000, bytes([n])) for n in range(4)]
    Cache(tmp_path).store(KEY, choices[0])
    stop = threading.Event()

    def write(mine: Artifact) -> None:
        cache = Cache(tmp_path)
        while not stop.is_set():
            cache.store(KEY, mine)

    writers = [threading.Thread(target=write, args=(one,)) for one in choices]
    for writer in writers:
        writer.start()
    try:
        found = [Cache(tmp_path).load(KEY) for _ in range(100)]
    finally:
        stop.set()
        for writer in writers:
            writer.join()

    assert all(one in choices for one in found)
    assert [path.suffix for path in tmp_path.iterdir()] == [".kernel"]


def test_the_oldest_go_when_it_is_full(tmp_path: Path) -> None:
    keys = [replace(KEY, entry=str(n)) for n in range(10)]
    cache = Cache(tmp_path, most_bytes=1 << 20)
    for age, key in enumerate(keys[:9]):
        cache.store(key, artifact(110_000))
        os.utime(cache._path(key), (1e9 + age, 1e9 + age))
    assert cache.load(keys[0])  # is now the youngest

    for key in keys[9:]:
        cache.store(key, artifact(110_000))

    assert sum(path.stat().st_size for path in tmp_path.iterdir()) <= 1 << 20
    assert cache.load(keys[0])
    assert cache.load(keys[9])
    assert cache.load(keys[1]) is None


def test_what_a_killed_writer_left_goes_some_day(tmp_path: Path) -> None:
    (tmp_path / "new-old").write_bytes(b"half")
    os.utime(tmp_path / "new-old", (1e9, 1e9))
    (tmp_path / "new-fresh").write_bytes(b"half")

    Cache(tmp_path).store(KEY, artifact())

    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith("new-")) == ["new-fresh"]


def test_a_folder_that_vanishes_is_no_error(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    (tmp_path / "cache").rmdir()

    cache.store(KEY, artifact())

    assert cache.load(KEY) is None
