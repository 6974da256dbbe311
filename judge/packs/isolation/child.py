"""The code that runs in a pack's process: calls of the judge's own functions, which call the pack's."""

from __future__ import annotations

import socket
import traceback
from pathlib import Path
from typing import Any

import numpy as np
from threadpoolctl import ThreadpoolController

from judge.packs.data.committed_array import NotCommittedError
from judge.packs.errors import PackError
from judge.packs.isolation.control import Call, GivePack
from judge.packs.isolation.locks import limit_memory, lock_down
from judge.packs.isolation.messages import receive_trusted, send


def serve(channel: socket.socket, products: ThreadpoolController) -> None:
    """Answers calls until the judge closes the channel. ``products`` sets the threads of NumPy's matrix products."""
    lock_down()
    # Warnings of a pack's arithmetic would end on the judge's own terminal or in its log.
    np.seterr(all="ignore")
    given: list[Any] = [None]
    while (message := receive_trusted(channel, lambda _: given[0])) is not None:
        if isinstance(message, GivePack):
            given[0] = message.pack
            continue
        send(channel, _answer(message, products))


def _answer(call: Call, products: ThreadpoolController) -> tuple[str, Any]:
    """Returns ("returned", value), ("pack-error", (file, key, reason)), ("not-committed", ()) or ("raised", (class,
    message, place))."""
    try:
        limit_memory(call.memory_bytes)
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
