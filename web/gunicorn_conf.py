"""How gunicorn serves the application: ``gunicorn -c python:web.gunicorn_conf 'web.app:create_app_from_env()'``.

One process with many threads: a page that follows a submission live holds a thread while it does, and the counts of the
rate limits are kept in the process where there is no Redis.
"""

from __future__ import annotations

from store.settings import Settings

_settings = Settings()

bind = f"{_settings.host}:{_settings.port}"
worker_class = "gthread"
workers = 1
threads = _settings.web_threads
timeout = 60
# Streams would go on until their submission is over: at a stop they are cut, and browsers come back by themselves.
graceful_timeout = 3
keepalive = 5
limit_request_line = 8190
# gunicorn's own control socket would lie in the home folder, shared by every server of this user. Nothing uses it.
control_socket_disable = True
