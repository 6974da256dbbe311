import mmap
import os
from pathlib import Path

import numpy as np
import pytest

from judge.supervisor.shared_memory import LibraryFile, SharedRegion


def test_arrays_come_back() -> None:
    region = SharedRegion("test", 8192, read_only=False)
    array = np.arange(12, dtype=np.float16).reshape(3, 4)
    region.write(4096, array)
    assert np.array_equal(region.read(4096, (3, 4), np.dtype(np.float16)), array)
    region.close()


def test_large_arrays_are_copied_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judge.supervisor.shared_memory._PART_BYTES", 4096)
    array = np.random.default_rng(1).random((7, 1000))
    region = SharedRegion("test", 8 + array.nbytes, read_only=False)
    region.write(8, array)
    assert np.array_equal(region.read(8, array.shape, array.dtype), array)
    region.close()


def test_a_view_outlives_the_region_and_its_memory_goes_with_it() -> None:
    region = SharedRegion("outlived", 8192, read_only=False)
    view = region.view(4096, 16, np.dtype(np.uint32))
    region.close()
    # Another thread may be filling it: the process would end here by SIGSEGV.
    view[:] = 7
    assert view.sum() == 7 * 16
    assert "outlived" in Path("/proc/self/maps").read_text(encoding="utf-8")
    del view
    assert "outlived" not in Path("/proc/self/maps").read_text(encoding="utf-8")
    with pytest.raises(ValueError, match="closed"):
        region.view(0, 1, np.dtype(np.uint32))


def test_the_runner_cannot_change_what_was_read() -> None:
    region = SharedRegion("test", 4096, read_only=False)
    runners = mmap.mmap(region.fd, 4096)
    runners[:4] = b"abcd"
    taken = region.read(0, (4,), np.dtype(np.uint8))
    runners[:4] = b"zzzz"
    assert bytes(taken) == b"abcd"


def test_the_runner_cannot_write_inputs_nor_change_any_size() -> None:
    region = SharedRegion("test", 4096, read_only=True)
    with pytest.raises(PermissionError):
        mmap.mmap(region.fd, 4096)
    with pytest.raises(PermissionError):
        os.pwrite(region.fd, b"x", 0)
    for size in (0, 8192):
        with pytest.raises(PermissionError):
            os.ftruncate(region.fd, size)
    region.write(0, np.ones(4, np.uint8))
    seen = mmap.mmap(region.fd, 4096, prot=mmap.PROT_READ)
    assert seen[:4] == b"\1\1\1\1"


def test_nothing_outside_can_be_read_or_written() -> None:
    region = SharedRegion("test", 4096, read_only=False)
    with pytest.raises(TypeError):
        region.read(4095, (2,), np.dtype(np.uint8))
    with pytest.raises(TypeError):
        region.write(4095, np.ones(2, np.uint8))


def test_empty_arrays_and_regions() -> None:
    region = SharedRegion("test", 0, read_only=True)
    region.write(0, np.empty((0, 3), np.float32))
    assert region.read(0, (0, 3), np.dtype(np.float32)).shape == (0, 3)
    region.clear(0, 0)
    region.close()
    region.close()


def test_a_library_is_sealed_once_it_is_in() -> None:
    library = LibraryFile()
    library.fill(b"\x7fELF...")
    with pytest.raises(PermissionError):
        os.pwrite(library.fd, b"x", 0)
    assert os.pread(library.fd, 100, 0) == b"\x7fELF..."
    library.close()


def test_populate_allocates_pages() -> None:
    region = SharedRegion("test", 64 * 4096, read_only=False)
    region.write(4096, np.arange(5))
    region.populate(8 * 4096)
    assert os.fstat(region.fd).st_blocks * 512 >= 8 * 4096
    assert np.array_equal(region.read(4096, (5,), np.dtype(np.int64)), np.arange(5))
    region.close()
    region.populate(8 * 4096)
    SharedRegion("test", 0, read_only=False).populate(0)
