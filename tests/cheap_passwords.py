"""Hashes passwords so that neither making nor checking a hash takes time: tests do both hundreds of times."""

from __future__ import annotations

from argon2 import PasswordHasher

from store.people import passwords

HASHER = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


def hash_cheaply() -> None:
    """Has this process hash passwords cheaply from now on."""
    passwords._hasher = HASHER
