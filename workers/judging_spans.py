"""Makes the spans of a judgement's cases and of its timing from the engine's progress reports."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, Self

from logs.traces import Span
from store.queue.jobs import Lease
from workers.context import WorkerContext

if TYPE_CHECKING:
    from judge.pipeline import Progress


class JudgingSpans:
    """A progress callback and context manager. Its spans lie within the lease's.

    ``cases`` lasts from the first case to the last, with a span ``case`` for each; ``timing`` begins after it.
    """

    def __init__(self, context: WorkerContext, lease: Lease) -> None:
        self._context = context
        self._parent = lease.traceparent
        self._under_way: Span | None = None
        self._is_timing = False
        self._since = context.clock()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._under_way is not None:
            self._under_way.end()

    def __call__(self, progress: Progress) -> None:
        if progress.stage == "running":
            self._is_timing = False
            self._begin("cases")
        elif progress.stage == "case":
            parent = self._parent if self._under_way is None else self._under_way.traceparent
            began, self._since = self._since, self._context.clock()
            verdict = None if progress.verdict is None else str(progress.verdict)
            self._context.traces.record(
                "case", parent=parent, began=began, ended=self._since, case=progress.case_id, verdict=verdict
            )
        elif progress.stage == "timing" and not self._is_timing:
            self._is_timing = True
            self._begin("timing")

    def _begin(self, name: str) -> None:
        """Ends the span that is under way and begins another. Cases may be judged again: then it begins anew."""
        if self._under_way is not None:
            self._under_way.end()
        self._since = self._context.clock()
        self._under_way = self._context.traces.begin(name, parent=self._parent)
