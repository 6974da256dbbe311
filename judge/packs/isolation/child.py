"""The code that runs in a pack's process: calls of the judge's own functions, which call the pack's."""

from __future__ import annotations

import os
import socket
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from judge.packs.data.committed_array import NotCommittedError
from judge.packs.errors import PackError
from judge.packs.isolation.control import Call, GivePack
from judge.packs.isolation.locks import confine, limit_memory, lock_down
from judge.packs.isolation.messages import receive_trusted, send_answer

_NO_WALL = "runs only where the kernel has Landlock, which keeps it from the judge's files; this one has none"


def serve(channel: socket.socket, products: ThreadpoolController) -> None:
    """Answers calls until the judge closes the channel. ``products`` sets the threads of NumPy's matrix products."""
    statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
    lock_down()
    confined: bool | None = None
    # Warnings of a pack's arithmetic would end on the judge's own terminal or in its log.
    np.seterr(all="ignore")
    given: list[Any] = [None]
    while (message := receive_trusted(channel, lambda _: given[0])) is not None:
        if isinstance(message, GivePack):
            given[0] = message.pack
            # A process has one pack.
            if confined is None:
                confined = confine(message.pack.directory)
                if message.pack.confined:
                    # To where standard output leads, nowhere: it could fill a log, or forge lines of it.
                    os.dup2(1, 2)
            continue
        if not confined and given[0].confined:
            send_answer(channel, ("pack-error", (str(given[0].reference.path), "", _NO_WALL)))
            continue
        try:
            send_answer(channel, _answer(message, products, statm))
        except TypeError as error:  # nothing was sent
            send_answer(channel, ("raised", ("TypeError", str(error), "")))


def _answer(call: Call, products: ThreadpoolController, statm: int) -> tuple[str, Any]:
    """Returns how a call of a pack's function ended, and with what.

    It is ("returned", value), ("pack-error", (file, key, reason)), ("not-committed", ()) or ("raised", (class, message,
    place)).
    """
    try:
        limit_memory(call.memory_bytes, statm)
        with products.limit(limits=call.product_threads, user_api="blas"):
            return "returned", call.function(*call.arguments, **call.keywords)
    except PackError as error:
        return "pack-error", (str(error.file), error.key, error.reason)
    except NotCommittedError:
        return "not-committed", ()
    except BaseException as error:
        return "raised", (type(error).__name__, str(error), _place(error))


def _place(error: BaseException) -> str:
    """Returns the function and the line of ``reference.py`` in which it was raised, if any."""
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        if Path(frame.filename).name == "reference.py":
            return f"{frame.name}, line {frame.lineno}"
    return ""
