"""The editor's form."""

from __future__ import annotations

from flask import request
from flask_wtf import FlaskForm
from flask_wtf.file import FileField
from wtforms import StringField, TextAreaField
from wtforms.validators import AnyOf, Length


class SubmissionForm(FlaskForm):
    """Submits a source. A chosen ``file`` takes precedence over the editor's text."""

    source = TextAreaField("Source")
    file = FileField("A .cu file")
    device = StringField("Device", [Length(max=100)])
    mode = StringField("Mode", [AnyOf(["run", "submit"])], default="submit")
    idempotency_key = StringField("Key", [Length(max=200)])

    def input_sent(self) -> dict[str, str] | None:
        """Returns what a run is on, by name: the fields ``input.NAME``, if ``on`` asks for an input of one's own."""
        if request.form.get("on") != "custom" or self.mode.data != "run":
            return None
        prefix = "input."
        return {
            name.removeprefix(prefix): text.strip()
            for name, text in request.form.items()
            if name.startswith(prefix) and text.strip()
        }

    def source_sent(self) -> str | bytes:
        """Returns the submitted source. Undoes the CRLF that browsers put in text fields; keeps files unchanged."""
        if self.file.data:
            return bytes(self.file.data.read())
        return str(self.source.data or "").replace("\r\n", "\n")
