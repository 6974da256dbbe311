"""The addresses of a submission that the editor needs to follow it."""

from __future__ import annotations

from flask import url_for

from store.models import Submission


def links_of(submission: Submission) -> dict[str, str]:
    """Returns the submission's ``id``, its page (``url``), and what its progress, report and end are asked by."""
    parts = {"url": "show", "events": "events", "report": "report", "cancel": "cancel"}
    links = {name: url_for(f"submissions.{view}", public_id=submission.public_id) for name, view in parts.items()}
    return {"id": submission.public_id, **links}
