"""A website of several processes: what they count, they count together."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from pydantic import ValidationError

from tests.web_server import running_server
from tests.web_site import make_site
from web.settings import WebSettings

WAIT_S = 60.0
PROCESSES = 2


def test_without_redis_there_is_one_process(data_dir: Path) -> None:
    with pytest.raises(ValidationError, match="needs GPUJUDGE_REDIS_URL"):
        WebSettings(data_dir=data_dir, web_processes=PROCESSES)


@pytest.fixture
def address(data_dir: Path, redis_url: str, tmp_path: Path) -> Iterator[str]:
    make_site(data_dir).services.engine.dispose()
    ended = subprocess.Popen(["true"])
    ended.wait()
    (tmp_path / f"gpujudge-metrics-{ended.pid}-left").mkdir()  # as a server that was killed leaves it
    settings = {
        "GPUJUDGE_REDIS_URL": redis_url,
        "GPUJUDGE_WEB_PROCESSES": str(PROCESSES),
        "GPUJUDGE_ADDRESS_RATE": "10 per minute",
        "TMPDIR": str(tmp_path),
    }
    with running_server(data_dir, **settings) as port:
        yield f"http://127.0.0.1:{port}"
    assert not list(tmp_path.glob("gpujudge-metrics-*"))


@pytest.mark.redis
def test_requests_and_rates_are_counted_over_all_processes(address: str) -> None:
    for _ in range(40):  # each over a connection of its own, which either process may take
        assert httpx.get(f"{address}/favicon.ico", timeout=WAIT_S).status_code < 400
        text = httpx.get(f"{address}/metrics", timeout=WAIT_S).text
    counted = re.findall(r'^gpujudge_http_requests_total\{endpoint="[\w.]*favicon".*\} ([\d.]+)$', text, re.MULTILINE)
    assert [float(count) for count in counted] == [40.0]
    assert "gpujudge_streams_open 0.0" in text
    codes = [httpx.post(f"{address}/api/v1/tokens", json={"username": f"u{n}", "password": "x" * 9, "name": "t"},
                        timeout=WAIT_S).status_code for n in range(14)]  # fmt: skip
    assert codes == [401] * 10 + [429] * 4
