"""Makes the elements of a recipe on the host.

The NumPy code here defines the bits together with ``judge.packs.data.recipes``; the native library, where this process
has loaded it, makes the same ones faster.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from judge.native.library import loaded
from judge.packs.collection.pool import Pool, mixed32, mixed64
from judge.packs.data.permutations import permuted
from judge.packs.data.storage import stored
from judge.packs.data.streams import stratified_positions, words32, words64
from judge.wire.elements import Element
from judge.wire.recipe import Key, Kind, Recipe

Array = npt.NDArray[np.generic]
Numbers = npt.NDArray[np.integer[Any]]

#: Elements made at once: what is written is still in the processor's cache when the next step reads it.
_CHUNK = 1 << 16
#: Fewer chunks than this are not worth a thread.
_CHUNKS_PER_THREAD = 8
_HALVES = np.uint64(0x0000FFFF0000FFFF)


def fill_by_recipe(recipe: Recipe, flat: Array, threads: int | None = None, pool: Pool | None = None) -> None:
    """Fills ``flat``, contiguous and of the recipe's type, by any recipe but a masked one.

    ``threads`` bounds how many threads work; None allows one for each processor. ``pool`` is what a recipe with a part
    of a pool is mixed with.
    """
    Drawing(recipe, flat.size, pool).draw(0, flat, threads)


class Drawing:
    """The array of ``size`` elements that a recipe (any but a masked one) makes, for callers that need parts of it.

    Sentinels and changes, the elements that do not come from the stream at their own position, are computed once.
    """

    def __init__(self, recipe: Recipe, size: int, pool: Pool | None = None) -> None:
        if recipe.pool is not None and pool is None:
            raise ValueError("a recipe with a part of a pool, and no pool")
        self._recipe = recipe
        self._pool = pool if recipe.pool is not None else None
        positions, self._planted = _planted(recipe, size, self._pool)
        self._positions = np.array(positions, np.int64)

    def draw(self, start: int, flat: Array, threads: int | None = None) -> None:
        """Fills ``flat``, contiguous and of the recipe's type, with the elements from number ``start`` on.

        ``threads`` as for :func:`fill_by_recipe`.
        """
        _draw_range(self._recipe, self._pool, start, flat, threads or _processors())
        self._plant(start, flat)

    def draw_runs(self, starts: Numbers, ends: Numbers, flat: Array, threads: int | None = None) -> None:
        """Fills ``flat`` with runs of elements, one after another.

        Run i holds the elements from number ``starts[i]`` on and ends before ``flat[ends[i]]``; the last one fills up
        ``flat``.
        """
        _draw_runs(self._recipe, self._pool, starts, ends, flat, threads or _processors())
        if not self._planted:
            return
        begins = np.append(0, ends[:-1])
        first = np.searchsorted(self._positions, starts)
        last = np.searchsorted(self._positions, starts + (ends - begins))
        for run in np.flatnonzero(first < last).tolist():
            self._plant(int(starts[run]), flat[begins[run] : ends[run]])

    def _plant(self, start: int, flat: Array) -> None:
        first, last = np.searchsorted(self._positions, (start, start + flat.size)).tolist()
        for position, value in zip(self._positions[first:last].tolist(), self._planted[first:last], strict=True):
            flat[position - start] = value


def _planted(recipe: Recipe, size: int, pool: Pool | None) -> tuple[list[int], list[np.generic]]:
    """Returns the positions of sentinels and changes, in order, and the values there."""
    dtype = np.dtype(recipe.element.facts.numpy_name)
    planted: dict[int, np.generic] = {}
    if recipe.sentinels is not None:
        plus, minus = _value(dtype, recipe.sentinels.plus), _value(dtype, recipe.sentinels.minus)
        key, count = recipe.sentinels.key, recipe.sentinels.count
        last = int(words32(key, count, 1)[0])
        for j, position in enumerate(permuted(key, size, np.arange(count)).tolist()):
            planted[position] = minus if (j + (last & 1)) % 2 else plus
    if recipe.changes is not None:
        changed = stratified_positions(recipe.changes.places, recipe.changes.count, size)
        values = np.empty(len(changed), dtype)
        ends = np.arange(1, len(changed) + 1)
        changed_recipe = replace(recipe, key=recipe.changes.values, zeros=None)
        _draw_runs(changed_recipe, pool, np.array(changed, np.int64), ends, values, 1)
        planted.update(zip(changed, values, strict=True))
    in_order = sorted(planted)
    return in_order, [planted[position] for position in in_order]


def _value(dtype: np.dtype[np.generic], pattern: bytes) -> np.generic:
    value: np.generic = np.frombuffer(pattern, dtype, count=1)[0]
    return value


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _draw_range(recipe: Recipe, pool: Pool | None, start: int, flat: Array, threads: int) -> None:
    """Fills ``flat`` with the elements from number ``start`` on, sentinels and changes apart."""
    if recipe.kind is Kind.CONSTANT:
        flat.fill(_value(flat.dtype, recipe.value))
        return
    native = loaded()
    if native is not None and native.makes(recipe) and (pool is None or pool.key is not None):
        native.fill(recipe, start, flat, threads, pool.key if pool is not None else None)
        return
    begins = range(0, flat.size, _CHUNK)

    def draw(begin: int) -> None:
        end = min(begin + _CHUNK, flat.size)
        flat[begin:end] = _stored(recipe, draw_elements(recipe, recipe.key, start + begin, end - begin, pool))
        if recipe.zeros is not None:
            words = words32(recipe.zeros.key, start + begin, end - begin)
            flat[begin:end][words < np.uint32(recipe.zeros.below)] = 0

    threads = min(threads, len(begins) // _CHUNKS_PER_THREAD)
    if threads < 2:
        for begin in begins:
            draw(begin)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="inputs") as workers:
        for _ in workers.map(draw, begins):
            pass


def _draw_runs(recipe: Recipe, pool: Pool | None, starts: Numbers, ends: Numbers, flat: Array, threads: int) -> None:
    """Fills ``flat`` with runs as :meth:`Drawing.draw_runs` takes them, sentinels and changes apart."""
    native = loaded()
    if native is not None and native.makes(recipe) and (pool is None or pool.key is not None):
        native.fill_runs(recipe, starts, ends, flat, threads, pool.key if pool is not None else None)
        return
    begin = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        _draw_range(recipe, pool, start, flat[begin:end], 1)
        begin = end


def _stored(recipe: Recipe, numbers: Array) -> Array:
    """Returns drawn numbers in the recipe's type; NumPy's own types are converted where they are put."""
    if recipe.element.facts.narrow is None or recipe.kind is Kind.CHOICE:
        return numbers
    return stored(recipe.element, numbers)


def _scaled(words: npt.NDArray[np.uint32], values: int) -> npt.NDArray[np.int64]:
    """Returns one of as many ``values``, from 0 on, for each word."""
    scaled = words.astype(np.uint64)
    scaled *= np.uint64(values)
    scaled >>= np.uint64(32)
    return scaled.view(np.int64)


def _climbed(recipe: Recipe, key: Key, start: int, count: int) -> npt.NDArray[np.float64]:
    """Returns how far sorted values have risen above the lowest."""
    places = (words32(key, start, count) >> np.uint32(8)).astype(np.float64)
    places *= 2.0**-24
    if recipe.kind is Kind.STAIRS and start == 0 and count:
        places[0] = 0.0
    places += np.arange(start, start + count, dtype=np.float64)
    places *= recipe.scale
    return places


def _whole_numbers(recipe: Recipe, key: Key, start: int, count: int, pool: Pool | None) -> npt.NDArray[np.int64]:
    numbers = np.arange(start, start + count)
    if recipe.kind is Kind.STAIRS:
        last = int.from_bytes(recipe.value, "little", signed=True)
        steps: npt.NDArray[np.int64] = np.floor(_climbed(recipe, key, start, count)).astype(np.int64)
        np.minimum(steps, last, out=steps)
        steps += int(recipe.offset)
        return steps
    if recipe.kind is Kind.ONE_HOT:
        if count == 0:
            return numbers
        length = int(recipe.scale)
        first = start // length
        hot = _scaled(words32(key, first, (start + count - 1) // length - first + 1), length)
        numbers[:] = hot[numbers // length - first] == numbers % length
        return numbers
    if recipe.kind is Kind.PERMUTATION:
        return permuted(key, int(recipe.scale), numbers)
    integers = _scaled(_words32(recipe, key, start, count, pool), int(recipe.scale))
    integers += int(recipe.offset)
    return integers


def draw_elements(recipe: Recipe, key: Key, start: int, count: int, pool: Pool | None = None) -> Array:
    """Returns ``count`` elements from number ``start`` on, sentinels and changes apart, drawn by NumPy.

    They are float32 or int64 numbers (of a choice, stored elements), still to be converted to the element's type (whole
    numbers for a half or a narrower type are float32 already).
    """
    if recipe.kind is Kind.UNIFORM:
        values = (_words32(recipe, key, start, count, pool) >> np.uint32(8)).astype(np.float32)
        values *= np.float32(2.0**-24)
        values *= np.float32(recipe.scale)
        values += np.float32(recipe.offset)
        return values
    if recipe.kind is Kind.NORMAL:
        words = words64(key, start, count)
        if pool is not None:
            words = mixed64(words, _numbers(recipe, start, count, pool))
        # Four 16-bit parts: two sums of two, side by side, and then their sum.
        pairs = words & _HALVES
        words >>= np.uint64(16)
        words &= _HALVES
        pairs += words
        total = pairs.astype(np.uint32)
        pairs >>= np.uint64(32)
        total += pairs.astype(np.uint32)
        whole = total.view(np.int32)
        whole -= np.int32(2 * 65535)
        values = whole.astype(np.float32)
        values *= np.float32(recipe.scale)
        values += np.float32(recipe.offset)
        return values
    if recipe.kind is Kind.SORTED:
        sorted_values: Array = (recipe.offset + _climbed(recipe, key, start, count)).astype(np.float32)
        return sorted_values
    if recipe.kind is Kind.CHOICE:
        dtype = np.dtype(recipe.element.facts.numpy_name)
        table = np.array([_value(dtype, choice) for choice in recipe.choices])
        return table[_scaled(words32(key, start, count), len(table))]
    integers = _whole_numbers(recipe, key, start, count, pool)
    by_way_of_single = recipe.element is Element.FLOAT16 or recipe.element.facts.narrow is not None
    return integers.astype(np.float32) if by_way_of_single else integers


def _words32(recipe: Recipe, key: Key, start: int, count: int, pool: Pool | None) -> npt.NDArray[np.uint32]:
    words = words32(key, start, count)
    return words if pool is None else mixed32(words, _numbers(recipe, start, count, pool))


def _numbers(recipe: Recipe, start: int, count: int, pool: Pool) -> npt.NDArray[np.uint64]:
    return pool.numbers(recipe.pool or 0, recipe.element.facts.size_bytes, start, count)
