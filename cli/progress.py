"""What is happening to a submission, on stderr: one changing line on a terminal, a line an event elsewhere."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from rich.status import Status

from cli.console import clean, say, stderr


def describe(kind: str, payload: dict[str, Any]) -> str:
    """One event in words."""
    count = f"{payload['done']}/{payload['total']}" if payload.get("total") else ""
    match kind:
        case "queued" | "position":
            position = payload.get("position")
            return f"queued, at place {position}" if position else "queued"
        case "building":
            return "building"
        case "built":
            wall_s = payload.get("wall_s")
            return f"built in {wall_s:.1f} s" if isinstance(wall_s, int | float) else "built"
        case "case":
            name = payload.get("case_id") or payload.get("id") or ""
            return " ".join(word for word in ("case", count, str(name), str(payload.get("verdict") or "")) if word)
        case "timing":
            return f"timing {count}".rstrip()
        case "done":
            return f"done: {payload.get('verdict')}" if payload.get("verdict") else "done"
        case _:
            return kind


class ProgressLine:
    """A context manager; ``update`` takes events as they come. Quiet when ``shown`` is false."""

    def __init__(self, *, shown: bool = True) -> None:
        self._shown = shown
        self._last = ""
        self._status: Status | None = None

    def __enter__(self) -> Self:
        console = stderr()
        if self._shown and console.is_terminal and not console.is_dumb_terminal:
            self._status = Status("waiting", console=console, spinner="dots")
            self._status.start()
        return self

    def update(self, kind: str, payload: dict[str, Any]) -> None:
        text = clean(describe(kind, payload))
        if text == self._last or not self._shown:
            return
        if text == "queued" and self._last:
            return  # the first event, told again by a stream: what stands there says more
        self._last = text
        if self._status is None:
            say(text)
            return
        verdict = payload.get("verdict")
        if kind == "case" and verdict not in (None, "AC"):
            # Stays on the screen: the learner sees at once what failed, while the rest still runs.
            self._status.console.print(text)
        self._status.update(text)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if self._status is not None:
            self._status.stop()
