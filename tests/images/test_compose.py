"""The images and docker-compose.yml as they are: built, brought up, used over HTTP, taken down and brought up again."""

from __future__ import annotations

import functools
import os
import re
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.images.engine import PROGRAMS, Engine

ROOT = Path(__file__).resolve().parents[2]
KERNEL = (ROOT / "reference_solutions" / "vector-add" / "plain.cu").read_text()
UP_WITHIN_S, JUDGED_WITHIN_S = 120.0, 120.0
#: What the container of a worker is given beyond an ordinary one (docs/operators.md); podman's names.
PRIVILEGES = {
    "seccomp": f"seccomp={ROOT / 'docker' / 'seccomp-worker.json'}",
    "unmasked /proc": "unmask=ALL",
}

pytestmark = [pytest.mark.images, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def engine() -> Engine:
    if os.geteuid() != 0:
        pytest.skip("building base images needs root")
    if missing := [name for name in PROGRAMS if shutil.which(name) is None]:
        pytest.skip(f"missing: {', '.join(missing)} (apt-get install {' '.join(missing)})")
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")
    made = Engine(cache / "gpujudge-images")
    made.make_bases()
    return made


class Stack:
    """The services of docker-compose.yml, in a copy of what git has."""

    def __init__(self, engine: Engine, folder: Path, port: int) -> None:
        self._engine = engine
        self.folder = folder
        self.address = f"http://127.0.0.1:{port}"
        tracked = engine.command(["git", "ls-files", "--cached", "--others", "--exclude-standard"], cwd=ROOT)
        for name in tracked.splitlines():
            source = ROOT / name
            if source.is_file():
                target = folder / name
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(source, target)
        (folder / ".env").write_text(f"GPUJUDGE_DB_PASSWORD=secret\nGPUJUDGE_LISTEN=127.0.0.1:{port}\n")

    def compose(self, *arguments: str) -> str:
        """Runs podman-compose with docker-compose.yml and returns its output."""
        argv = ["podman-compose", *arguments]
        return self._engine.command(argv, cwd=self.folder, timeout_s=2400)

    def up(self) -> None:
        """Starts the services in the order of their conditions, and waits until the website is ready.

        Docker waits for the conditions by itself. Debian's podman-compose does not, and podman leaves the health checks
        to systemd, which a container or a small machine may not have.
        """
        self._start("postgres", "redis")
        for service in ("postgres", "redis"):
            _wait_until(functools.partial(self._is_healthy, service), UP_WITHIN_S, self.logs)
        self._start("migrate")
        assert self._engine.run("wait", "gpujudge_migrate_1").strip() == "0", self.logs()
        self._start("web", "sweeper", "build-worker", "emulator-worker")
        _wait_until(self._is_ready, UP_WITHIN_S, self.logs)

    def _is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.address}/readyz", timeout=10).status_code == 200
        except httpx.TransportError:
            return False

    def logs(self) -> str:
        """Returns the containers' logs, for messages."""
        names = self._engine.run("ps", "--all", "--filter", "name=gpujudge_", "--format", "{{.Names}}").split()
        return "\n".join(f"== {name}\n{self._engine.run('logs', '--tail', '20', name)}" for name in names)

    def _start(self, *services: str) -> None:
        self.compose("up", "-d", "--no-build", *services)

    def _is_healthy(self, service: str) -> bool:
        try:
            self._engine.run("healthcheck", "run", f"gpujudge_{service}_1")
        except RuntimeError:
            return False
        return True


def _wait_until(condition: Callable[[], bool], within_s: float, told: Callable[[], str]) -> None:
    until = time.monotonic() + within_s
    while not condition():
        if time.monotonic() > until:
            pytest.fail(f"not after {within_s} s:\n{told()}")
        time.sleep(1)


@pytest.fixture(scope="module")
def stack(engine: Engine, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    made = Stack(engine, tmp_path_factory.mktemp("compose") / "gpujudge", port)
    made.compose("build", "migrate", "build-worker")  # the others run the same two images
    try:
        yield made
    finally:
        made.compose("down", "-v")


def test_signs_up_submits_and_is_accepted_and_all_is_there_after_down_and_up(stack: Stack) -> None:
    stack.up()
    with httpx.Client(base_url=stack.address, follow_redirects=True, timeout=30) as browser:
        form = {"username": "ada", "password": "correct horse battery staple"}
        assert "Log out" in _post(browser, "/account/sign-up", **form)
        _wait_until(lambda: 'value="emulator"' in browser.get("/challenges/vector-add").text, UP_WITHIN_S, stack.logs)
        page = _post(browser, "/challenges/vector-add/submissions", at="/challenges/vector-add", source=KERNEL,
                     device="emulator", mode="submit")  # fmt: skip
        match = re.search(r"/submissions/([a-z2-7]{12})", page)
        assert match is not None
        submission = f"/submissions/{match[1]}"
        _wait_until(lambda: "The right answer in all" in browser.get(submission).text, JUDGED_WITHIN_S, stack.logs)
        stack.compose("down")
        with pytest.raises(httpx.TransportError):
            browser.get(submission)
        stack.up()
        assert (
            "The right answer in all" in browser.get(submission).text
        )  # with the same session, which the kept key signs
        assert "ada" in browser.get("/leaderboards/vector-add?device=emulator").text


def _post(browser: httpx.Client, path: str, *, at: str | None = None, **form: str) -> str:
    """Posts the form of the page ``at`` (else of the same path), with its token, and returns the page that follows."""
    token = re.search(r'name="csrf_token"[^>]*value="([^"]+)"', browser.get(at or path).text)
    assert token is not None
    answer = browser.post(path, data={**form, "csrf_token": token[1]})
    assert answer.status_code == 200, answer.text
    return answer.text


def _doctor(engine: Engine, privileges: list[str]) -> str:
    """Returns the output of `gpujudge doctor` in the container of a worker with these privileges."""
    options = [part for one in privileges for part in ("--security-opt", one)]
    fixed = ["--cap-drop", "ALL", "--read-only", "--tmpfs", "/tmp:size=2g,mode=1777", "--pids-limit", "512"]
    arguments = ["run", "--rm", "--network", "none", "--security-opt", "no-new-privileges", *fixed, *options]
    try:
        return engine.run(*arguments, "localhost/gpujudge-worker", "gpujudge", "doctor")
    except RuntimeError as error:
        return str(error)


@pytest.mark.usefixtures("stack")
def test_a_worker_has_its_jail_with_all_privileges(engine: Engine) -> None:
    told = _doctor(engine, list(PRIVILEGES.values()))
    assert re.search(r"ok +network: ", told) or re.search(r"ok +whole tree dies", told), told


@pytest.mark.usefixtures("stack")
@pytest.mark.parametrize("left_out", PRIVILEGES)
def test_each_privilege_is_needed(engine: Engine, left_out: str) -> None:
    told = _doctor(engine, [option for name, option in PRIVILEGES.items() if name != left_out])
    assert "whole tree dies: a daemon inside ended with its jail" not in told, told
