"""The operators' forms."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import BooleanField, SelectField, StringField, TextAreaField
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, Length, Optional

from store.people.notices import KINDS, MAX_CHARACTERS
from store.teaching.lti_platforms import PlatformDetails
from web.form_fields import UtcField


class NoticeForm(FlaskForm):
    """Posts a notice. Times are in UTC."""

    text = TextAreaField(
        "What every page says", [InputRequired("Say something."), Length(max=MAX_CHARACTERS)], render_kw={"rows": 2}
    )
    kind = SelectField("Kind", choices=[SelectChoice(kind, kind.capitalize()) for kind in KINDS])
    starts_at = UtcField("From, in UTC", [Optional()])
    ends_at = UtcField("Until, in UTC", [Optional()])


class PlatformForm(FlaskForm):
    """Registers or changes a learning platform."""

    title = StringField("Title", [InputRequired("Give it a title."), Length(max=100)])
    issuer = StringField("Issuer", [InputRequired("The platform shows it."), Length(max=255)])
    client_id = StringField("Client id", [InputRequired("The platform shows it."), Length(max=255)])
    deployments = TextAreaField("Deployment ids", [InputRequired("Name at least one.")], render_kw={"rows": 2})
    key_set_url = StringField("Key set address (JWKS)", [InputRequired("The platform shows it.")])
    auth_login_url = StringField("Authentication request address", [InputRequired("The platform shows it.")])
    auth_token_url = StringField("Access token address", [InputRequired("The platform shows it.")])
    auth_audience = StringField("Audience of token requests", [Length(max=500)])
    makes_teachers = BooleanField("Its instructors may hold classes here without being teachers of this site")

    def details(self) -> PlatformDetails:
        """Returns the form's values."""
        names = ("title", "issuer", "client_id", "key_set_url", "auth_login_url", "auth_token_url", "auth_audience")
        given = {name: (self[name].data or "").strip() for name in names}
        lines = [each.strip() for each in (self.deployments.data or "").splitlines() if each.strip()]
        return PlatformDetails(**given, deployments=lines, makes_teachers=bool(self.makes_teachers.data))
