"""Packs the arguments of the judge's kernels by ``struct``, in C's layout."""

from __future__ import annotations

from judge.wire.recipe import Changes, Planted, Recipe

#: ``Recipe`` of inputs.cuh.
RECIPE = "QQddQQQQQQQQQIIII"
_NO_SENTINELS = Planted(0, bytes(8), bytes(8), (0, 0))
_NO_CHANGES = Changes(0, (0, 0), (0, 0))


def recipe_values(recipe: Recipe) -> tuple[int | float, ...]:
    """Returns the values that ``RECIPE`` packs."""
    sentinels, changes = recipe.sentinels or _NO_SENTINELS, recipe.changes or _NO_CHANGES
    patterns = (int.from_bytes(pattern, "little") for pattern in (recipe.value, sentinels.plus, sentinels.minus))
    return (
        *recipe.key, recipe.offset, recipe.scale, *patterns, *sentinels.key, *changes.places, *changes.values,
        int(recipe.kind), int(recipe.element), sentinels.count, changes.count,
    )  # fmt: skip


def is_planted(recipe: Recipe) -> bool:
    """Returns whether the recipe has anything beside its stream."""
    return bool((recipe.sentinels and recipe.sentinels.count) or (recipe.changes and recipe.changes.count))
