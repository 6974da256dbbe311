"""The tasks that a ring runs. They carry no arguments: the database says what is to be done."""

from __future__ import annotations

from typing import Any

from celery import Celery

from workers.shift import Shift


def register(app: Celery, name: str, shift: Shift) -> Any:
    """Make ``app`` run the shift when the task ``name`` comes."""

    def answer() -> None:
        shift.rung()

    return app.task(name=name, ignore_result=True)(answer)
