"""Random numbers that nobody can foretell from those he has seen: the submission sees what was drawn."""

from __future__ import annotations

import hashlib
import random


class SecretStream(random.Random):
    """``random.Random`` over SHA-256 of a key and a counter. The same key gives the same numbers."""

    def __init__(self, key: bytes) -> None:
        self._key = key
        self._counter = 0
        super().__init__()

    def child(self, name: str) -> SecretStream:
        """Another stream, told by its name; what this one has given does not matter."""
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
        """The key is the seed."""

    def _block(self) -> bytes:
        self._counter += 1
        return hashlib.sha256(b"block\0" + self._key + self._counter.to_bytes(8, "little")).digest()
