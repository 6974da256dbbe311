"""The website's settings: those shared with the workers, plus those of HTTP."""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path

from pydantic import Field, SecretStr

from store.settings import Settings, prepare_data_dir


class WebSettings(Settings):
    """The website's settings, read from ``GPUJUDGE_<FIELD>``. Creating them writes nothing to disk.

    ``secret_key`` signs sessions; None selects the one in ``data_dir`` (see ``load_secret_key``).
    """

    secret_key: SecretStr | None = None
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    session_cookie_secure: bool = False
    #: The number of proxies in front of the server: this many X-Forwarded-* values are trusted.
    trusted_proxies: int = Field(default=0, ge=0)
    #: Attempts to log in or sign up per IP address, and submissions per user, in Flask-Limiter's notation.
    log_in_rate: str = "10 per minute; 100 per hour"
    submission_rate: str = "30 per minute; 500 per hour"
    #: The server's threads. Each live stream occupies one; at most half of them serve streams.
    web_threads: int = Field(default=64, ge=4)


def load_secret_key(settings: WebSettings) -> str:
    """Returns the key that signs sessions: the configured one, or that in ``data_dir/secret_key`` (mode 0600).

    Creates the file if it is missing. Processes that do so at the same time all get the same key: each links a complete
    file into place, and only one link succeeds.
    """
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    path = prepare_data_dir(settings) / "secret_key"
    if not path.exists():
        handle, temporary = tempfile.mkstemp(prefix=".secret_key.", dir=settings.data_dir)  # mkstemp makes it 0600
        try:
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            Path(temporary).unlink()
    return path.read_text().strip()
