"""Lays out launches of the judge's kernels, for the runner and for the trusted side: arguments, blocks and threads.

Whoever launches packs the arguments by ``struct``, in C's layout.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from judge.wire.digest import DIGEST_BYTES, level_sizes
from judge.wire.recipe import MAX_CHOICES, Changes, Planted, Recipe, Zeros

#: ``Recipe`` of inputs.cuh.
RECIPE = "QQddQQQQQQQQQQQIIIIII16Q"
_NO_SENTINELS = Planted(0, bytes(8), bytes(8), (0, 0))
_NO_ZEROS = Zeros(0, (0, 0))
_NO_CHANGES = Changes(0, (0, 0), (0, 0))

_THREADS = 256
#: Few threads, so that the pieces of a middling output spread over all multiprocessors.
_PIECE_THREADS = 64
#: The least that a block which follows a stream does in one step.
_BYTES_A_BLOCK = 32 * _THREADS
_BLOCKS_A_MULTIPROCESSOR = 32
#: Kernels that write or undo what lies beside a recipe's stream: one block each.
_PLANTING = ("plant", "unplant")

#: The kernels that make inputs, by name; "general" makes all kinds that have none of their own, and sparse ones.
LAWS = ("constant", "uniform", "normal", "integers", "masked", "general")

#: The arguments of the kernels that both sides launch, by name.
ARGUMENTS = {
    **{
        f"{work}_{law}": f"PQ{RECIPE}PP"
        for work in ("make", "compare", *_PLANTING)
        for law in LAWS
        if law != "masked" or work not in _PLANTING
    },
    "digest_pieces": "PQP",
}
#: Of the kernel that fills a pool: whoever launches it has the pool's key.
POOL_ARGUMENTS = {"make_pool": "PQQQ"}


class Launch(NamedTuple):
    """One launch of a kernel, in one dimension."""

    kernel: str
    blocks: int
    threads: int
    arguments: tuple[int | float, ...]


def law_of(recipe: Recipe) -> str:
    """Returns which of LAWS makes it."""
    name = recipe.kind.name.lower()
    return name if name in LAWS and recipe.zeros is None else "general"


def recipe_values(recipe: Recipe) -> tuple[int | float, ...]:
    """Returns the values that ``RECIPE`` packs."""
    sentinels, changes = recipe.sentinels or _NO_SENTINELS, recipe.changes or _NO_CHANGES
    zeros = recipe.zeros or _NO_ZEROS
    choices = [int.from_bytes(choice, "little") for choice in recipe.choices]
    patterns = (int.from_bytes(pattern, "little") for pattern in (recipe.value, sentinels.plus, sentinels.minus))
    return (
        *recipe.key, recipe.offset, recipe.scale, *patterns, *sentinels.key, *changes.places, *changes.values,
        *zeros.key, int(recipe.kind), int(recipe.element), sentinels.count, changes.count, zeros.below, len(choices),
        *choices, *[0] * (MAX_CHOICES - len(choices)),
    )  # fmt: skip


def is_planted(recipe: Recipe) -> bool:
    """Returns whether the recipe has anything beside its stream."""
    return bool((recipe.sentinels and recipe.sentinels.count) or (recipe.changes and recipe.changes.count))


def recipe_launch(
    work: str, recipe: Recipe, address: int, size: int, *, multiprocessors: int, beside: int = 0, found: int = 0
) -> Launch:
    """Returns the launch that makes, compares, plants or unplants (``work``) the buffer of a recipe.

    ``beside`` is the address of what the recipe mixes its stream with, ``found`` that of the buffer's flags; 0: none.
    """
    blocks = 1 if work in _PLANTING else min(-(-size // _BYTES_A_BLOCK), _BLOCKS_A_MULTIPROCESSOR * multiprocessors)
    arguments = (address, size, *recipe_values(recipe), beside, found)
    return Launch(f"{work}_{law_of(recipe)}", blocks, _THREADS, arguments)


def pool_launch(address: int, size: int, key: tuple[int, int], *, multiprocessors: int) -> Launch:
    """Returns the launch that fills a pool."""
    return Launch("make_pool", _BLOCKS_A_MULTIPROCESSOR * multiprocessors, _THREADS, (address, size, *key))


def piece_launch(address: int, size: int, out: int) -> Launch:
    """Returns the launch that computes one level of a tree digest from ``size`` bytes."""
    blocks = -(-level_sizes(size)[0] // (DIGEST_BYTES * _PIECE_THREADS))
    return Launch("digest_pieces", blocks, _PIECE_THREADS, (address, size, out))


def digest_launches(address: int, size: int, place: Callable[[int], int]) -> Iterator[Launch]:
    """Yields the launch of each level of the tree digest (``judge.wire.digest``), the last one 32 bytes.

    ``place`` returns the address where a level of so many bytes goes.
    """
    for level in level_sizes(size):
        out = place(level)
        yield piece_launch(address, size, out)
        address, size = out, level
