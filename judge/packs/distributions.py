"""What inputs are filled with: distributions declared in the TOML, made from a counter-based generator, bit for bit
reproducible.

The recipe, so that a device can make the same bits:

* The stream of an argument is Philox4x64-10 as NumPy has it: key = the first 16 bytes of SHA-256 over
  ``gpujudge-inputs-1 \\0 seed \\0 case id \\0 argument \\0 call`` (decimal numbers, ASCII) as two little-endian 64-bit
  words; the block numbered b (from 0) is the cipher of the 256-bit counter b + 1, and its four words come in order.
* ``w[i]`` below is the i-th 32-bit word of the stream, the low half of each 64-bit word first; ``q[i]`` the i-th 64-bit
  word.
* uniform: ``low + (high - low) * (float(w[i] >> 8) * 2^-24)``: the two outer operations each rounded once to float32,
  never fused.
* normal, approximately: with s the sum of the four 16-bit parts of ``q[i]``, ``float(s - 131070) * scale + mean`` where
  ``scale = float32(sd / sqrt((2^32 - 1) / 3))`` (an Irwin-Hall sum; the integer part is exact, then two float32
  roundings).
* integers: ``low + ((w[i] * (high - low + 1)) >> 32)`` in 64 bits.
* half and double come from the float32 value: rounded to nearest even, or widened; whole numbers become a float32 or a
  double directly, and a half by way of float32.
* sentinels: a second stream, for the argument's name with ``/sentinels`` behind it. With c the smaller of ``count`` and
  the number of elements n, stratum j is [j*n//c, (j+1)*n//c); its sentinel lies at its begin + ((v[j] * its length) >>
  32) and has the sign (-1)^(j + (v[c] & 1)), v being the stream's 32-bit words. The count is odd as a rule, so that a
  sum is never near zero.
* a near copy, made for ``call`` and ``like`` an earlier call: first everything as for the earlier call, but for the
  sentinels, which are those of ``call``. Then, unless the distribution is a constant, c = max(1, min(255, n // 1024))
  elements are changed: a third stream, for ``call`` and the argument's name with ``/changes`` behind it, gives the
  places as with sentinels, and the element there becomes what it would be for ``call``, sentinels apart.

``Recipe`` says the same in numbers, for a device. What is written here in NumPy is the definition; the native library,
where this process has loaded it, makes the same bits.
"""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from judge.native.library import loaded
from judge.recipe import Changes, Element, Key, Kind, Planted, Recipe

Array = npt.NDArray[np.generic]
Numbers = npt.NDArray[np.integer[Any]]
Words = npt.NDArray[np.uint64]

#: Elements made at once: what is written is still in the processor's cache when the next step reads it.
_CHUNK = 1 << 16
#: Fewer chunks than this are not worth a thread.
_CHUNKS_A_THREAD = 8
_IRWIN_HALL_SD = math.sqrt((2.0**32 - 1) / 3)
_HALVES = np.uint64(0x0000FFFF0000FFFF)
_MAX_CHANGES = 255
_ELEMENTS_A_CHANGE = 1024


@dataclass(frozen=True, slots=True)
class Sentinels:
    """A few values of ``magnitude``, alternating in sign, at random places."""

    count: int
    magnitude: float


@dataclass(frozen=True, slots=True)
class Distribution:
    """What fills an array. ``low`` and ``high`` bound ``uniform`` (high excluded but for rounding) and ``integers``
    (high included); ``mean`` and ``sd`` belong to ``normal``; ``value`` to ``constant``."""

    kind: Literal["uniform", "normal", "integers", "constant"]
    low: float = 0.0
    high: float = 0.0
    mean: float = 0.0
    sd: float = 1.0
    value: float = 0.0
    sentinels: Sentinels | None = None


def stream_key(seed: int, case_id: str, argument: str, call: int) -> Key:
    """The key of one argument's stream in one call: two 64-bit words."""
    text = "\0".join(("gpujudge-inputs-1", str(seed), case_id, argument, str(call)))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def philox(seed: int, case_id: str, argument: str, call: int) -> np.random.Philox:
    """The stream itself."""
    return _stream(stream_key(seed, case_id, argument, call))


def recipe(
    distribution: Distribution, dtype: np.dtype[np.generic], size: int, seed: int, case_id: str, argument: str,
    call: int, like: int | None = None,
) -> Recipe:  # fmt: skip
    """How ``size`` elements are made. ``like``: as a near copy of that call's."""
    own = stream_key(seed, case_id, argument, call)
    key = own if like is None else stream_key(seed, case_id, argument, like)
    element = Element[dtype.name.upper()]
    kind = Kind[distribution.kind.upper()]
    planted = changes = None
    if distribution.sentinels is not None:
        magnitude = distribution.sentinels.magnitude
        planted = Planted(
            min(distribution.sentinels.count, size),
            _pattern(dtype, magnitude),
            _pattern(dtype, -magnitude),
            stream_key(seed, case_id, argument + "/sentinels", call),
        )
    if kind is Kind.CONSTANT:
        return Recipe(kind, element, value=_pattern(dtype, distribution.value), sentinels=planted)
    if like is not None:
        count = min(size, max(1, min(_MAX_CHANGES, size // _ELEMENTS_A_CHANGE)))
        changes = Changes(count, stream_key(seed, case_id, argument + "/changes", call), own)
    offset, scale = _linear(distribution)
    return Recipe(kind, element, key, offset, scale, sentinels=planted, changes=changes)


def fill(
    distribution: Distribution, shape: tuple[int, ...], dtype: np.dtype[np.generic], seed: int, case_id: str,
    argument: str, call: int, like: int | None = None,
) -> Array:  # fmt: skip
    """A new array of ``shape`` and ``dtype`` drawn by the recipe above, on as many processors as there are."""
    array = np.empty(shape, dtype)
    make(recipe(distribution, dtype, array.size, seed, case_id, argument, call, like), array.reshape(-1))
    return array


def make(made: Recipe, flat: Array, threads: int | None = None) -> None:
    """Fills ``flat``, contiguous and of the recipe's type, by any recipe but a masked one. ``threads``: on how many at
    the most; on as many as there are processors where nothing is said."""
    Drawing(made, flat.size).draw(0, flat, threads)


class Drawing:
    """The array of ``size`` elements that a recipe (any but a masked one) makes, for whoever needs parts of it: what
    does not come from the stream has been worked out."""

    def __init__(self, made: Recipe, size: int) -> None:
        self._made = made
        places, self._planted = _planted(made, size)
        self._places = np.array(places, np.int64)

    def draw(self, start: int, flat: Array, threads: int | None = None) -> None:
        """Fills ``flat``, contiguous and of the recipe's type, with the elements that are numbered from ``start`` on.
        ``threads`` as for :func:`make`."""
        _draw_all(self._made, start, flat, threads or _processors())
        self._plant(start, flat)

    def draw_runs(self, starts: Numbers, ends: Numbers, flat: Array, threads: int | None = None) -> None:
        """The same with runs of elements, one after another: each has those that are numbered from its ``starts`` on,
        and lies before the place ``ends`` of ``flat``, which the last one fills up."""
        _draw_runs(self._made, starts, ends, flat, threads or _processors())
        if not self._planted:
            return
        begins = np.append(0, ends[:-1])
        first = np.searchsorted(self._places, starts)
        last = np.searchsorted(self._places, starts + (ends - begins))
        for run in np.flatnonzero(first < last).tolist():
            self._plant(int(starts[run]), flat[begins[run] : ends[run]])

    def _plant(self, start: int, flat: Array) -> None:
        first, last = np.searchsorted(self._places, (start, start + flat.size)).tolist()
        for place, value in zip(self._places[first:last].tolist(), self._planted[first:last], strict=True):
            flat[place - start] = value


def run_begins(rows: npt.NDArray[np.int64], most: int) -> npt.NDArray[np.int64] | None:
    """The places in ``rows``, of which there is one at the least, where one does not follow the one before; None where
    there are more than ``most``."""
    if (native := loaded()) is not None:
        return native.run_begins(rows, most)
    begins = np.append(0, np.flatnonzero(rows[1:] - rows[:-1] != 1) + 1)
    return begins if begins.size <= most else None


def mask(array: Array, key: Key) -> npt.NDArray[np.uint8]:
    """The bytes of ``array`` XORed with those of the stream of ``key``: what is staged of an input that the host
    makes. The same again gives the bytes back."""
    source = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    out = np.empty(-(-source.size // 8), np.uint64)
    flat = out.view(np.uint8)[: source.size]
    if (native := loaded()) is not None:
        native.mask(source, key, flat, _processors())
        return flat
    stream = _stream(key)
    for start in range(0, out.size, _CHUNK):
        out[start : start + _CHUNK] = stream.random_raw(min(_CHUNK, out.size - start))
    flat ^= source
    return flat


def _stream(key: Key, block: int = 0) -> np.random.Philox:
    """From its block numbered ``block`` on."""
    return np.random.Philox(key=np.array(key, dtype=np.uint64), counter=block)


def _linear(distribution: Distribution) -> tuple[float, float]:
    """Offset and scale of a recipe."""
    if distribution.kind == "uniform":
        low = np.float32(distribution.low)
        return float(low), float(np.float32(distribution.high) - low)
    if distribution.kind == "normal":
        return float(np.float32(distribution.mean)), float(np.float32(distribution.sd / _IRWIN_HALL_SD))
    return float(distribution.low), float(int(distribution.high) - int(distribution.low) + 1)


def _pattern(dtype: np.dtype[np.generic], value: float) -> bytes:
    return np.array(value).astype(dtype).tobytes().ljust(8, b"\0")


def _value(dtype: np.dtype[np.generic], pattern: bytes) -> np.generic:
    value: np.generic = np.frombuffer(pattern, dtype, count=1)[0]
    return value


def _processors() -> int:
    return len(os.sched_getaffinity(0))


def _planted(made: Recipe, size: int) -> tuple[list[int], list[np.generic]]:
    """The places in order where sentinels or changes are, and what is there."""
    dtype = np.dtype(made.element.name.lower())
    planted: dict[int, np.generic] = {}
    if made.sentinels is not None:
        plus, minus = _value(dtype, made.sentinels.plus), _value(dtype, made.sentinels.minus)
        places, last = _places(made.sentinels.key, made.sentinels.count, size)
        for j, place in enumerate(places):
            planted[place] = minus if (j + (last & 1)) % 2 else plus
    if made.changes is not None:
        changed = list(_places(made.changes.places, made.changes.count, size)[0])
        values = np.empty(len(changed), dtype)
        ends = np.arange(1, len(changed) + 1)
        _draw_runs(replace(made, key=made.changes.values), np.array(changed, np.int64), ends, values, 1)
        planted.update(zip(changed, values, strict=True))
    places_in_order = sorted(planted)
    return places_in_order, [planted[place] for place in places_in_order]


def _draw_all(made: Recipe, start: int, flat: Array, threads: int) -> None:
    """The elements from ``start`` on, sentinels and changes apart."""
    if made.kind is Kind.CONSTANT:
        flat.fill(_value(flat.dtype, made.value))
        return
    native = loaded()
    if native is not None and native.makes(made):
        native.fill(made, start, flat, threads)
        return
    begins = range(0, flat.size, _CHUNK)

    def draw(begin: int) -> None:
        end = min(begin + _CHUNK, flat.size)
        flat[begin:end] = _draw(made, made.key, start + begin, end - begin)

    threads = min(threads, len(begins) // _CHUNKS_A_THREAD)
    if threads < 2:
        for begin in begins:
            draw(begin)
        return
    with ThreadPoolExecutor(threads, thread_name_prefix="inputs") as pool:
        for _ in pool.map(draw, begins):
            pass


def _draw_runs(made: Recipe, starts: Numbers, ends: Numbers, flat: Array, threads: int) -> None:
    """Runs of elements as :meth:`Drawing.draw_runs` has them, sentinels and changes apart."""
    native = loaded()
    if native is not None and native.makes(made):
        native.fill_runs(made, starts, ends, flat, threads)
        return
    begin = 0
    for start, end in zip(starts.tolist(), ends.tolist(), strict=True):
        _draw_all(made, start, flat[begin:end], 1)
        begin = end


def _draw(made: Recipe, key: Key, start: int, count: int) -> Array:
    """The elements from ``start`` on, not yet of the array's type but for halves."""
    if made.kind is Kind.UNIFORM:
        values = (_words32(key, start, count) >> np.uint32(8)).astype(np.float32)
        values *= np.float32(2.0**-24)
        values *= np.float32(made.scale)
        values += np.float32(made.offset)
        return values
    if made.kind is Kind.NORMAL:
        words = _words64(key, start, count)
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
        values *= np.float32(made.scale)
        values += np.float32(made.offset)
        return values
    scaled = _words32(key, start, count).astype(np.uint64)
    scaled *= np.uint64(int(made.scale))
    scaled >>= np.uint64(32)
    integers = scaled.view(np.int64)
    integers += int(made.offset)
    return integers.astype(np.float32) if made.element is Element.FLOAT16 else integers


def _words64(key: Key, start: int, count: int) -> Words:
    """``q[start]`` and those that follow."""
    skip = start % 4
    words: Words = _stream(key, start // 4).random_raw(skip + count)
    return words[skip:]


def _words32(key: Key, start: int, count: int) -> npt.NDArray[np.uint32]:
    """``w[start]`` and those that follow."""
    skip = start % 2
    words = _words64(key, start // 2, (skip + count + 1) // 2).astype("<u8", copy=False)
    return words.view("<u4")[skip : skip + count]


def _places(key: Key, count: int, size: int) -> tuple[Iterator[int], int]:
    """A place in each stratum, and the word that follows theirs."""
    words = [int(word) for word in _words32(key, 0, count + 1)]

    def places() -> Iterator[int]:
        for j in range(count):
            begin, end = j * size // count, (j + 1) * size // count
            yield begin + ((words[j] * (end - begin)) >> 32)

    return places(), words[count]
