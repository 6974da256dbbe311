"""Fields that several forms have, and forms that are filled in by the API."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

from flask_wtf import FlaskForm
from werkzeug.datastructures import MultiDict
from wtforms import DateTimeLocalField, Form

from web.problems import Problem


class TypedForm(FlaskForm):
    """A form whose constructor has types, for forms that take arguments of their own; Flask-WTF's has none."""

    def __init__(self, **given: object) -> None:
        super().__init__(**given)  # type: ignore[no-untyped-call]


class UtcField(DateTimeLocalField):
    """A moment in UTC, as the browser's field has it: without a time zone, also where it is that of an object."""

    def process_data(self, value: datetime | None) -> None:
        """Takes the moment of an object, which has a time zone."""
        self.data = None if value is None else value.astimezone(UTC).replace(tzinfo=None)


def filled_in(values: Mapping[str, object]) -> MultiDict[str, str]:
    """Returns values as a browser sends them in a form; None, False and empty texts are left out."""
    sent: MultiDict[str, str] = MultiDict()
    for name, value in values.items():
        for each in value if isinstance(value, list | tuple) else (value,):
            if each is None or each is False or each == "":
                continue
            moment = each.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S") if isinstance(each, datetime) else None
            sent.add(name, moment or str(each))
    return sent


def refuse_invalid(form: Form) -> None:
    """Raises Problem 422 with what is wrong with each field, if anything is."""
    if not form.validate():
        fields = {name: " ".join(map(str, told)) for name, told in form.errors.items() if name}
        message = " ".join(f"{name}: {told}" for name, told in fields.items())
        raise Problem(422, "invalid", message or "The values do not fit together.", fields=fields)
