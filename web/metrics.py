"""Prometheus metrics: requests and streams of the server's processes, and the queue's state, read at each scrape."""

from __future__ import annotations

import hmac
import os
import time
from collections.abc import Iterable
from contextlib import suppress

from flask import Blueprint, Flask, Response, g, request
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_LATEST
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from store.operation.metrics import QueueCollector
from web.devices import device_choices
from web.problems import Problem
from web.services import Services

#: Clients invent methods: each of those would become a time series, kept for ever.
METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
BUCKETS_S = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)


class DeviceCollector(Collector):
    """Collects the online devices at each scrape."""

    def __init__(self, services: Services) -> None:
        self._services = services

    def describe(self) -> Iterable[Metric]:
        """Returns the metric families without values, so that registration needs no database."""
        return self._families()

    def collect(self) -> Iterable[Metric]:
        """Returns the gauge with its current values."""
        (online,) = self._families()
        with self._services.readers() as session:
            for choice in device_choices(session, self._services.settings, self._services.clock):
                online.add_metric([choice.key], float(choice.online))
        return (online,)

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily]:
        return (GaugeMetricFamily("gpujudge_device_online", "Whether a device's worker is alive.", labels=["device"]),)


def _of_all_processes() -> CollectorRegistry | None:
    """Returns the joint counts of the server's processes; None where there is one process."""
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        return None
    registry = CollectorRegistry()
    MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
    return registry


def register_metrics(app: Flask, services: Services) -> None:
    """Counts every request of ``app`` and serves ``/metrics``, to holders of ``metrics_token`` if it is set."""
    registry, of_database = CollectorRegistry(), CollectorRegistry()
    of_database.register(QueueCollector(services.readers))
    of_database.register(DeviceCollector(services))
    requests = Counter(
        "gpujudge_http_requests", "Requests answered.", ["method", "endpoint", "status"], registry=registry
    )
    durations = Histogram(
        "gpujudge_http_request_duration_seconds",
        "Time until the answer began (a live stream goes on after it).",
        ["endpoint"],
        buckets=BUCKETS_S,
        registry=registry,
    )
    streams = Gauge(
        "gpujudge_streams_open",
        "Pages that follow a submission live.",
        multiprocess_mode="livesum",
        registry=registry,
    )
    services.streams.tell = streams.set
    blueprint = Blueprint("metrics", __name__)

    @app.before_request
    def begin() -> None:
        g.began_s = time.perf_counter()

    @app.after_request
    def count(response: Response) -> Response:
        # The endpoint, not the path: paths are unbounded, and each would become a time series.
        endpoint = request.endpoint or "unknown"
        method = request.method if request.method in METHODS else "other"
        requests.labels(method, endpoint, str(response.status_code)).inc()
        if "began_s" in g:
            durations.labels(endpoint).observe(time.perf_counter() - g.began_s)
        return response

    @blueprint.get("/metrics")
    def metrics() -> Response:
        token = services.settings.metrics_token
        if token is not None:
            given = request.headers.get("Authorization", "").encode(errors="replace")
            if not hmac.compare_digest(given, f"Bearer {token.get_secret_value()}".encode()):
                raise Problem(401, "unauthorized", "Send the token of the metrics: Authorization: Bearer <token>.")
        figures = generate_latest(_of_all_processes() or registry)
        # If the database is unavailable, the metrics of this process are still served.
        with suppress(SQLAlchemyError):
            figures += generate_latest(of_database)
        return Response(figures, content_type=CONTENT_TYPE_LATEST)

    app.register_blueprint(blueprint)
