from __future__ import annotations

import os
from pathlib import Path

from judge.compile import cache
from judge.compile.artifact import Artifact
from judge.compile.target import Target
from judge.judgement import BuildReport, KernelResources

REPORT = BuildReport(ok=True, wall_s=1.0, log="fine", registers=3, kernels=(KernelResources("k", registers=3),))
ARTIFACT = Artifact(b"library", Target("emulator", "compute_80"))
KEY = cache.build_key(b"source", "header", "void solve()", ["-O3"], "nvcc 13")


def test_what_was_stored_comes_back(tmp_path: Path) -> None:
    assert cache.load(tmp_path, KEY) is None
    cache.store(tmp_path, KEY, REPORT, ARTIFACT)
    assert cache.load(tmp_path, KEY) == (REPORT, ARTIFACT)


def test_a_compile_error_is_kept_too(tmp_path: Path) -> None:
    failed = BuildReport(ok=False, wall_s=1.0, log="error")
    cache.store(tmp_path, KEY, failed, None)
    assert cache.load(tmp_path, KEY) == (failed, None)


def test_a_damaged_entry_is_as_good_as_none(tmp_path: Path) -> None:
    cache.store(tmp_path, KEY, REPORT, ARTIFACT)
    (path,) = (path for path in tmp_path.rglob("*") if path.is_file())
    whole = path.read_bytes()
    for damaged in (whole[:-1], whole[:3], b"", b"\xff" * len(whole), whole.replace(b'"ok"', b'"no"')):
        path.write_bytes(damaged)
        assert cache.load(tmp_path, KEY) is None


def test_everything_that_decides_is_in_the_key() -> None:
    keys = {
        KEY,
        cache.build_key(b"source ", "header", "void solve()", ["-O3"], "nvcc 13"),
        cache.build_key(b"source", "header2", "void solve()", ["-O3"], "nvcc 13"),
        cache.build_key(b"source", "header", "void solve(int)", ["-O3"], "nvcc 13"),
        cache.build_key(b"source", "header", "void solve()", ["-O2"], "nvcc 13"),
        cache.build_key(b"source", "header", "void solve()", ["-O3"], "nvcc 12"),
        cache.build_key(b"sourceh", "eader", "void solve()", ["-O3"], "nvcc 13"),
    }
    assert len(keys) == 7


def test_a_folder_that_cannot_be_written_is_no_error(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_text("in the way")
    cache.store(blocked, KEY, REPORT, ARTIFACT)
    assert cache.load(blocked, KEY) is None


def test_the_longest_unused_goes_first(tmp_path: Path) -> None:
    keys = [cache.build_key(bytes([number]), "", "", [], "") for number in range(4)]
    for age, key in enumerate(keys):
        cache.store(tmp_path, key, REPORT, ARTIFACT)
        path = tmp_path / "cache" / "builds" / key[:2] / key[2:]
        os.utime(path, (1000 - age, 1000 - age))
        size = path.stat().st_size
    cache.prune(tmp_path, limit_bytes=2 * size)
    assert [cache.load(tmp_path, key) is not None for key in keys] == [True, True, False, False]


def test_what_a_killed_process_had_begun_to_write_is_removed(tmp_path: Path) -> None:
    cache.store(tmp_path, KEY, REPORT, ARTIFACT)
    (whole,) = (path for path in tmp_path.rglob("*") if path.is_file())
    half, young = whole.with_name(f".{whole.name}.0123abcd"), whole.with_name(f".{whole.name}.4567cdef")
    for path in (half, young):
        path.write_bytes(b"half")
    os.utime(half, (1, 1))
    assert cache.remove_half_written(tmp_path) == 1
    assert (whole.exists(), half.exists(), young.exists()) == (True, False, True)


class Shared:
    """A store that machines share, in memory."""

    def __init__(self) -> None:
        self.builds: dict[str, tuple[bytes, bytes | None]] = {}

    def load(self, key: str) -> tuple[bytes, bytes | None] | None:
        return self.builds.get(key)

    def store(self, key: str, report: bytes, artifact: tuple[str, bytes] | None) -> None:
        self.builds[key] = (report, artifact[1] if artifact else None)


def test_another_machine_finds_a_build_and_keeps_it(tmp_path: Path) -> None:
    shared, failed = Shared(), BuildReport(ok=False, wall_s=1.0, log="error")
    cache.store(tmp_path / "a", KEY, REPORT, ARTIFACT, shared=shared)
    cache.store(tmp_path / "a", "f" * 64, failed, None, shared=shared)
    assert cache.load(tmp_path / "b", KEY) is None
    assert cache.load(tmp_path / "b", KEY, shared=shared) == (REPORT, ARTIFACT)
    assert cache.load(tmp_path / "b", "f" * 64, shared=shared) == (failed, None)
    assert cache.load(tmp_path / "b", KEY) == (REPORT, ARTIFACT)


def test_a_damaged_shared_build_is_as_good_as_none(tmp_path: Path) -> None:
    shared = Shared()
    cache.store(tmp_path / "a", KEY, REPORT, ARTIFACT, shared=shared)
    report, artifact = shared.builds[KEY]
    for damaged in ((report, None), (report, b"?"), (b"?", artifact)):
        shared.builds[KEY] = damaged
        assert cache.load(tmp_path / "b", KEY, shared=shared) is None
