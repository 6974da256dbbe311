"""The native digest is that of ``judge.wire.digest``."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from judge.native import library
from judge.native.digest import picked_digests, piece_digests, tree_digest
from judge.native.library import NativeLibrary
from judge.wire import digest
from judge.wire.digest import DIGEST_BYTES, PIECE_BYTES

pytestmark = pytest.mark.cxx

DATA = np.random.default_rng(1).integers(0, 256, 2_100_000, np.uint8)
PIECES = -(-DATA.size // PIECE_BYTES)
#: How many digests make a piece of the next level.
TO_A_PIECE = PIECE_BYTES // DIGEST_BYTES
#: Around the ends of SHA-256's blocks, of pieces, and of the levels of the tree.
SIZES = (
    *(*range(130), *(pieces * PIECE_BYTES + k for pieces in (1, 2) for k in range(-16, 16)), 65_535, 65_536, 70_000),
    *(pieces * PIECE_BYTES + k for pieces in (TO_A_PIECE, TO_A_PIECE**2) for k in (-1, 0, 1)),
    DATA.size,
)


@pytest.fixture(params=[False, True], ids=["instructions", "portable"])
def portable(request: pytest.FixtureRequest, native: NativeLibrary) -> bool:
    if not request.param and not native.has_sha_instructions:
        pytest.skip("this processor has no instructions for SHA-256")
    return bool(request.param)


def test_the_digests_are_the_same(portable: bool) -> None:
    for size in SIZES:
        assert tree_digest(DATA[:size], portable=portable) == digest.tree_digest(DATA[:size].data), size


@given(st.integers(0, 70_000), st.integers(0, 1000))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_anywhere(portable: bool, size: int, start: int) -> None:
    data = DATA[start : start + size]
    assert tree_digest(data, portable=portable) == digest.tree_digest(data.data)


@pytest.mark.parametrize("threads", [1, 2, 3, 64])
def test_threads_make_no_difference(portable: bool, threads: int) -> None:
    assert tree_digest(DATA, threads, portable=portable) == digest.tree_digest(DATA.data)


def test_three_levels(native: NativeLibrary) -> None:
    data = np.resize(DATA, TO_A_PIECE**2 * PIECE_BYTES + 1)
    assert tree_digest(data, 2) == digest.tree_digest(data.data)
    assert native is library.loaded()


@pytest.mark.parametrize("picked", [[], [0], [3, 1, 1], [*range(PIECES)], [PIECES - 1]])
@pytest.mark.parametrize("threads", [1, 3])
def test_pieces_that_are_picked(picked: list[int], threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    expected = piece_digests(DATA).reshape(-1, DIGEST_BYTES)[picked].reshape(-1)
    assert np.array_equal(picked_digests(DATA, np.array(picked, np.int64), threads), expected)
    monkeypatch.setattr(library, "_loaded", None)
    assert np.array_equal(picked_digests(DATA, np.array(picked, np.int64), threads), expected)


def test_a_piece_that_is_not_there(native: NativeLibrary) -> None:
    with pytest.raises(ValueError, match=f"piece {PIECES} of {PIECES}"):
        native.digest_pieces(DATA, PIECE_BYTES, 1, np.array([PIECES]))


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(library, "_loaded", None)
    assert tree_digest(DATA[:9999], 3) == digest.tree_digest(DATA[:9999].data)


def test_what_is_not_contiguous_is_refused(native: NativeLibrary) -> None:
    with pytest.raises(ValueError, match="not contiguous"):
        native.digest_pieces(DATA[::2], PIECE_BYTES, 1)
