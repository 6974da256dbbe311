"""Collects the queue's figures for ``/metrics`` and for operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from judge.verdict import Verdict
from store.boards.rechecks import recheck_figures
from store.boards.totals import verdict_totals
from store.clock import utc_now
from store.models import FINAL_STATES, Job, State
from store.queue.sweeping import queue_delays


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """``unfinished`` counts jobs by (state, device key); ``judged`` counts submissions by verdict."""

    unfinished: dict[tuple[str, str], int]
    judged: dict[str, int]


def queue_figures(session: Session) -> QueueFigures:
    """Returns the current figures. Only reads."""
    open_states = [state for state in State if state not in FINAL_STATES]
    jobs = session.execute(
        select(Job.state, Job.device_key, func.count())
        .where(Job.state.in_(open_states))
        .group_by(Job.state, Job.device_key)
    )
    return QueueFigures(
        unfinished={(state, device): count for state, device, count in jobs},
        judged=verdict_totals(session),
    )


class QueueCollector(Collector):
    """Queries the database on each Prometheus scrape. ``sessions`` should be read-only."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def describe(self) -> Iterable[Metric]:
        """Returns empty families, so that registration needs no database."""
        return self._families()

    def collect(self) -> Iterable[Metric]:
        """Counts in the database, and yields the families with their values."""
        with self._sessions() as session:
            figures = queue_figures(session)
            delays = queue_delays(session, now=utc_now())
            checks = recheck_figures(session, now=utc_now())
        jobs, judged, sweep, lease, wait, rechecks, recheck_wait = self._families()
        for (state, device), count in figures.unfinished.items():
            jobs.add_metric([state, device], count)
        # A verdict that nobody got yet is 0: a rate needs a value before the first.
        for verdict, count in {**dict.fromkeys(map(str, Verdict), 0), **figures.judged}.items():
            judged.add_metric([verdict], count)
        for family, seconds in (
            (sweep, delays.sweep_age_s),
            (lease, delays.lease_overdue_s),
            (wait, delays.oldest_wait_s),
            (recheck_wait, checks.oldest_wait_s),
        ):
            if seconds is not None:
                family.add_metric([], seconds)
        rechecks.add_metric(["waiting"], checks.waiting)
        rechecks.add_metric(["running"], checks.running)
        return jobs, judged, sweep, lease, wait, rechecks, recheck_wait

    @staticmethod
    def _families() -> tuple[
        GaugeMetricFamily, CounterMetricFamily, GaugeMetricFamily, GaugeMetricFamily, GaugeMetricFamily,
        GaugeMetricFamily, GaugeMetricFamily,
    ]:  # fmt: skip
        return (
            GaugeMetricFamily("gpujudge_jobs", "Jobs that are not finished.", labels=["state", "device"]),
            CounterMetricFamily("gpujudge_judged", "Submissions judged.", labels=["verdict"]),
            GaugeMetricFamily("gpujudge_sweep_age_seconds", "Time since the last sweep of leases and queues."),
            GaugeMetricFamily("gpujudge_lease_overdue_seconds", "Time since the oldest lease ran out."),
            GaugeMetricFamily("gpujudge_oldest_wait_seconds", "How long the oldest job has waited to be claimed."),
            GaugeMetricFamily("gpujudge_rechecks", "Checks on the emulator that are not made yet.", labels=["state"]),
            GaugeMetricFamily("gpujudge_recheck_oldest_wait_seconds", "How long the oldest such check has waited."),
        )
