"""The page before the website, in a browser: it follows the progress and gives way by itself."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect
from werkzeug.serving import make_server

from cli.starting_page import StartingPage, listen
from tests.web_site import make_site

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scripts", [True, False], ids=["with scripts", "without"])
def test_it_gives_way_to_the_website(browser: Browser, data_dir: Path, *, scripts: bool) -> None:
    site = make_site(data_dir)
    with listen("127.0.0.1", 0) as listener, browser.new_context(java_script_enabled=scripts) as context:
        page = context.new_page()
        starting = StartingPage(listener)
        starting.step("Preparing emulator")
        starting.start()
        page.goto(f"http://127.0.0.1:{listener.getsockname()[1]}/challenges/vector-add")
        expect(page.get_by_role("listitem")).to_contain_text("Preparing emulator")
        starting.progress(0.5)
        expect(page.get_by_role("progressbar", name="Preparing emulator")).to_have_attribute("value", "0.500")
        starting.stop()
        with _served(site.app, listener.fileno()):
            expect(page.get_by_role("heading", name="Vector addition")).to_be_visible(timeout=20_000)
    site.services.engine.dispose()


def test_a_failure_stays_on_the_screen(browser: Browser) -> None:
    with listen("127.0.0.1", 0) as listener, browser.new_context() as context:
        page = context.new_page()
        starting = StartingPage(listener)
        starting.step("Preparing emulator")
        starting.start()
        page.goto(f"http://127.0.0.1:{listener.getsockname()[1]}/")
        # Returns once the page has it.
        failing = threading.Thread(target=starting.fail, args=("no C++ compiler", "sudo apt-get install -y g++"))
        failing.start()
        expect(page.get_by_role("alert")).to_contain_text("sudo apt-get install -y g++")
        failing.join()
        starting.stop()
        expect(page.get_by_role("heading", name="gpujudge could not start")).to_be_visible()


@contextmanager
def _served(app: object, descriptor: int) -> Iterator[None]:
    server = make_server("127.0.0.1", 0, app, threaded=True, fd=descriptor)  # type: ignore[arg-type]
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield
    server.shutdown()
    thread.join()
    server.server_close()
