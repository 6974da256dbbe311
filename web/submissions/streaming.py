"""The response with a submission's new events, as a stream or as a list. Shared by the pages and the API."""

from __future__ import annotations

from flask import Response, jsonify, request

from store.models import Submission
from store.submissions import events_after
from web.live import EventStream, event_json
from web.problems import Problem
from web.services import reader, services

#: A tuple that Flask turns into a response. SpecTree would read the whole body of a finished ``Response``.
Streamed = tuple[EventStream, int, dict[str, str]]


def events_response(submission: Submission, after: int) -> Response | Streamed:
    """Returns the events after number ``after``. Raises Problem (503) if no stream is free; the client then polls."""
    accepted = request.accept_mimetypes
    if "text/event-stream" not in accepted.values() and accepted.accept_json:
        return jsonify([event_json(event) for event in events_after(reader(), submission, after)])
    slots = services().streams
    if not slots.acquire():
        message = "Too many submissions are followed live just now: ask for JSON instead."
        raise Problem(503, "too_many_streams", message, retry_after_s=2)
    reader().close()
    stream = EventStream(services().readers, services().event_watcher, slots, submission.public_id, after)
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return stream, 200, headers
