"""Recipes as they cross the frames. Import-light, like the frames."""

from __future__ import annotations

from judge.recipe import Changes, Element, Key, Kind, Planted, Recipe
from judge.runner.frames import FrameError, Reader, Writer

MAX_SENTINELS = 4096
MAX_CHANGES = 4096
#: Staging buffers that a runner holds at most.
MAX_STAGES = 1024


def pack_recipe(out: Writer, recipe: Recipe) -> None:
    """Appends it."""
    _pack_key(out.u8(recipe.kind).u8(recipe.element), recipe.key)
    out.f64(recipe.offset).f64(recipe.scale).raw(recipe.value).u32(recipe.stage)
    out.u8(recipe.sentinels is not None)
    if recipe.sentinels is not None:
        _pack_key(out.u32(recipe.sentinels.count).raw(recipe.sentinels.plus).raw(recipe.sentinels.minus),
                  recipe.sentinels.key)  # fmt: skip
    out.u8(recipe.changes is not None)
    if recipe.changes is not None:
        _pack_key(_pack_key(out.u32(recipe.changes.count), recipe.changes.places), recipe.changes.values)


def unpack_recipe(r: Reader) -> Recipe:
    """Takes it off. Raises FrameError."""
    try:
        kind, element = Kind(r.u8()), Element(r.u8())
    except ValueError as error:
        raise FrameError(str(error)) from None
    key, offset, scale, value, stage = _key(r), r.f64(), r.f64(), r.raw(8), r.count(MAX_STAGES - 1)
    sentinels = Planted(r.count(MAX_SENTINELS), r.raw(8), r.raw(8), _key(r)) if r.u8() else None
    changes = Changes(r.count(MAX_CHANGES), _key(r), _key(r)) if r.u8() else None
    return Recipe(kind, element, key, offset, scale, value, stage, sentinels, changes)


def _pack_key(out: Writer, key: Key) -> Writer:
    return out.u64(key[0]).u64(key[1])


def _key(r: Reader) -> Key:
    return r.u64(), r.u64()
