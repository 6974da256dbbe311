"""A learning platform: it signs messages with RSA, and serves its keys, tokens, members and gradebook by HTTP."""

from __future__ import annotations

import json
import threading
import time
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import jwt
from flask.testing import FlaskClient
from jwcrypto.jwk import JWK
from werkzeug.test import TestResponse

from store.operation.operator_log import Actor
from store.teaching.lti_platforms import PlatformDetails, public_keys, save_platform
from tests.web_site import Site

CLAIM = "https://purl.imsglobal.org/spec/lti/claim/"
GRADES = "https://purl.imsglobal.org/spec/lti-ags/claim/endpoint"
ROSTER = "https://purl.imsglobal.org/spec/lti-nrps/claim/namesroleservice"
DEEP_LINK = "https://purl.imsglobal.org/spec/lti-dl/claim/deep_linking_settings"
ITEMS = "https://purl.imsglobal.org/spec/lti-dl/claim/content_items"
MEMBERSHIP = "http://purl.imsglobal.org/vocab/lis/v2/membership"
LEARNER, INSTRUCTOR = f"{MEMBERSHIP}#Learner", f"{MEMBERSHIP}#Instructor"
ASSISTANT = f"{MEMBERSHIP}/Instructor#TeachingAssistant"
CLIENT_ID, DEPLOYMENT = "10000000000001", "1:deployment"
_SCOPES = [
    "https://purl.imsglobal.org/spec/lti-ags/scope/lineitem",
    "https://purl.imsglobal.org/spec/lti-ags/scope/score",
]


class LtiPlatform:
    """A platform at ``url``.

    ``scores`` has what was accepted, in order; ``broken`` is the status of all services, ``unknown`` names users whose
    points are refused, and ``users`` has what is said of whom a browser's hint names. ``chosen`` has the answers to
    deep links.
    """

    def __init__(self, host: str = "127.0.0.1") -> None:
        self.key = JWK.generate(kty="RSA", size=2048, kid="platform-1")
        self.members: list[dict[str, Any]] = []
        self.columns: list[dict[str, Any]] = []
        self.scores: list[tuple[str, dict[str, Any]]] = []
        self.site_keys: dict[str, Any] = {"keys": []}
        self.tokens: set[str] = set()
        self.page_of = 100
        self.broken = 0
        self.unknown: set[str] = set()
        self.users: dict[str, dict[str, Any]] = {}
        self.chosen: list[str] = []
        platform = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                platform.answer(self, "GET", b"")

            def do_POST(self) -> None:
                platform.answer(self, "POST", self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://{host}:{self.server.server_port}"
        self.thread = threading.Thread(target=self.server.serve_forever, daemon=True)
        self.thread.start()

    def close(self) -> None:
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()

    def details(self, **changes: Any) -> PlatformDetails:
        given: dict[str, Any] = {
            "title": "School", "issuer": self.url, "client_id": CLIENT_ID, "deployments": [DEPLOYMENT],
            "key_set_url": f"{self.url}/jwks", "auth_login_url": f"{self.url}/auth",
            "auth_token_url": f"{self.url}/token",
        }  # fmt: skip
        return PlatformDetails(**{**given, **changes})

    def register(self, site: Site, **changes: Any) -> int:
        with site.database() as session:
            made = save_platform(session, Actor("root"), self.details(**changes), now=site.services.clock())
            self.site_keys = public_keys(session)
            return made.id

    def sign(self, claims: dict[str, Any], *, key: JWK | None = None, kid: str = "platform-1") -> str:
        # Not as a PEM: reading one checks the key's primes each time.
        return jwt.encode(claims, (key or self.key).get_op_key("sign"), algorithm="RS256", headers={"kid": kid})

    def claims(self, nonce: str, subject: str, role: str = LEARNER, **changes: Any) -> dict[str, Any]:
        """Returns a message's claims about a user who opens the course, without changed claims that are None."""
        now = int(time.time())
        said = {
            "iss": self.url, "aud": CLIENT_ID, "sub": subject, "iat": now, "exp": now + 300, "nonce": nonce,
            "name": f"Name of {subject}", "email": f"{subject}@school.example",
            f"{CLAIM}message_type": "LtiResourceLinkRequest", f"{CLAIM}version": "1.3.0",
            f"{CLAIM}deployment_id": DEPLOYMENT, f"{CLAIM}roles": [role],
            f"{CLAIM}resource_link": {"id": "link-1"}, f"{CLAIM}target_link_uri": "http://localhost/lti/launch",
            f"{CLAIM}context": {"id": "course-7", "title": "CUDA, spring"},
            GRADES: {"scope": _SCOPES, "lineitems": f"{self.url}/lineitems"},
            ROSTER: {"context_memberships_url": f"{self.url}/members", "service_versions": ["2.0"]},
        }  # fmt: skip
        return {name: value for name, value in {**said, **changes}.items() if value is not None}

    def deep_linking(self, *, several: bool = True) -> dict[str, Any]:
        """Returns the changes that make a message ask for a choice of links."""
        settings = {
            "deep_link_return_url": f"{self.url}/back", "accept_types": ["ltiResourceLink"],
            "accept_presentation_document_targets": ["iframe", "window"], "accept_multiple": several, "data": "d1",
        }  # fmt: skip
        return {f"{CLAIM}message_type": "LtiDeepLinkingRequest", f"{CLAIM}resource_link": None, DEEP_LINK: settings}

    def begin(self, client: FlaskClient, **changes: str) -> dict[str, str]:
        """Begins a log-in as the platform does; returns what the site sends the browser to it with."""
        given = {"iss": self.url, "client_id": CLIENT_ID, "login_hint": "u1", "target_link_uri": "http://x/"}
        answer = client.get("/lti/login", query_string={**given, **changes})
        assert answer.status_code == 302, answer.text
        assert answer.location.startswith(f"{self.url}/auth?")
        return {name: values[0] for name, values in parse_qs(urlsplit(answer.location).query).items()}

    def launch(
        self, client: FlaskClient, subject: str, role: str = LEARNER, *, frame: bool = False, **changes: Any
    ) -> TestResponse:
        """Opens the site for a user of the course; returns the answer to the message."""
        asked = self.begin(client)
        token = self.sign(self.claims(asked["nonce"], subject, role, **changes))
        headers = {"Sec-Fetch-Dest": "iframe"} if frame else {}
        return client.post("/lti/launch", data={"id_token": token, "state": asked["state"]}, headers=headers)

    def answer(self, handler: BaseHTTPRequestHandler, method: str, body: bytes) -> None:
        parts = urlsplit(handler.path)
        status, said, headers = self._service(handler, method, parts.path, parse_qs(parts.query), body)
        text = said.encode() if isinstance(said, str) else json.dumps(said).encode()
        kind = "text/html; charset=utf-8" if isinstance(said, str) else "application/json"
        handler.send_response(status)
        for name, value in {**headers, "Content-Type": kind, "Content-Length": str(len(text))}.items():
            handler.send_header(name, value)
        handler.end_headers()
        handler.wfile.write(text)

    def _service(
        self, handler: BaseHTTPRequestHandler, method: str, path: str, query: dict[str, list[str]], body: bytes
    ) -> tuple[int, Any, dict[str, str]]:
        if path == "/jwks":
            return 200, {"keys": [{**self.key.export_public(as_dict=True), "alg": "RS256", "use": "sig"}]}, {}
        if path == "/course":
            return 200, self._course(query["hint"][0], query["site"][0], framed="framed" in query), {}
        if path == "/auth":
            return 200, self._vouch({name: values[0] for name, values in query.items()}), {}
        if path == "/back":
            self.chosen.append(parse_qs(body.decode())["JWT"][0])
            return 200, "<p>Taken over</p>", {}
        if self.broken:
            return self.broken, {}, {}
        if path == "/token":
            return self._token(parse_qs(body.decode()))
        if handler.headers.get("Authorization", "").removeprefix("Bearer ") not in self.tokens:
            return 401, {}, {}
        if path == "/members":
            first = int(query.get("from", ["0"])[0])
            more = {}
            if first + self.page_of < len(self.members):
                more = {"Link": f'<{self.url}/members?from={first + self.page_of}>; rel="next"'}
            return 200, {"id": "m", "context": {}, "members": self.members[first : first + self.page_of]}, more
        if path == "/lineitems" and method == "POST":
            made = {**json.loads(body), "id": f"{self.url}/lineitems/{len(self.columns) + 1}"}
            self.columns.append(made)
            return 201, made, {}
        if path == "/lineitems":
            wanted = query.get("resource_id")
            return 200, [each for each in self.columns if not wanted or each.get("resourceId") in wanted], {}
        if path.endswith("/scores"):
            if json.loads(body)["userId"] in self.unknown:
                return 404, {}, {}
            self.scores.append((path.removesuffix("/scores"), json.loads(body)))
            return 200, {"resultUrl": "x"}, {}
        return 404, {}, {}

    def _course(self, hint: str, site: str, *, framed: bool) -> str:
        """Returns a page of the course that opens the site, in a frame or by a link."""
        asks = urlencode({"iss": self.url, "client_id": CLIENT_ID, "login_hint": hint, "target_link_uri": "x"})
        if framed:
            return f'<h1>Course</h1><iframe src="{site}/lti/login?{asks}" width="900" height="700"></iframe>'
        return f'<h1>Course</h1><a href="{site}/lti/login?{asks}">Open</a>'

    def _vouch(self, asked: dict[str, str]) -> str:
        """Returns the form by which the browser carries the message to the site, by itself."""
        claims = self.claims(asked["nonce"], **self.users[asked["login_hint"]])
        fields = {"id_token": self.sign(claims), "state": asked["state"]}
        inputs = "".join(f'<input type="hidden" name="{name}" value="{value}">' for name, value in fields.items())
        action = asked["redirect_uri"]
        return f'<form method="post" action="{action}">{inputs}</form><script>document.forms[0].submit()</script>'

    def _token(self, form: dict[str, list[str]]) -> tuple[int, Any, dict[str, str]]:
        """Answers with a token for an assertion that this site's key has signed."""
        (assertion,) = form["client_assertion"]
        kid = jwt.get_unverified_header(assertion)["kid"]
        (key,) = [each for each in self.site_keys["keys"] if each["kid"] == kid]
        try:
            jwt.decode(assertion, jwt.PyJWK(key).key, algorithms=["RS256"], audience=f"{self.url}/token")
        except jwt.InvalidTokenError as error:
            return 400, {"error": str(error)}, {}
        token = uuid.uuid4().hex
        self.tokens.add(token)
        return 200, {"access_token": token, "token_type": "bearer", "expires_in": 3600, "scope": form["scope"][0]}, {}
