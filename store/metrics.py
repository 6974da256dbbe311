"""Figures of the queue, for ``/metrics`` and for operators."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from sqlalchemy import func, select
from sqlalchemy.orm import Session, sessionmaker

from store.models import FINAL_STATES, Job, State, Submission


@dataclass(frozen=True, slots=True)
class QueueFigures:
    """``unfinished`` counts jobs by state and device; ``judged`` counts submissions by verdict."""

    unfinished: dict[tuple[str, str], int]
    judged: dict[str, int]


def queue_figures(session: Session) -> QueueFigures:
    """The figures as they are now."""
    open_states = [state for state in State if state not in FINAL_STATES]
    jobs = session.execute(
        select(Job.state, Job.device_key, func.count())
        .where(Job.state.in_(open_states))
        .group_by(Job.state, Job.device_key)
    )
    verdicts = session.execute(
        select(Submission.verdict, func.count()).where(Submission.verdict.is_not(None)).group_by(Submission.verdict)
    )
    return QueueFigures(
        unfinished={(state, device): count for state, device, count in jobs},
        judged={verdict: count for verdict, count in verdicts if verdict is not None},
    )


class QueueCollector(Collector):
    """Asks the database whenever Prometheus asks us. ``sessions`` should be read-only ones."""

    def __init__(self, sessions: sessionmaker[Session]) -> None:
        self._sessions = sessions

    def describe(self) -> Iterable[Metric]:
        """Told apart from ``collect`` so that registering needs no database."""
        return self._families()

    def collect(self) -> Iterable[Metric]:
        with self._sessions() as session:
            figures = queue_figures(session)
        jobs, judged = self._families()
        for (state, device), count in figures.unfinished.items():
            jobs.add_metric([state, device], count)
        for verdict, count in figures.judged.items():
            judged.add_metric([verdict], count)
        return jobs, judged

    @staticmethod
    def _families() -> tuple[GaugeMetricFamily, CounterMetricFamily]:
        return (
            GaugeMetricFamily("gpujudge_jobs", "Jobs that are not finished.", labels=["state", "device"]),
            CounterMetricFamily("gpujudge_judged", "Submissions judged.", labels=["verdict"]),
        )
