"""The messages between the judge, the server that forks a process for each pack, and these processes."""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Any

from records import dataclass

#: The module to run: nobody imports it.
SERVER = "judge.packs.isolation.server"
#: A command's letter and a process number.
COMMAND = struct.Struct("<ci")
#: A process number or an exit status.
ANSWER = struct.Struct("<i")
FORK, END = b"F", b"E"


@dataclass(frozen=True, slots=True)
class GivePack:
    """Says which pack the next calls are about. Has no answer."""

    pack: Any


@dataclass(frozen=True, slots=True)
class Call:
    """Calls a function. ``pack`` among the arguments stands for the pack given last."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    keywords: dict[str, Any]
    memory_bytes: int
    product_threads: int


#: Takes the place of the pack in a message.
PACK = "pack"
