"""A file-based broker: kombu's filesystem transport with atomic writes and immediate wake-ups.

kombu opens a file under its final name and then writes it. A process that reads it in between finds it empty and fails
with an error from which Celery cannot recover. Here, files are written under a temporary name and then renamed. Where
kombu sleeps between two polls of the folder, this transport waits for a new file with inotify.
"""

from __future__ import annotations

import contextlib
import fcntl
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any, ClassVar

from kombu.exceptions import ChannelError
from kombu.transport import filesystem, virtual
from kombu.utils.json import dumps

from store.queue.inotify import Change, FileWatch


class Channel(filesystem.Channel):
    """Writes messages and binding tables atomically."""

    def _put(self, queue: str, message: Any, **_: Any) -> None:  # type: ignore[override]
        folder = Path(self.data_folder_out)
        # File names sort by age; kombu takes the queue from the part after the first dot.
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
    """The transport that the Celery configuration names as ``store.queue.file_broker:Transport``."""

    Channel = Channel
    client: Any
    cycle: Any
    #: Which queues are bound, by folder. kombu keeps it once for a process, and would bind none in a second folder.
    _states: ClassVar[dict[str, virtual.BrokerState]] = {}

    def __init__(self, client: Any, **options: Any) -> None:
        super().__init__(client, **options)  # type: ignore[no-untyped-call]
        folder = client.transport_options["data_folder_in"]
        self.state = self._states.setdefault(folder, virtual.BrokerState())
        self._arrivals: FileWatch | None = None

    def drain_events(self, connection: Any, timeout: float | None = None) -> None:  # type: ignore[override]  # noqa: ARG002
        """Delivers one message. Raises TimeoutError if none arrives within ``timeout`` seconds."""
        if self._arrivals is None:
            # Opened before the first poll, so that a message that arrives after the poll ends the wait.
            self._arrivals = FileWatch(Path(self.client.transport_options["data_folder_in"]), Change.MOVED_TO)
        until = None if timeout is None else time.monotonic() + timeout
        while True:
            with contextlib.suppress(Empty):
                self.cycle.get(self._deliver, timeout=timeout)
                return
            left_s = self.polling_interval if until is None else until - time.monotonic()
            if left_s <= 0:
                raise TimeoutError
            self._arrivals.wait(min(left_s, self.polling_interval))

    def close_connection(self, connection: Any) -> None:
        """Closes the connection, and ends its watch over the folder."""
        super().close_connection(connection)  # type: ignore[no-untyped-call]
        if self._arrivals is not None:
            self._arrivals.close()
            self._arrivals = None
