"""Shows a submission's progress on stderr: one changing line on a terminal, elsewhere a line per event."""

from __future__ import annotations

import sys
from types import TracebackType
from typing import TYPE_CHECKING, Self

from cli.answers import Step
from cli.console import clean, say, stderr

if TYPE_CHECKING:
    from rich.status import Status


def describe(kind: str, step: Step) -> str:
    """Describes an event in words."""
    count = f"{step.done}/{step.total}" if step.total else ""
    match kind:
        case "queued" | "position":
            wait = f", about {step.wait_s:.0f} s" if step.wait_s is not None and step.wait_s >= 2 else ""
            return f"queued, at place {step.position}{wait}" if step.position else "queued"
        case "building":
            return "building"
        case "built":
            return "built" if step.wall_s is None else f"built in {step.wall_s:.1f} s"
        case "case":
            return " ".join(word for word in ("case", count, step.id, step.verdict) if word)
        case "timing":
            return f"timing {count}".rstrip()
        case "done":
            return f"done: {step.verdict}" if step.verdict else "done"
        case _:
            return kind


class ProgressLine:
    """Shows the events passed to ``update``; a context manager. Prints nothing if ``shown`` is false."""

    def __init__(self, *, shown: bool = True) -> None:
        self._shown = shown
        self._last = ""
        self._status: Status | None = None

    def __enter__(self) -> Self:
        if not self._shown or sys.stderr is None or not sys.stderr.isatty():
            return self
        console = stderr()
        if not console.is_dumb_terminal:
            from rich.status import Status

            self._status = Status("waiting", console=console, spinner="dots")
            self._status.start()
        return self

    def update(self, kind: str, step: Step = Step()) -> None:  # noqa: B008 - frozen
        """Shows a step of a submission, unless it is the one that is shown.

        A case that fails is printed on a line that stays.
        """
        text = clean(describe(kind, step))
        if text == self._last or not self._shown:
            return
        if text == "queued" and self._last:
            return  # a stream repeats the first event; the line on screen is newer
        self._last = text
        if self._status is None:
            say(text)
            return
        if kind == "case" and step.verdict not in (None, "AC"):
            # Printed permanently: users see at once which case failed, while the others still run.
            self._status.console.print(text)
        self._status.update(text)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
