"""A client of the server's JSON API. Returns plain JSON and raises CliError, with an exit code, for failures."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Self

from cli.errors import (
    FAILED,
    INTERNAL,
    NOT_ALLOWED,
    RATE_LIMITED,
    UNREACHABLE,
    USAGE,
    CliError,
    RateLimited,
    Unreachable,
)
from judge.verdict import Verdict

# httpx imports its own command line where it can, with Pygments and rich's progress bars: 45 ms. It does without.
sys.modules.setdefault("httpx._main", None)  # type: ignore[arg-type]
import httpx  # noqa: E402

#: The server sends keep-alives every 10 s; a stream that is silent for longer than this was cut off.
STREAM_SILENCE_S = 45.0


class Api:
    """A connection to ``server``, a base URL. Tests pass ``transport`` and ``sleep``."""

    def __init__(
        self,
        server: str,
        token: str | None,
        *,
        transport: httpx.BaseTransport | None = None,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.server = server
        self.sleep = sleep
        headers = {"User-Agent": "gpujudge-cli", "Accept": "application/json"}
        if token and not (token.isascii() and token.isprintable()):
            raise CliError(
                "the token holds a line break or another character that no token has",
                exit_code=USAGE,
                hint="Look at GPUJUDGE_TOKEN, or make another: `gpujudge login`.",
            )
        if token:
            headers["Authorization"] = f"Bearer {token}"
        try:
            self._client = httpx.Client(
                base_url=f"{server}/api/v1/",
                headers=headers,
                timeout=httpx.Timeout(30.0, connect=5.0),
                transport=transport,
            )
        except (httpx.InvalidURL, ValueError) as error:
            raise CliError(f"{server} is not an address: {error}", exit_code=USAGE) from None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def get(self, path: str, **params: Any) -> Any:
        """Returns the JSON response to a GET. Omits ``params`` that are None. Raises CliError."""
        return self._json(self._send("GET", path, params={k: v for k, v in params.items() if v is not None}))

    def get_bytes(self, path: str, **params: Any) -> bytes:
        """Returns the body of the response to a GET. Omits ``params`` that are None. Raises CliError."""
        return self._send("GET", path, params={k: v for k, v in params.items() if v is not None}).content

    def get_file(self, path: str, **params: Any) -> tuple[bytes, Mapping[str, str]]:
        """Returns body and headers of the response to a GET. Omits ``params`` that are None. Raises CliError."""
        response = self._send("GET", path, params={k: v for k, v in params.items() if v is not None})
        return response.content, response.headers

    def put(self, path: str, body: dict[str, Any]) -> Any:
        """Returns the JSON response to a PUT. Raises CliError."""
        return self._change("PUT", path, body)

    def patch(self, path: str, body: dict[str, Any]) -> Any:
        """Returns the JSON response to a PATCH. Raises CliError."""
        return self._change("PATCH", path, body)

    def delete(self, path: str, **params: str) -> Any:
        """Returns the JSON response to a DELETE. Raises CliError."""
        return self._json(self._send("DELETE", path, params=params))

    def post(
        self,
        path: str,
        body: dict[str, Any] | None = None,
        *,
        idempotency_key: str | None = None,
    ) -> Any:
        """Returns the JSON response to a POST. With an idempotency key, retries at most twice. Raises CliError."""
        headers = {"Idempotency-Key": idempotency_key} if idempotency_key else {}
        content = None if body is None else _ascii(body)
        if content is not None:
            headers["Content-Type"] = "application/json"
        for wait_s in (0.5, 2.0) if idempotency_key else ():
            try:
                return self._json(self._send("POST", path, content=content, headers=headers))
            except Unreachable:
                self.sleep(wait_s)
        return self._json(self._send("POST", path, content=content, headers=headers))

    @contextmanager
    def stream(self, path: str, **params: Any) -> Iterator[Iterator[str]]:
        """Opens an event stream and yields its lines. Raises Unreachable when it breaks."""
        timeout = httpx.Timeout(10.0, read=STREAM_SILENCE_S)
        try:
            with self._client.stream(
                "GET", path, params=params, headers={"Accept": "text/event-stream"}, timeout=timeout
            ) as response:
                if response.status_code >= 400:
                    response.read()
                self._check(response)
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    raise Unreachable(f"{self.server} sent no event stream")
                yield response.iter_lines()
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None

    def _change(self, method: str, path: str, body: dict[str, Any]) -> Any:
        headers = {"Content-Type": "application/json"}
        return self._json(self._send(method, path, content=_ascii(body), headers=headers))

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            response = self._client.request(method, path, **options)
        except httpx.HTTPError as error:
            raise self._unreachable(error) from None
        self._check(response)
        return response

    def _unreachable(self, error: httpx.HTTPError) -> Unreachable:
        return Unreachable(
            f"cannot reach {self.server}: {error or type(error).__name__}",
            hint="Is it running (`gpujudge up`)? Another one: --server URL, or GPUJUDGE_SERVER.",
        )

    def _json(self, response: httpx.Response) -> Any:
        try:
            return response.json()
        except ValueError:
            raise Unreachable(f"{self.server} does not answer as gpujudge does: is it the right address?") from None

    def _check(self, response: httpx.Response) -> None:
        """Raises CliError unless the response is a success."""
        status = response.status_code
        if status < 300:
            return
        if status < 400:
            where = response.headers.get("location", "elsewhere")
            raise Unreachable(f"{self.server} redirects to {where}: use that address")
        try:
            problem = response.json()
            message, nearest = str(problem["detail"]), [str(name) for name in problem.get("nearest") or ()]
        except (ValueError, KeyError, TypeError):
            message, nearest = f"{self.server} answered {status} {response.reason_phrase}", []
            if status < 500:
                hint = "Is it the right address? Another one: --server URL, or GPUJUDGE_SERVER."
                raise Unreachable(f"{message}, which is not an answer of a gpujudge server", hint=hint) from None
        hint = f"Nearest: {', '.join(nearest)}." if nearest else ""
        if status == 401 and not response.request.url.path.endswith("/tokens"):  # there a 401 means a wrong password
            message = f"not logged in to {self.server}: {message}"
            hint = hint or f"Log in first: `gpujudge login --server {self.server}`."
        if status == 429 and (wait := response.headers.get("retry-after", "")).isdecimal():
            raise RateLimited(message, float(wait), hint=hint or f"Try again in {wait} s.")
        exit_code = _exit_code(status)
        if exit_code == UNREACHABLE:
            raise Unreachable(message, hint=hint)
        raise CliError(message, exit_code=exit_code, hint=hint)


def _ascii(body: dict[str, Any]) -> bytes:
    """Returns JSON escaped to ASCII, which httpx does not do: a source may contain lone surrogates."""
    return json.dumps(body).encode("ascii")


def _exit_code(status: int) -> int:
    if status in (401, 403):
        return NOT_ALLOWED
    if status == 429:
        return RATE_LIMITED
    if status in (502, 503, 504):
        return UNREACHABLE
    if status == 413:  # a source that is too large: the judge's verdict would be a compile error
        return Verdict.COMPILE_ERROR.exit_code
    if status >= 500:
        return INTERNAL
    return FAILED if status == 409 else USAGE
