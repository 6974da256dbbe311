"""Addresses of static files that contain a digest of all of them, so that browsers may cache them for ever."""

from __future__ import annotations

import hashlib
import posixpath
import re
from pathlib import Path
from typing import Any
from urllib.parse import quote

from flask import Flask, Response, request, url_for

#: The digest's length in the address ``/static/v<digest>/…``.
_DIGITS = 12
_IMPORT = re.compile(r"""(?:\bfrom|^import)\s*"(\.[^"]+)";""", re.MULTILINE)


def digest_of(folder: Path) -> str:
    """Returns the first hex digits of a SHA-256 of the names and contents of all files below ``folder``."""
    found = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        found.update(f"{path.relative_to(folder).as_posix()} {content}\n".encode())
    return found.hexdigest()[:_DIGITS]


def imported_modules(folder: Path, name: str) -> list[str]:
    """Returns the JavaScript modules that module ``name`` needs before it runs, without itself: names in ``folder``."""
    found = [name]
    for module in found:
        for target in _IMPORT.findall((folder / module).read_text("utf-8")):
            imported = posixpath.normpath(posixpath.join(posixpath.dirname(module), target))
            if imported not in found:
                found.append(imported)
    return found[1:]


def register_assets(app: Flask) -> None:
    """Gives addresses of static files the digest; offers ``asset``, ``modules`` and ``icon_uri`` to templates.

    The digest is a folder of the address and not a parameter: modules import each other by relative addresses, which
    then contain it, too. A page lists with ``modules(name)`` what a module imports, so that the browser fetches
    everything at once, not one import after another.
    """
    assert app.static_folder is not None
    folder = Path(app.static_folder)
    digest = digest_of(folder)
    needed: dict[str, list[str]] = {}

    def modules(name: str) -> list[str]:
        if name not in needed:
            needed[name] = imported_modules(folder, name)
        return [url_for("static", filename=module) for module in needed[name]]

    app.jinja_env.globals["asset"] = lambda name: url_for("static", filename=name)
    app.jinja_env.globals["modules"] = modules
    # Within the page it costs no request.
    icon = (folder / "img" / "mark.svg").read_text("utf-8")
    app.jinja_env.globals["icon_uri"] = "data:image/svg+xml," + quote(icon, safe=" =/:'")

    def send(filename: str, version: str = "") -> Response:
        # Pages that were loaded before an upgrade name the digest of that time: they get the files of today.
        del version
        return app.send_static_file(filename)

    app.view_functions["static"] = send
    app.add_url_rule(f"/static/v<string(length={_DIGITS}):version>/<path:filename>", endpoint="static")

    @app.url_defaults
    def add_digest(endpoint: str, values: dict[str, Any]) -> None:
        if endpoint == "static":
            values.setdefault("version", digest)

    @app.after_request
    def set_cache_control(response: Response) -> Response:
        if request.endpoint == "static" and response.status_code == 200:
            immutable = (request.view_args or {}).get("version") == digest
            response.headers["Cache-Control"] = "public, max-age=31536000, immutable" if immutable else "no-cache"
        return response
