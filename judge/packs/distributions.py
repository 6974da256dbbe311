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
* half and double come from the float32 value: rounded to nearest even, or widened.
* sentinels: a second stream, for the argument's name with ``/sentinels`` behind it. With c the smaller of ``count`` and
  the number of elements n, stratum j is [j*n//c, (j+1)*n//c); its sentinel lies at its begin + ((v[j] * its length) >>
  32) and has the sign (-1)^(j + (v[c] & 1)), v being the stream's 32-bit words. The count is odd as a rule, so that a
  sum is never near zero.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.generic]

_CHUNK = 1 << 20
_IRWIN_HALL_SD = math.sqrt((2.0**32 - 1) / 3)


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


def stream_key(seed: int, case_id: str, argument: str, call: int) -> tuple[int, int]:
    """The key of one argument's stream in one call: two 64-bit words."""
    text = "\0".join(("gpujudge-inputs-1", str(seed), case_id, argument, str(call)))
    digest = hashlib.sha256(text.encode("ascii")).digest()
    return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")


def philox(seed: int, case_id: str, argument: str, call: int) -> np.random.Philox:
    """The stream itself."""
    return np.random.Philox(key=np.array(stream_key(seed, case_id, argument, call), dtype=np.uint64))


def fill(
    distribution: Distribution,
    shape: tuple[int, ...],
    dtype: np.dtype[np.generic],
    seed: int,
    case_id: str,
    argument: str,
    call: int,
) -> Array:
    """A new array of ``shape`` and ``dtype`` drawn by the recipe above."""
    array = np.empty(shape, dtype)
    flat = array.reshape(-1)
    if distribution.kind == "constant":
        flat.fill(distribution.value)
    else:
        stream = philox(seed, case_id, argument, call)
        for start, stop in _chunks(flat.size):
            flat[start:stop] = _draw(distribution, stream, stop - start)
    if distribution.sentinels is not None:
        _plant(distribution.sentinels, flat, philox(seed, case_id, argument + "/sentinels", call))
    return array


def _chunks(size: int) -> Iterator[tuple[int, int]]:
    # An even length: a chunk never ends within a 64-bit word.
    for start in range(0, size, _CHUNK):
        yield start, min(start + _CHUNK, size)


def _words(stream: np.random.Philox, count: int) -> npt.NDArray[np.uint32]:
    raw: npt.NDArray[np.uint64] = np.asarray(stream.random_raw((count + 1) // 2), dtype="<u8")
    return raw.view("<u4")[:count]


def _draw(distribution: Distribution, stream: np.random.Philox, count: int) -> Array:
    if distribution.kind == "uniform":
        low, high = np.float32(distribution.low), np.float32(distribution.high)
        values = (_words(stream, count) >> np.uint32(8)).astype(np.float32)
        values *= np.float32(2.0**-24)
        values *= high - low
        values += low
        return values
    if distribution.kind == "normal":
        raw: npt.NDArray[np.uint64] = np.asarray(stream.random_raw(count), dtype="<u8")
        parts = raw.view("<u2").reshape(count, 4)
        total = parts[:, 0].astype(np.int32)
        for part in range(1, 4):
            total += parts[:, part]
        total -= 2 * 65535
        values = total.astype(np.float32)
        values *= np.float32(distribution.sd / _IRWIN_HALL_SD)
        values += np.float32(distribution.mean)
        return values
    low_int, span = int(distribution.low), int(distribution.high) - int(distribution.low) + 1
    scaled = (_words(stream, count).astype(np.uint64) * np.uint64(span)) >> np.uint64(32)
    return scaled.astype(np.int64) + low_int


def _plant(sentinels: Sentinels, flat: Array, stream: np.random.Philox) -> None:
    size = flat.size
    count = min(sentinels.count, size)
    if count == 0:
        return
    words = [int(word) for word in _words(stream, count + 1)]
    for j in range(count):
        begin, end = j * size // count, (j + 1) * size // count
        position = begin + ((words[j] * (end - begin)) >> 32)
        sign = -1.0 if (j + (words[count] & 1)) % 2 else 1.0
        flat[position] = flat.dtype.type(sign * sentinels.magnitude)
