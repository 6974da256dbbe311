"""Draws secrets that a submission must not foresee: random numbers, and which calls are opened and checked."""

from __future__ import annotations

import hashlib
import random

from judge.bench.statistics import MIN_SAMPLES

#: A process opens as many calls as have this many bytes of inputs and outputs in total, within the two bounds below.
#: All calls are committed. If a share f of them is dishonest, 4 checks in each of three processes miss it with
#: probability (1 - f)^12: two in ten thousand for f = 1/2, the share that moves a median.
_OPENED_BYTES = 512 << 20
_MIN_OPENED, _MAX_OPENED = 4, 10
#: Below this size, checking every call costs next to nothing.
SMALL_BYTES = 1 << 20


class SecretStream(random.Random):
    """``random.Random`` over SHA-256 of a key and a counter.

    The same key gives the same numbers; numbers already seen do not predict the next.
    """

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        super().__init__()

    def child(self, name: str) -> SecretStream:
        """Returns the stream called ``name``, which does not depend on how far this one has been read."""
        return SecretStream(hashlib.sha256(b"child\0" + self._key + name.encode()).digest())

    def getrandbits(self, k: int) -> int:
        value, have = 0, 0
        while have < k:
            value = value << 256 | int.from_bytes(self._block(), "little")
            have += 256
        return value >> (have - k)

    def random(self) -> float:
        return self.getrandbits(53) / (1 << 53)

    def seed(self, *args: object, **kwargs: object) -> None:
        """Does nothing: the key is the seed."""

    def _block(self) -> bytes:
        self._counter += 1
        return hashlib.sha256(b"block\0" + self._key + self._counter.to_bytes(8, "little")).digest()


def opened_call_count(call_bytes: int) -> int | None:
    """Returns how many calls of a process to open, given the bytes of one call's inputs and outputs; None means all."""
    if call_bytes <= SMALL_BYTES:
        return None
    return max(_MIN_OPENED, min(_MAX_OPENED, _OPENED_BYTES // call_bytes))


class OpeningSample:
    """Draws which calls of a process are opened: a uniform sample of ``count`` calls (None: all of them).

    The number of calls need not be known beforehand (reservoir sampling, algorithm R; J. S. Vitter, ACM Transactions on
    Mathematical Software 11, 1985). The sample of the ``first`` calls, which are always made, is drawn at once; each
    later call replaces a sampled one with the right probability. ``stream`` must not be the schedule's, so that
    nothing inside the jail reveals the sample.
    """

    def __init__(self, stream: random.Random, count: int | None, first: int = MIN_SAMPLES) -> None:
        self._stream = stream
        self._count = count if count is None else min(count, first)
        drawn = stream.sample(range(first), self._count) if self._count is not None else []
        self._slots = {call: slot for slot, call in enumerate(drawn)}
        self._first = first
        self._calls = 0

    def next_slot(self) -> int | None:
        """Returns the reservoir slot of the next call, which may replace an earlier call there; None if not sampled."""
        call, self._calls = self._calls, self._calls + 1
        if self._count is None:
            return call
        if call < self._first:
            return self._slots.get(call)
        slot = self._stream.randrange(self._calls)
        return slot if slot < self._count else None
