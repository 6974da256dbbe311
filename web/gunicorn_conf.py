"""gunicorn's configuration: ``gunicorn -c python:web.gunicorn_conf 'web.asgi:create_server_from_env()'``.

One process: without Redis the rate limiter counts in the memory of the process. Its event loop reads requests and sends
live streams; Flask runs in threads (``web.asgi``).
"""

from __future__ import annotations

import resource

from web.settings import WebSettings

_settings = WebSettings()

bind = f"{_settings.host}:{_settings.port}"
worker_class = "web.asgi_worker.Worker"
asgi_loop = "asyncio"
workers = 1
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
