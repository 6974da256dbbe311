"""Packs the arguments of the judge's kernels by ``struct``, in C's layout."""

from __future__ import annotations

from judge.wire.recipe import MAX_CHOICES, Changes, Planted, Recipe, Zeros

#: ``Recipe`` of inputs.cuh.
RECIPE = "QQddQQQQQQQQQQQIIIIII16Q"
_NO_SENTINELS = Planted(0, bytes(8), bytes(8), (0, 0))
_NO_ZEROS = Zeros(0, (0, 0))
_NO_CHANGES = Changes(0, (0, 0), (0, 0))


#: The kernels that make inputs, by name; "general" makes all kinds that have none of their own, and sparse ones.
LAWS = ("constant", "uniform", "normal", "integers", "masked", "general")


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
