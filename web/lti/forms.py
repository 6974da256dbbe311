"""The forms of connected learning platforms."""

from __future__ import annotations

from collections.abc import Collection

from wtforms import SelectField, StringField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import Length

from web.form_fields import TypedForm

#: Stands for a class that is to be made.
NEW = "new"


class ConnectForm(TypedForm):
    """Connects a course to a class."""

    group = SelectField("Class")
    title = StringField("Title of a new class", [Length(max=100)])

    def __init__(self, known: Collection[tuple[int, str]], *, may_make: bool, **given: object) -> None:
        super().__init__(**given)
        new = [SelectChoice(NEW, "a new class")] if may_make else []
        self.group.choices = [*new, *(SelectChoice(str(number), title) for number, title in known)]
