"""Outputs that were committed: what is looked at must be what had been, and nothing else need be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from judge.bench.committed import CommittedArray, NotCommittedError
from judge.native import library
from judge.native.build import LIBRARY
from judge.native.digest import piece_digests, tree_digest
from judge.native.library import NativeLibrary

ROOT = Path(__file__).resolve().parents[4]
ROWS, WIDTH = 3000, 70
#: In row 1234 and nowhere near rows 0 to 99.
CHANGED = 1234 * WIDTH + 5

Output = npt.NDArray[np.float32]


@pytest.fixture(autouse=True, params=["hashlib", pytest.param("native", marks=pytest.mark.nvcc)])
def _digests(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the native library, and without."""
    native = NativeLibrary(LIBRARY.ensure(ROOT / ".cache" / "native")) if request.param == "native" else None
    monkeypatch.setattr(library, "_loaded", native)


@pytest.fixture
def output() -> Output:
    return np.random.default_rng(1).standard_normal((ROWS, WIDTH)).astype(np.float32)


def committed(output: Output, *, change: bool = False) -> CommittedArray:
    """As it was committed; with ``change`` one element is another one by now."""
    data = output.reshape(-1).view(np.uint8)
    digest, pieces = tree_digest(data), piece_digests(data)
    if change:
        output = output.copy()
        output.reshape(-1)[CHANGED] += 1
    return CommittedArray(output, digest, pieces, threads=2)


LOOKS: dict[str, Callable[[Any], Any]] = {
    "a row": lambda array: array[1234],
    "a row from the end": lambda array: array[1234 - ROWS],
    "a range": lambda array: array[1200:1300],
    "rows": lambda array: array[np.array([3, 1234, 1235])],
    "all": lambda array: np.asarray(array),
    "arithmetic": lambda array: array + 1,
    "a column": lambda array: array[:, 3],
    "a method": lambda array: array.max(),
}
ELSEWHERE: dict[str, Callable[[Any], Any]] = {
    "a row": lambda array: array[99],
    "a range": lambda array: array[:100],
    "no range": lambda array: array[1234:1234],
    "rows": lambda array: array[np.array([99, 3, 2999])],
}


@pytest.mark.parametrize(
    "look", [*LOOKS.values(), *ELSEWHERE.values()], ids=[*LOOKS, *(f"{name} elsewhere" for name in ELSEWHERE)]
)
def test_what_was_committed_is_seen(output: Output, look: Callable[[Any], Any]) -> None:
    assert np.array_equal(look(committed(output)), look(output))


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
def test_what_is_looked_at_is_what_had_been_committed(output: Output, look: Callable[[Any], Any]) -> None:
    with pytest.raises(NotCommittedError):
        look(committed(output, change=True))


@pytest.mark.parametrize("look", ELSEWHERE.values(), ids=ELSEWHERE)
def test_what_is_not_looked_at_is_not_compared(output: Output, look: Callable[[Any], Any]) -> None:
    assert np.array_equal(look(committed(output, change=True)), look(output))


def test_digests_of_pieces_are_those_that_had_been_committed(output: Output) -> None:
    """Who changes an output changes the digest of a piece with it, and cannot keep the digest of all."""
    data = output.reshape(-1).view(np.uint8)
    digest = tree_digest(data)
    output.reshape(-1)[CHANGED] += 1
    with pytest.raises(NotCommittedError):
        CommittedArray(output, digest, piece_digests(data), threads=1)


@pytest.mark.parametrize("count", [0, 1, 1024])
def test_an_output_of_one_piece(count: int) -> None:
    output = np.arange(count, dtype=np.float32)
    data = output.view(np.uint8)
    pieces = piece_digests(data)
    assert np.array_equal(CommittedArray(output, pieces.tobytes(), pieces, threads=1).whole(), output)
    with pytest.raises(NotCommittedError):
        CommittedArray(output, bytes(32), pieces, threads=1)


def test_digests_of_another_size(output: Output) -> None:
    data = output.reshape(-1).view(np.uint8)
    with pytest.raises(ValueError, match="bytes of digests"):
        CommittedArray(output, tree_digest(data), piece_digests(data)[:-32], threads=1)
