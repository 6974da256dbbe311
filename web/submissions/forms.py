"""The editor's form."""

from __future__ import annotations

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

    def source_sent(self) -> str | bytes:
        """Returns the submitted source. Undoes the CRLF that browsers put in text fields; keeps files unchanged."""
        if self.file.data:
            return bytes(self.file.data.read())
        return str(self.source.data or "").replace("\r\n", "\n")
