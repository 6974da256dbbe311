"""The forms of the account pages."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import PasswordField, StringField
from wtforms.validators import EqualTo, InputRequired, Length, Regexp

from store.accounts import USERNAME

#: NIST SP 800-63B: require length, not character classes. The upper bound limits the cost of hashing.
PASSWORD = Length(min=8, max=256, message="A password has at least 8 characters.")


class SignUpForm(FlaskForm):
    """Creates an account."""

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
    """Logs in to an existing account."""

    username = StringField("User name", [InputRequired("Your user name."), Length(max=64)])
    password = PasswordField("Password", [InputRequired("Your password."), Length(max=256)])


class TokenForm(FlaskForm):
    """Creates an API token."""

    name = StringField("Name", [InputRequired("Say what it is for."), Length(max=100)])


class PasswordForm(FlaskForm):
    """Changes the password of the logged-in account."""

    current = PasswordField("Current password", [InputRequired("Your current password."), Length(max=256)])
    new = PasswordField("New password", [InputRequired("Choose a new password."), PASSWORD])
    again = PasswordField("New password, again", [EqualTo("new", message="The two are not the same.")])
