"""Registers the Celery tasks that answer rings. They have no arguments: the database has the jobs."""

from __future__ import annotations

from typing import Any

from celery import Celery

from workers.job_loop import JobLoop


def register(app: Celery, name: str, job_loop: JobLoop) -> Any:
    """Registers a task ``name`` that runs one job of the job loop."""

    def answer() -> None:
        job_loop.on_ring()

    return app.task(name=name, ignore_result=True)(answer)
