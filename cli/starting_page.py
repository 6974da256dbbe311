"""The page that stands where the website will be while ``make run`` and ``gpujudge up`` prepare it.

It answers with 503 on the website's own socket, which the website takes over: no connection is refused in between, and
a page that asks again gets the website. As a script (``python cli/starting_page.py ARGUMENTS``) it installs the
packages with ``scripts/bootstrap``, and becomes ``gpujudge up ARGUMENTS``. So it uses only the standard library.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import html
import http.server
import os
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence

#: Environment variable: the number of the listening socket that ``make run`` leaves to ``gpujudge up``.
LISTENER = "GPUJUDGE_LISTENER"
#: Seconds between two looks of a page, and how long one that looks is waited for to see what failed.
_LOOK_S, _LINGER_S = 1, 5.0
_OWN = ("127.0.0.1", "::1", "::ffff:127.0.0.1")
_SCRIPT = """
const look = async () => {
    try {
        const answer = await fetch(location.href, { cache: "no-store" });
        if (answer.headers.get("X-Gpujudge") !== "starting") return location.reload();
        const page = new DOMParser().parseFromString(await answer.text(), "text/html");
        document.querySelector("main").replaceWith(page.querySelector("main"));
        if (page.querySelector("[role=alert]")) return;
    } catch { /* the next look may be answered */ }
    setTimeout(look, LOOK);
};
setTimeout(look, LOOK);
""".replace("LOOK", str(1000 * _LOOK_S))
_STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; margin: 0; background: light-dark(#fff, #14171c);
    color: light-dark(#1c2128, #e6e9ee); }
main { max-width: 40rem; margin: 12vh auto 0; padding: 0 1.25rem; }
h1 { font-size: 1.5rem; }
ol { list-style: none; padding: 0; }
li { padding: 0.25rem 0; }
.time { color: light-dark(#59636e, #9aa4b0); }
progress { width: 100%; height: 0.6rem; accent-color: light-dark(#2f6f3e, #7bc77f); }
pre { white-space: pre-wrap; overflow-wrap: anywhere; font-size: 0.85rem; padding: 0.75rem;
    background: light-dark(#f3f4f6, #20252c); }
"""
_DIGEST = base64.b64encode(hashlib.sha256(_SCRIPT.encode()).digest()).decode()
_POLICY = f"default-src 'none'; connect-src 'self'; style-src 'unsafe-inline'; script-src 'sha256-{_DIGEST}'"


def listen(host: str, port: int) -> socket.socket:
    """Returns a listening socket; 0 is a free port. Raises OSError."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    made = socket.socket(family, socket.SOCK_STREAM)
    try:
        made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        made.bind((host, port))
        made.listen(128)
    except BaseException:
        made.close()
        raise
    return made


def take_over(port: int) -> socket.socket | None:
    """Returns the socket that ``make run`` left, if it has this port. The environment then names none any more."""
    number = os.environ.pop(LISTENER, "")
    if not number.isdigit():
        return None
    try:
        left = socket.socket(fileno=int(number))
        if left.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN) and left.getsockname()[1] == port:
            left.set_inheritable(False)
            return left
        left.close()
    except OSError:
        pass
    return None


def address(host: str, port: int) -> str:
    """Returns the address to type into a browser on this machine."""
    shown = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104 (is compared, not bound)
    return f"http://[{shown}]:{port}" if ":" in shown else f"http://{shown}:{port}"


class StartingPage:
    """The page, served by a thread until ``stop``. Its steps follow each other; the last may have failed."""

    def __init__(self, listener: socket.socket, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._steps: list[tuple[str, float]] = []
        self._share: float | None = None
        self._failure: tuple[str, str] | None = None
        self._looked_s = -_LINGER_S
        self._failure_seen = threading.Event()
        self._server = _Server(listener, self)
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Begins to answer. Does nothing if it does already."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), daemon=True)
            self._thread.start()

    def stop(self) -> None:
        """Leaves further connections to whoever has the socket."""
        if self._thread is not None:
            self._server.shutdown()
            self._thread.join()
            self._thread = None

    def step(self, what: str) -> None:
        """Ends the step before and begins one."""
        with self._lock:
            self._steps.append((what, self._clock()))
            self._share = self._failure = None

    def progress(self, share: float) -> None:
        """Notes the finished share of the step, from 0 to 1."""
        with self._lock:
            self._share = share

    def fail(self, message: str, remedy: str) -> None:
        """Shows the failure and the remedy. Returns once a browser that shows the page has them: after seconds."""
        with self._lock:
            self._failure = message, remedy
            watched = self._thread is not None and self._clock() - self._looked_s < _LINGER_S
        if watched:
            self._failure_seen.wait(_LINGER_S)

    def text(self, *, whole: bool) -> str:
        """Returns the page. Without ``whole`` it leaves out what failed, which may name files of this machine."""
        now = self._clock()
        with self._lock:
            steps, share, failure = list(self._steps), self._share, self._failure
            self._looked_s = now
        ends = [began for _, began in steps[1:]] + [now]
        rows = []
        for number, ((what, began), end) in enumerate(zip(steps, ends, strict=True), 1):
            is_last = number == len(steps)
            mark = "✓" if not is_last else "✗" if failure else "…"
            rows.append(
                f'<li>{mark} {html.escape(what)} <span class="time">{_duration(end - began)}'
                f"{_left(share, end - began) if is_last and not failure else ''}</span></li>"
            )
        if steps and share is not None and not failure:
            rows.append(f'<li><progress max="1" value="{share:.3f}" aria-label="{html.escape(what)}"></progress></li>')
        told = _PREPARING if failure is None else _failed(*failure) if whole else _FAILED_ELSEWHERE
        again = "" if failure else f'<noscript><meta http-equiv="refresh" content="{2 * _LOOK_S}"></noscript>'
        if failure:
            self._failure_seen.set()
        title = "gpujudge could not start" if failure else "gpujudge is starting"
        return (
            f'<!doctype html><html lang="en"><head><meta charset="utf-8"><title>{title}</title>'
            f'<meta name="viewport" content="width=device-width, initial-scale=1">{again}<style>{_STYLE}</style></head>'
            f"<body><main><h1>{title}</h1>{told}<ol>{''.join(rows)}</ol></main>"
            f"{'' if failure else f'<script>{_SCRIPT}</script>'}</body></html>"
        )


_PREPARING = (
    "<p>The website appears here by itself. The first start installs packages and compiles the emulator, which takes "
    "one to three minutes; later starts take seconds.</p>"
)
_FAILED_ELSEWHERE = '<p role="alert">The terminal in which it was started says why.</p>'


def _failed(message: str, remedy: str) -> str:
    next_step = f"<p><strong>What to do:</strong></p><pre>{html.escape(remedy)}</pre>" if remedy else ""
    return f'<div role="alert"><pre>{html.escape(message)}</pre>{next_step}</div>'


def _duration(seconds: float) -> str:
    return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min {seconds % 60:.0f} s"


def _left(share: float | None, taken_s: float) -> str:
    """Returns how long the rest takes at the pace so far; nothing before there is one."""
    if not share:
        return ""
    left_s = taken_s * (1 - share) / share
    return f" so far, about {max(5, 5 * round(left_s / 5))} s left"


class _Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    block_on_close = False

    def __init__(self, listener: socket.socket, page: StartingPage) -> None:
        super().__init__(listener.getsockname()[:2], _Handler, bind_and_activate=False)
        self.socket.close()
        self.socket, self.page = listener, page

    def handle_error(self, request: object, client_address: object) -> None:
        """Says nothing of browsers that hang up."""


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = 10
    server_version, sys_version = "gpujudge", ""
    server: _Server

    def do_GET(self) -> None:
        body = self.server.page.text(whole=self.client_address[0] in _OWN).encode()
        self.send_response(503)
        for name, value in (
            ("Content-Type", "text/html; charset=utf-8"),
            ("Content-Length", str(len(body))),
            ("Cache-Control", "no-store"),
            ("Content-Security-Policy", _POLICY),
            ("Retry-After", "2"),
            ("X-Content-Type-Options", "nosniff"),
            ("X-Gpujudge", "starting"),
        ):
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    do_HEAD = do_POST = do_GET

    def log_message(self, format: str, *args: object) -> None:
        """Says nothing: the terminal is for what is done."""


def _address_in(arguments: Sequence[str]) -> tuple[str, int]:
    """Returns the host and the port of these arguments of ``gpujudge up``. Raises ValueError."""
    found = {name: os.environ.get(f"GPUJUDGE_{name.upper()}", "") for name in ("host", "port")}
    for at, argument in enumerate(arguments):
        for name in found:
            if argument == f"--{name}" and at + 1 < len(arguments):
                found[name] = arguments[at + 1]
            elif argument.startswith(f"--{name}="):
                found[name] = argument.partition("=")[2]
    return found["host"] or "127.0.0.1", int(found["port"] or 8000)


@contextlib.contextmanager
def _page_for(arguments: Sequence[str]) -> Iterator[tuple[StartingPage | None, socket.socket | None]]:
    """Serves the page, where its port is free: ``gpujudge up`` says what is wrong with it."""
    try:
        host, port = _address_in(arguments)
        listener = listen(host, port) if port else None
    except (OSError, ValueError, OverflowError):
        listener = None
    if listener is None:
        yield None, None
        return
    page = StartingPage(listener)
    page.step("Preparing the packages")
    page.start()
    print(f"starting; {address(host, port)} shows how far it is", file=sys.stderr)
    try:
        yield page, listener
    finally:
        page.stop()


def main(arguments: Sequence[str]) -> None:
    """Installs missing parts, then becomes ``gpujudge up``. Exits with the code of an installation that failed."""
    with _page_for(arguments) as (page, listener):
        said: list[str] = []
        with subprocess.Popen(
            ["scripts/bootstrap", "server"],  # noqa: S607 (of this checkout)
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        ) as bootstrap:
            assert bootstrap.stderr is not None
            for line in bootstrap.stderr:
                sys.stderr.write(line)
                sys.stderr.flush()
                said.append(line)
                # What it does is in lower case; what it lacks, and what pip says, is no step.
                if page is not None and line[:1].islower() and not line.startswith(("error:", "missing:")):
                    page.step(line.strip()[:1].upper() + line.strip()[1:])
        if bootstrap.returncode and page is not None:
            page.fail("".join(said[-30:]), "Mend what is named above, then type: make run")
    if bootstrap.returncode:
        sys.exit(bootstrap.returncode)
    if listener is not None:
        listener.set_inheritable(True)
        os.environ[LISTENER] = str(listener.fileno())
    sys.stderr.flush()
    os.execv(".venv/bin/gpujudge", [".venv/bin/gpujudge", "up", *arguments])


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except KeyboardInterrupt:
        sys.exit(130)
