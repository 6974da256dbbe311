"""The form of the editor."""

from __future__ import annotations

from flask_wtf import FlaskForm
from flask_wtf.file import FileField
from wtforms import StringField, TextAreaField
from wtforms.validators import AnyOf, Length


class SubmissionForm(FlaskForm):
    """A source for a challenge. ``file``, when one is chosen, counts instead of the editor's text."""

    source = TextAreaField("Source")
    file = FileField("A .cu file")
    device = StringField("Device", [Length(max=100)])
    mode = StringField("Mode", [AnyOf(["run", "submit"])], default="submit")
    idempotency_key = StringField("Key", [Length(max=200)])

    def source_sent(self) -> str | bytes:
        """What was sent. Text fields arrive with CRLF line ends, which nobody typed; a file is taken as it is."""
        if self.file.data:
            return bytes(self.file.data.read())
        return str(self.source.data or "").replace("\r\n", "\n")
