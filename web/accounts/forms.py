"""The forms of accounts."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import PasswordField, StringField
from wtforms.validators import EqualTo, InputRequired, Length, Regexp

from store.accounts import USERNAME

#: NIST SP 800-63B: length is what counts, no rules of composition. The upper bound keeps hashing cheap.
PASSWORD = Length(min=8, max=256, message="A password has at least 8 characters.")


class SignUpForm(FlaskForm):
    """A new account."""

    username = StringField(
        "User name",
        [
            InputRequired("Choose a user name."),
            Regexp(
                f"^(?:{USERNAME.pattern})$",
                message="2 to 32 letters, digits, dots, dashes or underscores, beginning with a letter or digit.",
            ),
        ],
    )
    password = PasswordField("Password", [InputRequired("Choose a password."), PASSWORD])


class LogInForm(FlaskForm):
    """An account that exists."""

    username = StringField("User name", [InputRequired("Your user name."), Length(max=64)])
    password = PasswordField("Password", [InputRequired("Your password."), Length(max=256)])


class TokenForm(FlaskForm):
    """A new API token."""

    name = StringField("Name", [InputRequired("Say what it is for."), Length(max=100)])


class PasswordForm(FlaskForm):
    """A new password for the account that is logged in."""

    current = PasswordField("Current password", [InputRequired("Your current password."), Length(max=256)])
    new = PasswordField("New password", [InputRequired("Choose a new password."), PASSWORD])
    again = PasswordField("New password, again", [EqualTo("new", message="The two are not the same.")])
