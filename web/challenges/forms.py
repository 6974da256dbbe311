"""The form of a private challenge."""

from __future__ import annotations

from flask_wtf import FlaskForm
from flask_wtf.file import FileField, FileRequired


class UploadForm(FlaskForm):
    """Takes a pack."""

    file = FileField("Archive of the challenge", [FileRequired("Choose a file.")])
