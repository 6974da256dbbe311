r"""The random streams of inputs: Philox4x64-10, one for each seed, case, label and call.

The key of a stream is the first 16 bytes of SHA-256 over ``gpujudge-inputs-1 \0 seed \0 case id \0 label \0 call``
(decimal numbers, ASCII) as two little-endian 64-bit words. Block b (from 0) is the cipher of the 256-bit counter b + 1,
and its four words come in order, as NumPy's ``Philox`` has them.
"""

from __future__ import annotations

import hashlib
import os
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from judge.native.library import loaded
from judge.wire.recipe import Key

Words = npt.NDArray[np.uint64]

#: Words that are drawn at once: they stay in a processor's cache.
_CHUNK_WORDS = 1 << 16


class Stream(NamedTuple):
    """The name of one stream. ``label`` is an argument's name, or says what else is drawn from it."""

    seed: int
    case_id: str
    label: str
    call: int

    def key(self) -> Key:
        """Returns the cipher's key: two 64-bit words."""
        text = "\0".join(("gpujudge-inputs-1", str(self.seed), self.case_id, self.label, str(self.call)))
        digest = hashlib.sha256(text.encode("ascii")).digest()
        return int.from_bytes(digest[:8], "little"), int.from_bytes(digest[8:16], "little")

    def substream(self, name: str) -> Stream:
        """Returns the stream of the same argument and call that serves another purpose."""
        return self._replace(label=f"{self.label}/{name}")

    def generator(self) -> np.random.Generator:
        """Returns a NumPy generator on this stream, for code of a pack."""
        return np.random.Generator(philox(self.key()))


def philox(key: Key, block: int = 0) -> np.random.Philox:
    """Returns the stream of ``key`` from the block numbered ``block`` on."""
    return np.random.Philox(key=np.array(key, dtype=np.uint64), counter=block)


def words64(key: Key, start: int, count: int) -> Words:
    """Returns ``count`` 64-bit words from the one numbered ``start`` on."""
    skip = start % 4
    words: Words = philox(key, start // 4).random_raw(skip + count)
    return words[skip:]


def words32(key: Key, start: int, count: int) -> npt.NDArray[np.uint32]:
    """Returns ``count`` 32-bit words from the one numbered ``start`` on; the low half of each 64-bit word is first."""
    skip = start % 2
    words = words64(key, start // 2, (skip + count + 1) // 2).astype("<u8", copy=False)
    return words.view("<u4")[skip : skip + count]


def stratified_positions(key: Key, count: int, size: int) -> list[int]:
    """Draws one position in each of ``count`` strata of ``size`` elements.

    Stratum j is [j*size//count, (j+1)*size//count).
    """
    positions = []
    for j, word in enumerate(words32(key, 0, count).tolist()):
        begin, end = j * size // count, (j + 1) * size // count
        positions.append(begin + ((word * (end - begin)) >> 32))
    return positions


def mask(array: npt.NDArray[np.generic], key: Key) -> npt.NDArray[np.uint8]:
    """Returns the bytes of ``array`` XORed with those of the stream of ``key``. Masking twice restores the bytes.

    Inputs that the host makes are staged on the device in this form, so that they mean nothing before their call.
    """
    source = np.ascontiguousarray(array).reshape(-1).view(np.uint8)
    out = np.empty(-(-source.size // 8), np.uint64)
    flat = out.view(np.uint8)[: source.size]
    if (native := loaded()) is not None:
        native.mask(source, key, flat, len(os.sched_getaffinity(0)))
        return flat
    stream = philox(key)
    for start in range(0, out.size, _CHUNK_WORDS):
        out[start : start + _CHUNK_WORDS] = stream.random_raw(min(_CHUNK_WORDS, out.size - start))
    flat ^= source
    return flat
