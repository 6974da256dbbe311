"""Addresses of static files that change with their content, so that browsers may keep them for good."""

from __future__ import annotations

import hashlib
from pathlib import Path

from flask import Flask, Response, request, url_for


class Assets:
    """Digests of the files below ``folder``, each read once."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digests: dict[str, str] = {}

    def digest(self, name: str) -> str:
        """The first characters of the file's SHA-256."""
        if name not in self._digests:
            self._digests[name] = hashlib.sha256((self._folder / name).read_bytes()).hexdigest()[:12]
        return self._digests[name]


def register_assets(app: Flask) -> None:
    """Offers ``asset(name)`` to templates. Modules import each other by plain names, so those are checked each time."""
    assert app.static_folder is not None
    assets = Assets(Path(app.static_folder))
    app.jinja_env.globals["asset"] = lambda name: url_for("static", filename=name, v=assets.digest(name))

    @app.after_request
    def keep(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code == 200:
            lasting = "v" in request.args or request.path.endswith(".woff2")
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if lasting else "no-cache"
        return response
