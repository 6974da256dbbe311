"""Compresses responses for clients that accept it (zstd, brotli or gzip): style sheets, scripts, pages and JSON.

A page that holds a CSRF token stays uncompressed: its compressed length would let somebody who can put text into it
and sees its length guess the token (the BREACH attack). Event streams stay so too, since an event has to leave at once.
"""

from __future__ import annotations

import contextlib
from typing import Any, cast

from flask import Flask, Request, Response, g, request
from flask_compress import Compress

_TYPES = ["text/html", "text/css", "text/plain", "text/javascript", "application/json", "image/svg+xml"]


class _CompressedFiles:
    """Keeps static files as they were compressed, since zstd takes longer over the editor than all else does.

    Keys are what ``_file_key`` returns, behind the algorithm and a semicolon; an empty one is not kept.
    """

    def __init__(self) -> None:
        self._kept: dict[str, bytes] = {}

    def get(self, key: str) -> bytes | None:
        return self._kept.get(key)

    def set(self, key: str, content: bytes) -> None:
        if not key.endswith(";"):
            self._kept[key] = content


def _file_key(request: Request) -> str:
    """Returns the ETag of the static file that is sent, which names its path, size and time; empty for all else."""
    del request
    return str(g.get("file_etag", ""))


def register_compression(app: Flask) -> None:
    """Compresses responses that may be compressed. Register it before handlers of headers: they run in reverse."""
    app.config.update(
        COMPRESS_REGISTER=False,
        COMPRESS_MIMETYPES=_TYPES,
        COMPRESS_ALGORITHM=["zstd", "br", "gzip"],
        COMPRESS_BR_LEVEL=5,
        COMPRESS_ZSTD_LEVEL=6,
        COMPRESS_CACHE_BACKEND=_CompressedFiles,
        COMPRESS_CACHE_KEY=_file_key,
    )
    compress = Compress(app)

    @app.after_request
    def compress_without_secrets(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code == 200 and response.mimetype in _TYPES:
            # A server need not close the response of a browser that has hung up, so the file is read and closed here.
            with contextlib.closing(cast(Any, response.response)) as file:
                response.direct_passthrough = False
                response.set_data(b"".join(file))
            g.file_etag = response.get_etag()[0] or ""
        holds_token = "csrf_token" in g and response.mimetype == "text/html"
        return response if holds_token else compress.after_request(response)
