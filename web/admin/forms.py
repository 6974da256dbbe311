"""The operators' forms."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import SelectField, TextAreaField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, Length, Optional

from store.people.notices import KINDS, MAX_CHARACTERS
from web.form_fields import UtcField


class NoticeForm(FlaskForm):
    """Posts a notice. Times are in UTC."""

    text = TextAreaField(
        "What every page says", [InputRequired("Say something."), Length(max=MAX_CHARACTERS)], render_kw={"rows": 2}
    )
    kind = SelectField("Kind", choices=[SelectChoice(kind, kind.capitalize()) for kind in KINDS])
    starts_at = UtcField("From, in UTC", [Optional()])
    ends_at = UtcField("Until, in UTC", [Optional()])
