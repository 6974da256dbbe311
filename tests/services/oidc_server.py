"""A small OpenID Connect issuer, and GitHub's three addresses, as a process of its own.

``python -m tests.services.oidc_server`` prints its address. Codes work once and only with their PKCE verifier, client
and redirect; ID tokens are signed with RS256. Whoever authorizes is the ``login`` of the form, so that a browser can
choose; ``?login=`` answers at once.
"""

from __future__ import annotations

import base64
import hashlib
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from flask import Flask, Response, jsonify, redirect, request
from joserfc import jwt
from joserfc.jwk import RSAKey
from werkzeug.serving import make_server

CLIENT_ID, CLIENT_SECRET = "gpujudge", "a secret of tests"


def make_issuer(url: str) -> Flask:
    """Returns the issuer that is reached at ``url``."""
    app = Flask(__name__)
    key = RSAKey.generate_key(2048, {"kid": "test"})
    codes: dict[str, dict[str, str]] = {}
    tokens: dict[str, str] = {}

    @app.get("/.well-known/openid-configuration")
    def configuration() -> dict[str, Any]:
        return {
            "issuer": url,
            "authorization_endpoint": f"{url}/authorize",
            "token_endpoint": f"{url}/token",
            "jwks_uri": f"{url}/jwks",
            "response_types_supported": ["code"],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": ["RS256"],
            "code_challenge_methods_supported": ["S256"],
        }

    @app.get("/jwks")
    def jwks() -> dict[str, Any]:
        return {"keys": [key.as_dict(private=False)]}

    @app.route("/login/oauth/authorize", endpoint="github_authorize")
    @app.route("/authorize")
    def authorize() -> Response | str:
        asked = request.args
        assert (asked["client_id"], asked["response_type"], asked["code_challenge_method"]) == (
            CLIENT_ID,
            "code",
            "S256",
        )
        if "login" not in asked:
            kept = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in asked.items())
            return f'<form>{kept}<label>Who are you? <input name="login"></label><button>Allow</button></form>'
        if asked["login"] == "":
            answer = {"error": "access_denied"}
        else:
            code = secrets.token_urlsafe()
            codes[code] = asked.to_dict()
            answer = {"code": code}
        return redirect(f"{asked['redirect_uri']}?{urlencode({**answer, 'state': asked['state']})}")  # type: ignore[return-value]

    @app.post("/login/oauth/access_token", endpoint="github_token")
    @app.post("/token")
    def token() -> tuple[Response, int]:
        form, sent = request.form, request.authorization
        client = (sent.username, sent.password) if sent else (form.get("client_id"), form.get("client_secret"))
        asked = codes.pop(form["code"], None)
        verifier = hashlib.sha256(form.get("code_verifier", "").encode()).digest()
        challenge = base64.urlsafe_b64encode(verifier).decode().rstrip("=")
        right = (
            asked is not None and asked["code_challenge"] == challenge and asked["redirect_uri"] == form["redirect_uri"]
        )
        if asked is None or not right or client != (CLIENT_ID, CLIENT_SECRET):
            return jsonify(error="invalid_grant"), 400
        login, now = asked["login"], int(time.time())
        access = secrets.token_urlsafe()
        tokens[access] = login
        if request.path != "/token":  # GitHub's tokens neither expire nor name anybody
            return jsonify(access_token=access, token_type="bearer", scope=""), 200
        claims = {"iss": url, "aud": CLIENT_ID, "sub": f"id of {login}", "iat": now, "exp": now + 60}
        claims |= {"nonce": asked.get("nonce"), "preferred_username": login}
        if login == "mallory":
            claims["aud"] = "somebody else"
        signed = jwt.encode({"alg": "RS256", "kid": "test"}, claims, key)
        return jsonify(access_token=access, token_type="Bearer", expires_in=60, id_token=signed), 200

    @app.get("/api/v3/user")
    def github_user() -> dict[str, Any]:
        login = tokens[request.headers["Authorization"].removeprefix("Bearer ")]
        return {"id": 1000 + len(login), "login": login}

    return app


def main() -> None:
    """Serves on a free port and prints the address."""
    server = make_server("127.0.0.1", 0, Flask(__name__), threaded=True)
    url = f"http://127.0.0.1:{server.server_port}"
    server.app = make_issuer(url)
    print(url, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
