"""The broker of files: kombu's, with messages and tables of bindings that appear whole.

kombu opens a file under its final name and then writes it. A process that looks in between finds it empty and ends with
an error that Celery cannot recover from. Here a file is written under a name that nobody asks for, and then renamed.
"""

from __future__ import annotations

import fcntl
import time
import uuid
from pathlib import Path
from typing import Any

from kombu.exceptions import ChannelError
from kombu.transport import filesystem
from kombu.utils.json import dumps


class Channel(filesystem.Channel):
    """A channel of :class:`Transport`."""

    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        # Sorted by name is sorted by age; the part behind the first point is the queue's.
        name = f"{round(time.monotonic() * 1000)}_{uuid.uuid4()}"
        unfinished = folder / f"{name}.unfinished"
        try:
            unfinished.write_bytes(dumps(message).encode())
            unfinished.rename(folder / f"{name}.{queue}.msg")
        except OSError as error:
            raise ChannelError(f"cannot add a message to {folder}: {error}") from error

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        binding = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        folder = Path(self.control_folder)
        try:
            folder.mkdir(exist_ok=True)
            with (folder / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                bindings: list[Any] = self.get_table(exchange)  # type: ignore[no-untyped-call]
                if binding not in bindings:
                    unfinished = folder / f"{uuid.uuid4()}.unfinished"
                    unfinished.write_text(dumps([binding, *bindings]))
                    unfinished.rename(self._exchange_file(exchange))  # type: ignore[no-untyped-call]
        except OSError as error:
            raise ChannelError(f"cannot bind a queue in {folder}: {error}") from error


class Transport(filesystem.Transport):
    """The transport that Celery is told to use, as ``store.file_broker:Transport``."""

    Channel = Channel
