"""gunicorn's configuration: ``gunicorn -c python:web.gunicorn_conf 'web.app:create_app_from_env()'``.

One process with many threads: each live stream occupies a thread, and without Redis the rate limiter counts in the
memory of the process.
"""

from __future__ import annotations

from web.settings import WebSettings

_settings = WebSettings()

bind = f"{_settings.host}:{_settings.port}"
worker_class = "gthread"
workers = 1
threads = _settings.web_threads
timeout = 60
# Streams last as long as their submissions. A stop cuts them off; browsers reconnect by themselves.
graceful_timeout = 3
keepalive = 5
limit_request_line = 8190
# gunicorn's control socket would be in the home folder, shared by every server of this user. Nothing uses it.
control_socket_disable = True
