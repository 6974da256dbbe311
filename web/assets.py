"""URLs of static files that contain a digest of the file, so that browsers may cache them for ever."""

from __future__ import annotations

import hashlib
from pathlib import Path
from urllib.parse import quote

from flask import Flask, Response, request, url_for


class Assets:
    """Caches the digests of the files below ``folder``."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._digests: dict[str, str] = {}

    def digest(self, name: str) -> str:
        """Returns the first 12 hex digits of the file's SHA-256."""
        if name not in self._digests:
            self._digests[name] = hashlib.sha256((self._folder / name).read_bytes()).hexdigest()[:12]
        return self._digests[name]


def register_assets(app: Flask) -> None:
    """Offers ``asset(name)`` and ``icon_uri`` to templates and sets the ``Cache-Control`` header of static files.

    JavaScript modules import each other without a digest in the URL, so browsers revalidate those each time.
    """
    assert app.static_folder is not None
    assets = Assets(Path(app.static_folder))
    app.jinja_env.globals["asset"] = lambda name: url_for("static", filename=name, v=assets.digest(name))

    # Within the page it costs no request.
    icon = (Path(app.static_folder) / "img" / "mark.svg").read_text("utf-8")
    app.jinja_env.globals["icon_uri"] = "data:image/svg+xml," + quote(icon, safe=" =/:'")

    @app.after_request
    def set_cache_control(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code == 200:
            immutable = "v" in request.args or request.path.endswith(".woff2")
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if immutable else "no-cache"
        return response
