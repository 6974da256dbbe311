"""The forms of classes and assignments. Times are in UTC."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import datetime

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    IntegerField,
    SelectField,
    StringField,
    TextAreaField,
    ValidationError,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import InputRequired, Length, NumberRange, Optional, Regexp
from wtforms.widgets import PasswordInput

from judge.packs.pack import Pack
from store.models import Assignment, Class, Counts
from store.models.classes import MEDALS
from web.accounts.forms import SignUpForm
from web.challenges.naming import check_slugs, read_slugs
from web.form_fields import UtcField
from web.formatting import as_utc

#: So many challenges may an assignment have.
MOST_CHALLENGES = 26


class ClassForm(FlaskForm):
    """Makes or changes a class."""

    title = StringField("Title", [InputRequired("Give it a title."), Length(max=100)])
    description = TextAreaField("Description, in Markdown", [Length(max=20_000)])

    def apply(self, group: Class) -> None:
        """Writes what the form says to the class."""
        group.title = (self.title.data or "").strip()
        group.description = (self.description.data or "").replace("\r\n", "\n")


class DeleteClassForm(FlaskForm):
    """Deletes a class, named once more."""

    confirm_title = StringField("Title of the class, to confirm", [InputRequired("Type the title of the class.")])


class JoinForm(FlaskForm):
    """Joins a class."""

    code = StringField(
        "Code of the class", [InputRequired("Enter the code that your teacher gave you."), Length(max=64)]
    )
    known_as = StringField(
        "Your name or number, as your teacher lists it",
        [
            InputRequired("Say who you are: the teacher sees it beside your user name."),
            Length(max=100),
            # A spreadsheet would take the others for the beginning of a formula.
            Regexp(r"^\s*[\w\"'(]", message="Begin with a letter or a digit."),
        ],
    )


class NewMemberForm(JoinForm, SignUpForm):
    """Makes an account that joins a class."""

    def keep_password(self) -> None:
        """Lets the page bring the password back: the same form is to be sent again."""
        self.password.widget = PasswordInput(hide_value=False)


class AssignmentForm(FlaskForm):
    """Makes or changes an assignment."""

    title = StringField("Title", [InputRequired("Give it a title."), Length(max=100)])
    challenges = StringField("Challenges", [InputRequired("Name at least one challenge.")])
    opens_at = UtcField("Opens, in UTC", [InputRequired("Say from when on submissions count.")])
    due_at = UtcField("Due, in UTC", [InputRequired("Say when it is due.")])
    counts = SelectField(
        "What counts",
        choices=[
            SelectChoice(Counts.ACCEPTED, "accepted"),
            *(SelectChoice(medal, f"accepted, with a {medal} medal or better") for medal in MEDALS),
            SelectChoice(Counts.ROOFLINE, "accepted, with a share of the roofline"),
            SelectChoice(Counts.BEST, "accepted, with a share of the best result's speed"),
        ],
    )
    least_percent = IntegerField(
        "Share, in percent", [Optional(), NumberRange(1, 100, "A share is from 1 to 100 percent.")], default=50
    )
    device = SelectField("Device", default="")
    shows_hints = BooleanField("The hints in the statements are shown before it is due", default=True)
    closes_solutions = BooleanField(
        "The solutions of its challenges are closed to everybody but teachers until it is due for all", default=True
    )

    def __init__(
        self, known: Mapping[str, Pack], devices: Collection[tuple[str, str]], *, earliest: datetime, **given: object
    ) -> None:
        super().__init__(**given)  # type: ignore[no-untyped-call]
        self._known, self._earliest = known, earliest
        self.device.choices = [SelectChoice("", "any"), *(SelectChoice(key, name) for key, name in devices)]

    @property
    def slugs(self) -> list[str]:
        """The challenges in their order, each once."""
        return read_slugs(self.challenges.data)

    def validate_challenges(self, _field: StringField) -> None:
        """Refuses names of no challenge, and says which are near."""
        check_slugs(self.slugs, self._known, most=MOST_CHALLENGES)

    def validate_opens_at(self, field: UtcField) -> None:
        """Refuses a time before the class: what members sent then is not the teacher's to see."""
        if field.data and as_utc(field.data) < self._earliest.replace(second=0, microsecond=0):
            raise ValidationError(f"Not before the class was made: {self._earliest:%Y-%m-%d %H:%M}.")

    def validate_due_at(self, field: UtcField) -> None:
        """Refuses a deadline before the opening."""
        if field.data and self.opens_at.data and field.data <= self.opens_at.data:
            raise ValidationError("The due date must be after the opening.")

    def validate_counts(self, field: SelectField) -> None:
        """Refuses a share that is not said, and medals of a challenge without any."""
        if field.data in (Counts.ROOFLINE, Counts.BEST) and self.least_percent.data is None:
            raise ValidationError("Say which share counts.")
        packs = [self._known[slug] for slug in self.slugs if slug in self._known]
        without = [pack.slug for pack in packs if pack.bench.medals is None and not pack.default_medals]
        if field.data in MEDALS and without:
            raise ValidationError(f"{without[0]} has no medals: choose what else counts.")

    def apply(self, assignment: Assignment) -> None:
        """Writes what the form says, but for the challenges, to the assignment."""
        assert self.opens_at.data is not None
        assert self.due_at.data is not None
        assignment.title = (self.title.data or "").strip()
        assignment.opens_at, assignment.due_at = as_utc(self.opens_at.data), as_utc(self.due_at.data)
        assignment.counts, assignment.least_percent = self.counts.data, self.least_percent.data or 0
        assignment.device_key = self.device.data or None
        assignment.shows_hints = bool(self.shows_hints.data)
        assignment.closes_solutions = bool(self.closes_solutions.data)


class ExtensionForm(FlaskForm):
    """Gives a member another deadline; without one, the assignment's."""

    username = StringField("User name", [InputRequired("Say who.")])
    due_at = UtcField("Due, in UTC; empty: the deadline of all", [Optional()])
