"""A submission's trace, from the request to the timing, as a collector receives it; and its id in every log line."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from store.clock import utc_now
from store.devices import upsert_device
from store.people.accounts import create_token, find_user
from tests.fake_judge import EMULATOR
from tests.integration.workers.conftest import MakeFleet
from tests.integration.workers.fleet import ROOT
from tests.web_site import Site
from web.app import create_app
from web.settings import WebSettings

pytest.importorskip("opentelemetry.sdk", reason="the packages of gpujudge[traces] are not installed")


class Collector:
    """Receives spans by OTLP/HTTP and keeps them, as dictionaries."""

    def __init__(self) -> None:
        from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

        self.spans: list[dict[str, Any]] = []
        spans = self.spans

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                if self.headers.get("Content-Encoding") == "gzip":
                    body = gzip.decompress(body)
                for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                    process = {each.key: each.value.string_value for each in resource.resource.attributes}
                    for scope in resource.scope_spans:
                        for span in scope.spans:
                            known = {each.key: each.value.string_value for each in span.attributes}
                            spans.append(
                                {
                                    "name": span.name,
                                    "trace": span.trace_id.hex(),
                                    "id": span.span_id.hex(),
                                    "parent": span.parent_span_id.hex(),
                                    "began": span.start_time_unix_nano,
                                    "ended": span.end_time_unix_nano,
                                    "process": process["gpujudge.process"],
                                    **known,
                                }
                            )
                self.send_response(200)
                self.send_header("Content-Type", "application/x-protobuf")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self._server.server_port}/v1/traces"
        self._thread = threading.Thread(target=self._server.serve_forever)
        self._thread.start()

    def close(self) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()


@pytest.fixture
def collector(monkeypatch: pytest.MonkeyPatch) -> Iterator[Collector]:
    collector = Collector()
    monkeypatch.setenv("GPUJUDGE_TRACES_URL", collector.url)
    yield collector
    collector.close()


@pytest.mark.exhaustive
def test_a_trace_goes_from_the_request_to_the_timing(everywhere: MakeFleet, collector: Collector) -> None:
    fleet = everywhere()
    for kind in ("build", "device"):
        fleet.start(kind)
    given = fleet.settings.model_dump(exclude_unset=True)
    site = Site(create_app(WebSettings(**given)))
    site.add_user("ada")
    with fleet.sessions.begin() as session:
        upsert_device(session, EMULATOR, now=utc_now())
        user = find_user(session, "ada")
        assert user is not None
        token = create_token(session, user=user, name="test")[1]
    try:
        answer = site.app.test_client().post(
            "/api/v1/submissions",
            json={"challenge": "reduction", "device": "emulator", "mode": "submit", "source": "value=0.5\ncases=2"},
            headers={"Authorization": f"Bearer {token}"},
        )
        assert answer.status_code == 201, answer.text
        fleet.wait_finished(answer.get_json()["id"])
    finally:
        site.services.traces.close()
        site.services.engine.dispose()
    for _, process in fleet.processes:
        process.terminate()
        assert process.wait(timeout=20) == 0

    trace = answer.headers["X-Request-Id"]
    spans = [span for span in collector.spans if span["trace"] == trace]
    by_name: dict[str, list[dict[str, Any]]] = {}
    for span in sorted(spans, key=lambda span: span["began"]):
        assert span["began"] <= span["ended"]
        by_name.setdefault(span["name"], []).append(span)
    assert {name: len(found) for name, found in by_name.items()} == {
        "POST /api/v1/submissions": 1, "queue": 2, "build": 1, "run": 1, "cases": 1, "case": 2, "timing": 1,
    }  # fmt: skip
    [request], [build], [run] = (by_name[name] for name in ("POST /api/v1/submissions", "build", "run"))
    [cases], [timing] = by_name["cases"], by_name["timing"]
    assert request["parent"] == ""
    assert {span["parent"] for span in (*by_name["queue"], build, run)} == {request["id"]}
    assert {cases["parent"], timing["parent"]} == {run["id"]}
    assert [(span["parent"], span["gpujudge.verdict"]) for span in by_name["case"]] == [(cases["id"], "AC")] * 2
    assert [span["gpujudge.stage"] for span in by_name["queue"]] == ["build", "run"]
    assert (build["gpujudge.state"], run["gpujudge.state"]) == ("built", "done")
    assert [span["process"] for span in (request, build, run)] == ["web", "build", "device"]
    # The job to run is there once the build has committed, before the build's own span ends.
    assert build["began"] < run["began"] <= cases["began"] < cases["ended"] <= timing["began"] <= run["ended"]

    lines = [json.loads(line) for line in fleet.log.read_text().splitlines() if line.startswith("{")]
    of_job = [line for line in lines if line["event"] in ("job.claimed", "job.left")]
    assert {line["trace"] for line in of_job} == {trace}
    # The two stages write at the same time: the job to run is there before the build has left its own.
    for stage in ("build", "run"):
        assert [line["event"] for line in of_job if line["stage"] == stage] == ["job.claimed", "job.left"]
    assert len(of_job) == 4


def test_without_the_packages_a_worker_says_what_to_install(collector: Collector, tmp_path: Any) -> None:
    code = (
        "import sys; sys.modules['opentelemetry.sdk.trace'] = None;"
        " from workers.main import main; sys.exit(main(['sweeper']))"
    )
    environment = {**os.environ, "GPUJUDGE_DATA_DIR": str(tmp_path), "GPUJUDGE_TRACES_URL": collector.url}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, env=environment, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1
    assert "pip install '.[traces]'" in done.stderr
