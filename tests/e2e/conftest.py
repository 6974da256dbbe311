"""A real browser, which may talk to nothing but this machine, and a server for it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from werkzeug.serving import make_server

from benchmarks.stack import Stack, running_stack
from tests.web_site import Site, make_site

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

FLAGS = [
    "--no-sandbox",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-gpu",  # it would be emulated
]
#: What a browser says on its console of answers that are errors on purpose.
EXPECTED = "Failed to load resource: "


@pytest.fixture(scope="session")
def browser(chromium_path: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium_path, headless=True, args=FLAGS)
        yield browser
        browser.close()


@dataclass
class Watch:
    """The errors in a page, and the hosts that it asked."""

    complaints: list[str] = field(default_factory=list)
    hosts: set[str] = field(default_factory=set)

    def follow(self, page: Page) -> None:
        page.on(
            "console",
            lambda message: (
                self.complaints.append(message.text)
                if message.type in {"error", "warning"} and not message.text.startswith(EXPECTED)
                else None
            ),
        )
        page.on("pageerror", lambda error: self.complaints.append(str(error)))
        page.on("request", lambda request: self.hosts.add(request.url.split("/")[2]))


#: Makes a page complain of what its policy refuses, also where the browser's console would say nothing.
TELL_REFUSED = """addEventListener("securitypolicyviolation", (event) => (
    console.error(`refused by ${event.effectiveDirective}: ${event.blockedURI} at ${event.sourceFile}`)
));"""


@pytest.fixture(autouse=True)
def complaints(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Fails a test one of whose pages, in whichever context, complains on its console or is refused something."""
    watch = Watch()
    new_context = Browser.new_context

    def watched_context(self: Browser, **options: Any) -> BrowserContext:
        context = new_context(self, **options)
        context.on("page", watch.follow)
        if options.get("java_script_enabled", True):
            context.add_init_script(TELL_REFUSED)
        return context

    monkeypatch.setattr(Browser, "new_context", watched_context)
    yield watch.complaints
    assert watch.complaints == []


@pytest.fixture(scope="session")
def stack(library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A whole installation: everything is judged for real. Its tests share it, so each has users of its own."""
    assert library.exists()  # built before the server starts: it builds no other one
    with running_stack(tmp_path_factory.mktemp("stack") / "data", "--device", "emulator") as running:
        yield running


@pytest.fixture
def context(browser: Browser) -> Iterator[BrowserContext]:
    context = browser.new_context(viewport={"width": 1280, "height": 900}, reduced_motion="reduce")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    context.set_default_timeout(60_000)
    expect.set_options(timeout=60_000)
    yield context
    context.close()


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """A page that must ask nobody but this machine."""
    watch = Watch()
    page = context.new_page()
    watch.follow(page)
    yield page
    assert {host.split(":")[0] for host in watch.hosts} <= {"127.0.0.1"}


@dataclass(frozen=True)
class Served:
    """A site and where it listens."""

    site: Site
    url: str


@pytest.fixture
def served(data_dir: Path) -> Iterator[Served]:
    """A site over HTTP, with the emulator said to be online and nobody at work but the test."""
    site = make_site(data_dir)
    site.add_device()
    with serve(site) as served:
        yield served


@contextmanager
def serve(site: Site) -> Iterator[Served]:
    """Serves a site over HTTP."""
    server = make_server("127.0.0.1", 0, _closed_at_once(site.app), threaded=True)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield Served(site, f"http://127.0.0.1:{server.server_port}")
    server.shutdown()
    thread.join()
    server.server_close()
    site.services.engine.dispose()


def _closed_at_once(app: WSGIApplication) -> WSGIApplication:
    """An app whose answers are closed as soon as the server lets go of them.

    Werkzeug's server closes no answer whose client has hung up, so that a file of it would stay open.
    """

    def answer(environ: WSGIEnvironment, start_response: StartResponse) -> Iterator[bytes]:
        pieces = app(environ, start_response)
        try:
            yield from pieces
        finally:
            if close := getattr(pieces, "close", None):
                close()

    return answer
