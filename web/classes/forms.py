"""The forms of classes and assignments. Times are in UTC."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from datetime import datetime

from flask_wtf import FlaskForm
from flask_wtf.file import FileField, FileRequired
from wtforms import (
    BooleanField,
    FloatField,
    IntegerField,
    SelectField,
    StringField,
    TextAreaField,
    ValidationError,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import DataRequired, InputRequired, Length, NumberRange, Optional, Regexp
from wtforms.widgets import PasswordInput

from judge.packs.pack import Pack
from judge.packs.steps import has_plain_time
from judge.tracks.loader import builtin_tracks
from store.models import Assignment, Class, Counts, StaffRole, User
from store.models.classes import MEDALS
from store.teaching.points import Taken
from web.accounts.forms import SignUpForm
from web.challenges.naming import check_slugs, read_slugs
from web.form_fields import TypedForm, UtcField
from web.formatting import as_utc

#: The most challenges of an assignment.
MOST_CHALLENGES = 26


class ClassForm(FlaskForm):
    """Makes or changes a class."""

    title = StringField("Title", [InputRequired("Give it a title."), DataRequired("Give it a title."), Length(max=100)])
    description = TextAreaField("Description, in Markdown", [Length(max=20_000)])
    drops = IntegerField(
        "Assignments left out of each total", [Optional(), NumberRange(0, 50, "From 0 to 50.")], default=0
    )

    def apply(self, group: Class) -> None:
        """Writes the form's values to the class."""
        group.title = (self.title.data or "").strip()
        group.description = (self.description.data or "").replace("\r\n", "\n")
        group.drops = self.drops.data or 0


class StaffForm(TypedForm):
    """Makes somebody a teacher or an assistant of a class."""

    username = StringField("User name", [InputRequired("Say who."), Length(max=64)])
    role = SelectField("Role", choices=[SelectChoice(role, role) for role in (StaffRole.TEACHER, StaffRole.ASSISTANT)])
    section = SelectField("Section that they see", default="")

    def __init__(
        self, sections: Collection[str], *, find: Callable[[str], User | None], owner_id: int | None, **given: object
    ) -> None:
        super().__init__(**given)
        self._find, self._owner_id = find, owner_id
        self.section.choices = [SelectChoice("", "all"), *(SelectChoice(each, each) for each in sections)]

    def validate_username(self, field: StringField) -> None:
        """Refuses names of nobody, and the owner's."""
        user = self._find(field.data or "")
        if user is None or not user.is_active:
            raise ValidationError("Nobody has this user name. Ask the person for theirs.")
        if user.id == self._owner_id:
            raise ValidationError("This is the owner, who may do everything.")


class CopyForm(TypedForm):
    """Copies a class for another term."""

    title = StringField(
        "Title of the copy", [InputRequired("Give it a title."), DataRequired("Give it a title."), Length(max=100)]
    )
    opens_at = UtcField("Its first assignment opens, in UTC", [InputRequired("Say when.")])

    def __init__(self, *, earliest: datetime, **given: object) -> None:
        super().__init__(**given)
        self._earliest = earliest

    def validate_opens_at(self, field: UtcField) -> None:
        """Refuses the past, in which nobody could have sent anything."""
        if field.data and as_utc(field.data) < self._earliest.replace(second=0):
            raise ValidationError("This is in the past: the assignments of a copy open from now on.")

    def moment(self) -> datetime:
        """Returns when the first assignment opens."""
        assert self.opens_at.data is not None
        return as_utc(self.opens_at.data)


class DeleteClassForm(TypedForm):
    """Deletes a class, named once more."""

    confirm_title = StringField("Title of the class, to confirm", [InputRequired("Type the title of the class.")])

    def __init__(self, title: str, **given: object) -> None:
        super().__init__(**given)
        self._title = title

    def validate_confirm_title(self, field: StringField) -> None:
        """Refuses another title."""
        if (field.data or "").strip() != self._title:
            raise ValidationError(f"This is not the title. It is: {self._title}")


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


class AssignmentForm(TypedForm):
    """Makes or changes an assignment."""

    title = StringField("Title", [InputRequired("Give it a title."), DataRequired("Give it a title."), Length(max=100)])
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
            SelectChoice(Counts.PLAIN, "accepted, several times as fast as our plain kernel"),
            SelectChoice(Counts.GOAL, "accepted, with the goal of the challenge's track"),
        ],
    )
    least_percent = IntegerField(
        "Share, in percent", [Optional(), NumberRange(1, 100, "A share is from 1 to 100 percent.")], default=50
    )
    times = FloatField(
        "Times as fast as the plain kernel", [Optional(), NumberRange(0.1, 10_000, "From 0.1 to 10,000 times.")]
    )
    device = SelectField("Device", default="")
    points = FloatField("Points", [Optional(), NumberRange(0.01, 100_000, "From 0.01 to 100,000 points.")], default=100)
    weight = FloatField("Weight in the total", [Optional(), NumberRange(0, 1000, "From 0 to 1,000.")], default=1)
    accepted_percent = IntegerField(
        "Points for any accepted submission, in percent",
        [Optional(), NumberRange(0, 100, "A share is from 0 to 100 percent.")],
    )
    late_percent = IntegerField(
        "Taken off for each day late, in percent",
        [Optional(), NumberRange(0, 100, "A share is from 0 to 100 percent.")],
    )
    taken = SelectField(
        "Of several attempts",
        choices=[
            SelectChoice(Taken.BEST, "the one with the most points is graded"),
            SelectChoice(Taken.LATEST, "the last one before the deadline is graded"),
        ],
        default=Taken.BEST,
    )
    shows_hints = BooleanField("The hints in the statements are shown before it is due", default=True)
    closes_solutions = BooleanField(
        "The solutions of its challenges are closed to everybody but teachers until it is due for all", default=True
    )

    def __init__(
        self, known: Mapping[str, Pack], devices: Collection[tuple[str, str]], *, earliest: datetime, **given: object
    ) -> None:
        super().__init__(**given)
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
        """Refuses a target that is not said in full, or that some challenge cannot have."""
        if field.data in (Counts.ROOFLINE, Counts.BEST) and self.least_percent.data is None:
            raise ValidationError("Say which share counts.")
        if field.data == Counts.PLAIN and self.times.data is None:
            raise ValidationError("Say how many times as fast as the plain kernel.")
        lacks = {
            **dict.fromkeys(MEDALS, (_has_medals, "no medals")),
            Counts.PLAIN: (self._has_plain_time, "no known time of a plain kernel there"),
            Counts.GOAL: (_has_goal, "no goal: it is in no track"),
        }
        if field.data in lacks:
            has, lack = lacks[field.data]
            for pack in (self._known[slug] for slug in self.slugs if slug in self._known):
                if not has(pack):
                    raise ValidationError(f"{pack.slug} has {lack}: choose what else counts.")

    def _has_plain_time(self, pack: Pack) -> bool:
        return has_plain_time(pack, device=self.device.data or None)

    def apply(self, assignment: Assignment) -> None:
        """Writes the form's values, but for the challenges, to the assignment."""
        assert self.opens_at.data is not None
        assert self.due_at.data is not None
        assignment.title = (self.title.data or "").strip()
        assignment.opens_at, assignment.due_at = as_utc(self.opens_at.data), as_utc(self.due_at.data)
        assignment.counts, assignment.least_percent = self.counts.data, self.least_percent.data or 0
        if assignment.counts == Counts.PLAIN:
            assignment.least_percent = round(100 * (self.times.data or 1))
        assignment.points = self.points.data or 100.0
        assignment.weight = 1.0 if self.weight.data is None else self.weight.data
        assignment.accepted_percent = self.accepted_percent.data or 0
        assignment.late_percent = 100 if self.late_percent.data is None else self.late_percent.data
        assignment.taken = self.taken.data or Taken.BEST
        assignment.device_key = self.device.data or None
        assignment.shows_hints = bool(self.shows_hints.data)
        assignment.closes_solutions = bool(self.closes_solutions.data)


def _has_medals(pack: Pack) -> bool:
    return pack.bench.medals is not None or bool(pack.default_medals)


def _has_goal(pack: Pack) -> bool:
    return builtin_tracks().goal_of(pack.slug) is not None


class RosterForm(FlaskForm):
    """Takes a teacher's list."""

    file = FileField("CSV file", [FileRequired("Choose a file.")])


class ExtensionForm(TypedForm):
    """Gives members another deadline; without one, the assignment's."""

    usernames = StringField("User names", [Length(max=20_000)])
    section = SelectField("Section", default="")
    due_at = UtcField("Due, in UTC; empty: the deadline of all", [Optional()])

    def __init__(self, sections: Collection[str], known: Collection[str], **given: object) -> None:
        super().__init__(**given)
        self._known = known
        self.section.choices = [SelectChoice("", "none"), *(SelectChoice(each, each) for each in sections)]

    def validate_usernames(self, _field: StringField) -> None:
        """Refuses names of nobody in the class, and a form that names nobody."""
        if unknown := [name for name in self.names if name not in self._known]:
            raise ValidationError(f"Nobody in the class has these user names: {', '.join(unknown)[:300]}.")
        if not self.names and not self.section.data:
            raise ValidationError("Say who: user names, or a section.")

    @property
    def names(self) -> list[str]:
        """The user names, case-folded, each once."""
        return list(dict.fromkeys((self.usernames.data or "").replace(",", " ").casefold().split()))
