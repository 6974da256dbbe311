"""The editor's form."""

from __future__ import annotations

from flask import request
from flask_wtf import FlaskForm
from flask_wtf.file import MultipleFileField
from wtforms import StringField, TextAreaField
from wtforms.validators import AnyOf, Length

from web.submissions.accepting import joined


class SubmissionForm(FlaskForm):
    """Submits a source. Chosen files, one with ``solve`` and its headers, take precedence over the editor's text."""

    source = TextAreaField("Source")
    file = MultipleFileField("A source file, and its headers")
    language = StringField("Language", [Length(max=32)])
    device = StringField("Device", [Length(max=100)])
    mode = StringField("Mode", [AnyOf(["run", "submit"])], default="submit")
    idempotency_key = StringField("Key", [Length(max=200)])

    def input_sent(self) -> dict[str, str] | None:
        """Returns the input of a run, by name: the fields ``input.NAME``, if ``on`` asks for an input of one's own."""
        if request.form.get("on") != "custom" or self.mode.data != "run":
            return None
        prefix = "input."
        return {
            name.removeprefix(prefix): text.strip()
            for name, text in request.form.items()
            if name.startswith(prefix) and text.strip()
        }

    def source_sent(self) -> tuple[str | bytes, str | None]:
        """Returns the submitted source and its language, None where nothing says it.

        Undoes the CRLF that browsers put in text fields; keeps files unchanged. The ending of a file says its language.

        Raises Problem (422) for files that make no source.
        """
        chosen = [file for file in self.file.data or () if file]
        if chosen:
            source, language = joined((str(file.filename), bytes(file.read())) for file in chosen)
            return source, language or self.language.data or None
        return str(self.source.data or "").replace("\r\n", "\n"), self.language.data or None
