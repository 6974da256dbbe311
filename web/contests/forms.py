"""The form of a contest."""

from __future__ import annotations

import math
import re
import secrets
from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from urllib.parse import urlsplit

from flask_wtf import FlaskForm
from wtforms import (
    BooleanField,
    IntegerField,
    SelectField,
    SelectMultipleField,
    StringField,
    TextAreaField,
    ValidationError,
)
from wtforms.fields.choices import SelectChoice
from wtforms.validators import DataRequired, InputRequired, Length, NumberRange, Optional, Regexp

from store.models import Contest, Scoring
from store.people.addresses import addresses_of, is_public
from store.teaching.contests import Entry
from web.challenges.naming import check_slugs, read_slugs
from web.form_fields import TypedForm, UtcField
from web.formatting import as_utc

#: A target as it is typed, and its units in seconds.
_TARGET = re.compile(r"(?P<slug>[a-z0-9-]{1,100})=(?P<number>\d{1,9}(?:\.\d{1,9})?)(?P<unit>s|ms|us|µs|ns)", re.ASCII)
_UNITS = {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9}
#: The most challenges of a contest.
MOST_CHALLENGES = 26


class JoinForm(FlaskForm):
    """Takes part in a contest: with its code, and in a team, as far as the contest has them."""

    code = StringField("Code to join", [Length(max=64)])
    team_name = StringField("Name of a new team")
    team_code = StringField("or code of a team", [Length(max=32)])

    def entry(self) -> Entry:
        """Returns the entry that the form gives."""
        return Entry(self.code.data or "", self.team_name.data or "", self.team_code.data or "")


class ContestForm(TypedForm):
    """Makes or changes a contest. Times are in UTC."""

    title = StringField("Title", [InputRequired("Give it a title."), DataRequired("Give it a title."), Length(max=100)])
    slug = StringField(
        "Address",
        [
            InputRequired("Say how its address ends."),
            Regexp(r"^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$", message="Small letters, digits and dashes, at most 64."),
        ],
    )
    description = TextAreaField("Description, in Markdown", [Length(max=20_000)])
    challenges = StringField("Challenges", [InputRequired("Name at least one challenge.")])
    devices = SelectMultipleField("Devices", [InputRequired("Choose at least one device.")])
    starts_at = UtcField("Start, in UTC", [InputRequired("Say when it starts.")])
    ends_at = UtcField("End, in UTC", [InputRequired("Say when it ends.")])
    frozen_at = UtcField("Standings freeze, in UTC", [Optional()])
    scoring = SelectField(
        "Scoring",
        choices=[
            SelectChoice(Scoring.PLACES, "sum of places"),
            SelectChoice(Scoring.TIME, "challenges solved, then times relative to the best"),
            SelectChoice(Scoring.POINTS, "points: 100 × best time / own time"),
            SelectChoice(Scoring.TARGETS, "points: 100 × target / own time, at most 100"),
        ],
    )
    targets = StringField("Targets", [Length(max=2000)])
    code = StringField("Code to join", [Length(max=64)])
    team_size = IntegerField("Members of a team", [Optional(), NumberRange(2, 20, "A team has 2 to 20 members.")])
    webhook_url = StringField(
        "Address of a webhook",
        [
            Optional(),
            Length(max=500),
            Regexp(r"^https?://[^\s/?#@]+([/?]\S*)?$", message="Begin with https://, without a password."),
        ],
    )
    revealed = BooleanField("Show the frozen standings in full")
    opens_sources = BooleanField("After the end, members see each other's counted sources")
    closes_solutions = BooleanField(
        "From the start to the end, the solutions of its challenges are closed to everybody", default=True
    )

    hides_challenges = BooleanField("Until the start, its challenges are hidden from everybody but you and operators")

    def __init__(
        self,
        known: Collection[str],
        devices: Collection[tuple[str, str]],
        *,
        private_webhooks: bool,
        not_to_hide: Callable[[list[str]], Mapping[str, str]],
        now: datetime,
        **given: object,
    ) -> None:
        """``not_to_hide`` returns why some of the named challenges cannot be hidden, by name."""
        super().__init__(**given)
        self._known, self._private_webhooks = known, private_webhooks
        self._not_to_hide, self._now = not_to_hide, now
        self.devices.choices = list(devices)

    @property
    def slugs(self) -> list[str]:
        """The challenges in their order, each once."""
        return read_slugs(self.challenges.data)

    def validate_challenges(self, _field: StringField) -> None:
        """Refuses names of no challenge, and says which are near."""
        check_slugs(self.slugs, self._known, most=MOST_CHALLENGES)

    def target_times(self) -> dict[str, float]:
        """The targets in seconds, by challenge. Raises ValidationError for what is none."""
        found: dict[str, float] = {}
        for part in (self.targets.data or "").replace(",", " ").split():
            matched = _TARGET.fullmatch(part)
            if matched is None:
                raise ValidationError(
                    f"{part} is not a target. Write a challenge and a time, such as vector-add=120us."
                )
            if matched["slug"] not in self.slugs:
                raise ValidationError(f"{matched['slug']} is not one of this contest's challenges.")
            found[matched["slug"]] = float(matched["number"]) * _UNITS[matched["unit"]]
            if not 0 < found[matched["slug"]] < math.inf:
                raise ValidationError(f"{part} is not a target: the time must be more than 0.")
        return found

    def validate_targets(self, _field: StringField) -> None:
        """Refuses texts that are not targets, and a challenge without one where they are scored."""
        missing = [slug for slug in self.slugs if slug not in self.target_times()]
        if missing and self.scoring.data == Scoring.TARGETS:
            raise ValidationError(f"{missing[0]} needs a target, such as {missing[0]}=120us.")

    def validate_ends_at(self, field: UtcField) -> None:
        """Refuses an end before the start."""
        if field.data and self.starts_at.data and field.data <= self.starts_at.data:
            raise ValidationError("The end must be after the start.")

    def validate_hides_challenges(self, field: BooleanField) -> None:
        """Refuses to hide what users know."""
        if not field.data or self.starts_at.data is None or as_utc(self.starts_at.data) <= self._now:
            return
        for slug, reason in self._not_to_hide(self.slugs).items():
            raise ValidationError(f"{slug} cannot be hidden any more: {reason}.")

    def validate_webhook_url(self, field: StringField) -> None:
        """Refuses an address outside the public internet. A name that nobody knows now is tried when it is needed."""
        if not field.data or self._private_webhooks:
            return
        try:
            parts = urlsplit(field.data.strip())
            host, port = parts.hostname or "", parts.port or 443
        except ValueError:
            raise ValidationError("Not a valid address: its host or port is wrong.") from None
        try:
            found = addresses_of(host, port)
        except (OSError, ValueError):
            return
        if not all(map(is_public, found)):
            raise ValidationError(
                f"{host} is not on the public internet. An operator may allow private addresses: "
                "GPUJUDGE_WEBHOOK_PRIVATE=true."
            )

    def validate_frozen_at(self, field: UtcField) -> None:
        """Refuses a freeze outside of the contest."""
        begins, ends = self.starts_at.data, self.ends_at.data
        if field.data and begins and ends and not begins <= field.data <= ends:
            raise ValidationError("The freeze must be between the start and the end.")

    def apply(self, contest: Contest) -> None:
        """Writes the form's values, but for the challenges, to the contest."""
        contest.title, contest.slug = (self.title.data or "").strip(), self.slug.data or ""
        contest.description = (self.description.data or "").replace("\r\n", "\n")
        contest.devices = " ".join(self.devices.data or ())
        assert self.starts_at.data is not None
        assert self.ends_at.data is not None
        contest.starts_at, contest.ends_at = as_utc(self.starts_at.data), as_utc(self.ends_at.data)
        contest.frozen_at = None if self.frozen_at.data is None else as_utc(self.frozen_at.data)
        contest.scoring = self.scoring.data
        contest.team_size = self.team_size.data
        contest.code = (self.code.data or "").strip() or None
        contest.webhook_url = (self.webhook_url.data or "").strip() or None
        if contest.webhook_url is not None and contest.webhook_secret is None:
            contest.webhook_secret = secrets.token_hex(32)
        contest.revealed, contest.opens_sources = bool(self.revealed.data), bool(self.opens_sources.data)
        contest.closes_solutions = bool(self.closes_solutions.data)
        contest.hides_challenges = bool(self.hides_challenges.data)


def written_targets(targets: Mapping[str, float]) -> str:
    """Returns targets in seconds, by challenge, as the form takes them."""
    return " ".join(f"{slug}={_written(target_s)}" for slug, target_s in targets.items())


def _written(target_s: float) -> str:
    number, unit = (target_s * 1e6, "us") if abs(target_s) < 100 else (target_s, "s")
    return f"{number:.9f}".rstrip("0").rstrip(".") + unit
