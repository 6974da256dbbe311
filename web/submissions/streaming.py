"""The response with a submission's new events, as a stream or as a list. Shared by the pages and the API."""

from __future__ import annotations

import functools

from flask import Response, jsonify, request

from store.models import Submission
from store.submissions import events_after
from web.live import EventStream, event_json, hand_over
from web.problems import Problem
from web.services import reader, services

#: A tuple that Flask turns into a response. SpecTree would read the whole body of a finished ``Response``.
Streamed = tuple[EventStream, int, dict[str, str]]


def events_response(submission: Submission, after: int) -> Response | Streamed:
    """Returns the events after number ``after``: as JSON, unless ``Accept`` prefers the other form.

    Raises Problem: 406 if it takes neither form, 503 if no stream is free; the client then polls.
    """
    accepted = request.accept_mimetypes
    form = accepted.best_match(["application/json", "text/event-stream"]) if accepted else "application/json"
    if form is None:
        message = "Events come as text/event-stream or as application/json: name one of them in the header Accept."
        raise Problem(406, "not_acceptable", message)
    if form == "application/json":
        return jsonify([event_json(event) for event in events_after(reader(), submission, after)])
    slots, user_id = services().streams, submission.user_id
    if not slots.acquire(user_id):
        message = "Too many submissions are followed live just now: ask for JSON instead."
        raise Problem(503, "too_many_streams", message, retry_after_s=2)
    reader().close()
    free = functools.partial(slots.release, user_id)
    stream = EventStream(services().readers, services().event_watcher, free, submission.public_id, after)
    hand_over(stream, request)
    headers = {"Content-Type": "text/event-stream", "Cache-Control": "no-store", "X-Accel-Buffering": "no"}
    return stream, 200, headers
