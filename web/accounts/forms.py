"""The forms of the account pages."""

from __future__ import annotations

from flask_wtf import FlaskForm
from wtforms import BooleanField, Field, HiddenField, PasswordField, SelectField, StringField, ValidationError
from wtforms.fields.choices import SelectChoice
from wtforms.validators import EqualTo, InputRequired, Length, Optional, Regexp

from store.models import Role
from store.people.email_addresses import address_fault
from store.people.names import USERNAME
from store.people.passwords import weakness
from web.accounts.visitor import signed_in
from web.form_fields import TypedForm

#: NIST SP 800-63B: require length, not character classes. The upper bound limits the cost of hashing.
PASSWORD = Length(min=8, max=256, message="A password has at least 8 characters.")


def email_field(label: str) -> StringField:
    """Returns a field for an e-mail address, which may be left empty."""
    return StringField(label, [Optional(), _check_address])


def _check_address(_form: FlaskForm, field: Field) -> None:
    """Refuses a wrong address. Raises ValidationError."""
    if (fault := address_fault(field.data or "")) is not None:
        raise ValidationError(f"{fault} Enter an address such as ada@example.org.")


def refuse_weak(field: Field, *, username: str) -> bool:
    """Returns whether the field's password is easy to guess, and says so at the field."""
    problem = weakness(field.data, username=username)
    if problem is not None:
        field.errors = (problem,)
    return problem is not None


def own_password() -> PasswordField:
    """Returns the field for the visitor's password, which accounts that sign in elsewhere have none of: "" then."""
    return PasswordField("Your password", [Length(max=256)], filters=[lambda given: given or ""])


class NameForm(FlaskForm):
    """Chooses a user name."""

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


class SignUpForm(NameForm):
    """Creates an account."""

    password = PasswordField("Password", [InputRequired("Choose a password."), PASSWORD])
    email = email_field("E-mail")
    invite = HiddenField()


class LogInForm(FlaskForm):
    """Logs in to an existing account."""

    username = StringField("User name", [InputRequired("Your user name."), Length(max=64)])
    password = PasswordField("Password", [InputRequired("Your password."), Length(max=256)])


class TokenForm(TypedForm):
    """Creates an API token."""

    name = StringField("Name", [InputRequired("Say what it is for."), Length(max=100)])
    scopes = SelectField(
        "It may", choices=[SelectChoice("read submit", "read and submit"), SelectChoice("read", "read only")]
    )
    expires = SelectField(
        "It expires",
        choices=[
            SelectChoice("30", "in 30 days"),
            SelectChoice("90", "in 90 days"),
            SelectChoice("365", "in a year"),
            SelectChoice("", "never"),
        ],
        default="90",
    )

    def __init__(self, **given: object) -> None:
        super().__init__(**given)
        visitor = signed_in()
        if visitor is not None and visitor.role.includes(Role.OPERATOR):
            admin = SelectChoice("read submit admin", "read, submit, and do what operators do")
            self.scopes.choices = [*self.scopes.choices, admin]


class PasswordForm(FlaskForm):
    """Changes the password of the logged-in account."""

    current = PasswordField("Current password", [InputRequired("Your current password."), Length(max=256)])
    new = PasswordField("New password", [InputRequired("Choose a new password."), PASSWORD])
    again = PasswordField("New password, again", [EqualTo("new", message="The two are not the same.")])
    revoke_tokens = BooleanField("Revoke my API tokens, too")


class ForgotForm(FlaskForm):
    """Asks for a link to reset a password. The field is called as in the log-in, so that limits count both alike."""

    username = StringField("User name or e-mail", [InputRequired("Your user name or e-mail address."), Length(max=254)])


class ResetForm(FlaskForm):
    """Sets a new password by a link."""

    new = PasswordField("New password", [InputRequired("Choose a new password."), PASSWORD])
    again = PasswordField("New password, again", [EqualTo("new", message="The two are not the same.")])
    revoke_tokens = BooleanField("Revoke my API tokens, too")


class EmailForm(FlaskForm):
    """Changes the e-mail address of the logged-in account."""

    email = email_field("E-mail")
    email_password = own_password()


class ConfirmForm(FlaskForm):
    """A button."""


class CodeForm(FlaskForm):
    """A code of an authenticator app, or a recovery code."""

    code = StringField("Code", [InputRequired("Type the code."), Length(max=40)])


class SecondFactorOffForm(FlaskForm):
    """Turns the second factor off."""

    factor_password = own_password()


class CloseForm(FlaskForm):
    """Closes the account for good."""

    confirm_name = StringField("Your user name, to be sure", [InputRequired("Type your user name.")])
    close_password = own_password()
