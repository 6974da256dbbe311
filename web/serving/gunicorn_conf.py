"""Configures gunicorn.

``gunicorn -c python:web.serving.gunicorn_conf 'web.serving.asgi:create_server_from_env()'`` serves the site.

Each process has an event loop, which reads requests and sends live streams; Flask runs in threads
(``web.serving.asgi``). Several processes share the port, and add up their metrics in files.
"""

from __future__ import annotations

import gc
import os
import resource
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from judge.native.heap import bound_arenas
from store.operation.environment import SettingsProblem
from store.settings import read_settings
from web.settings import WebSettings

bound_arenas()

try:
    _settings = read_settings(WebSettings)
except SettingsProblem as problem:
    sys.exit(f"error: {problem}")

bind = f"{_settings.host}:{_settings.port}"
worker_class = "web.serving.asgi_worker.Worker"
asgi_loop = "asyncio"
workers = _settings.processes
#: Open connections: each stream is one, and browsers keep some more. Each needs a file descriptor.
worker_connections = 2 * _settings.max_streams + 1000
_soft, _hard = resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_NOFILE, (min(max(_soft, worker_connections + 500), _hard), _hard))
timeout = 60
# Streams last as long as their submissions. A stop cuts them off; browsers reconnect by themselves.
graceful_timeout = 3
keepalive = 5
limit_request_line = 8190
# gunicorn's control socket would be in the home folder, shared by every server of this user. Nothing uses it.
control_socket_disable = True

_METRICS = "gpujudge-metrics-"


def _remove_metrics_of_killed_servers() -> None:
    for folder in Path(tempfile.gettempdir()).glob(f"{_METRICS}*"):
        pid = folder.name.removeprefix(_METRICS).partition("-")[0]
        if pid.isdigit() and not Path("/proc", pid).exists():
            shutil.rmtree(folder, ignore_errors=True)


if workers > 1:
    _remove_metrics_of_killed_servers()
    #: Read where the client library is imported: in the processes, so after this.
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = tempfile.mkdtemp(prefix=f"{_METRICS}{os.getpid()}-")


def post_worker_init(worker: Any) -> None:  # noqa: ARG001
    """Excludes a process's loaded objects from garbage collections: each would look at all of them in a request."""
    gc.collect()
    gc.freeze()


def child_exit(server: Any, worker: Any) -> None:  # noqa: ARG001
    """Takes a process that has ended out of the sums of what is now."""
    if workers > 1:
        from prometheus_client.multiprocess import mark_process_dead

        mark_process_dead(worker.pid)  # type: ignore[no-untyped-call]


def on_exit(server: Any) -> None:  # noqa: ARG001
    """Removes the files."""
    if workers > 1:
        shutil.rmtree(os.environ["PROMETHEUS_MULTIPROC_DIR"], ignore_errors=True)
