"""The website's settings: those shared with the workers, plus those of HTTP."""

from __future__ import annotations

import contextlib
import difflib
import os
import secrets
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator, model_validator

from store.settings import Settings, prepare_data_dir

#: A source of 256 KiB grows several times when it is encoded as JSON or as a form.
REQUEST_BYTES = 2 << 20
#: The server's processes, where there can be several, the threads of all of them, and the fewest of each.
_PROCESSES, _THREADS, _FEWEST_THREADS = 2, 64, 8


_OIDC = (
    '[{"key": "school", "title": "Our school", "issuer": "https://login.example.org", "client_id": "gpujudge", '
    '"client_secret": "secret"}]'
)


class OidcProvider(BaseModel):
    """An OpenID Connect issuer: ``key`` is its name in URLs, ``title`` that on buttons."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    key: str = Field(pattern=r"^[a-z][a-z0-9-]{0,30}$")
    title: str = Field(min_length=1, max_length=50)
    issuer: str = Field(pattern=r"^https?://")
    client_id: str
    client_secret: SecretStr


class SettingError(ValueError):
    """Raised for a setting that operators cannot change while the site runs, or a value that it cannot have."""


def check_rate(value: str) -> str:
    """Returns the rate. Raises ValueError for what is none."""
    import limits  # takes a while to import, and not every command needs it

    try:
        limits.parse_many(value)
    except ValueError:
        raise ValueError("write a rate such as “30 per minute; 500 per hour”") from None
    return value


class SiteSettings(BaseModel):
    """The settings that operators may change while the site runs. The environment gives what they are without that."""

    sign_up: Literal["open", "invitation", "closed"] = Field(
        default="open", description="Who may create an account: everybody, those with an invitation, or nobody."
    )
    email: Literal["off", "optional", "required"] = Field(
        default="optional",
        description="Whether users give an e-mail address: not at all, if they like, or before they submit.",
    )
    max_waiting: int = Field(
        default=100, ge=0, description="How many unfinished submissions a user may have; 0 allows any number."
    )
    submission_rate: str = Field(
        default="30 per minute; 500 per hour",
        max_length=200,
        description="How often a user may submit, such as “30 per minute; 500 per hour”.",
    )

    withhold_audited: Literal["new boards", "all boards", "no board"] = Field(
        default="new boards",
        description="On which boards an entry does not count as audited that is right by luck, as the emulator "
        "finds. New boards are those that began after there were such checks.",
    )

    profiles: Literal["operators", "teachers", "everybody"] = Field(
        default="operators",
        description="Who may have accepted submissions profiled by Nsight Compute, on workers whose machines have it. "
        "Under a profiler a submission is in a jail, without the further locks of other runs.",
    )

    @field_validator("submission_rate")
    @classmethod
    def _rate(cls, value: str) -> str:
        return check_rate(value)

    def changed(self, changes: Mapping[str, Any]) -> SiteSettings:
        """Returns the settings with these changes, without those that ``check_setting`` refuses.

        Another version may have stored them.
        """
        values = {name: getattr(self, name) for name in SiteSettings.model_fields}
        for name, value in changes.items():
            with contextlib.suppress(SettingError):
                values[name] = check_setting(name, value)
        return SiteSettings(**values)


def check_setting(name: str, value: Any) -> Any:
    """Returns the value that a setting takes from ``value``, which may be text. Raises SettingError."""
    check_setting_name(name)
    try:
        return getattr(SiteSettings(**{name: value}), name)
    except ValidationError as error:
        raise SettingError(error.errors()[0]["msg"].removeprefix("Value error, ")) from None


def check_setting_name(name: str) -> None:
    """Raises SettingError, with the nearest name, unless operators may change such a setting while the site runs."""
    names = site_setting_names()
    if name not in names:
        near = difflib.get_close_matches(name.casefold().replace("-", "_"), names, n=1, cutoff=0.5)
        asked = f"; do you mean {near[0]}?" if near else "."
        raise SettingError(
            f"{name} is not a setting that changes while the site runs{asked} There are: {', '.join(names)}"
        )


def site_setting_names() -> list[str]:
    """Returns the names of the settings that operators may change while the site runs."""
    return list(SiteSettings.model_fields)


class WebSettings(SiteSettings, Settings):
    """The website's settings, read from ``GPUJUDGE_<FIELD>``. Creating them writes nothing to disk.

    ``secret_key`` signs sessions; None selects the one in ``data_dir`` (see ``load_secret_key``).
    """

    secret_key: SecretStr | None = Field(default=None, examples=["$(openssl rand -hex 32)"])
    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    session_cookie_secure: bool = False
    #: The number of proxies in front of the server: this many X-Forwarded-* values are trusted.
    trusted_proxies: int = Field(default=0, ge=0)
    #: Attempts to log in per account; to log in, to sign up or to reset a password per IP address, behind which a whole
    #: class may sit; mails to one person. In Flask-Limiter's notation.
    log_in_rate: str = "10 per minute; 100 per hour"
    address_rate: str = "120 per minute; 1200 per hour"
    class_rate: str = "300 per minute; 2000 per hour"
    mail_rate: str = "5 per hour"
    #: What Prometheus sends as a bearer token; None: ``/metrics`` answers everybody.
    metrics_token: SecretStr | None = Field(default=None, examples=["$(openssl rand -hex 32)"])
    #: The threads of each server process: so many requests it answers at a time. None: ``threads``.
    web_threads: int | None = Field(default=None, ge=4, examples=[64])
    #: The server's processes, which share the connections among them. More than one count rates in Redis. None:
    #: ``processes``.
    web_processes: int | None = Field(default=None, ge=1, le=64, examples=[2])
    #: The open live streams of all users; who asks for one more is told to poll.
    max_streams: int = Field(default=4000, ge=1)

    #: ``smtp://user:password@host:587`` (STARTTLS) or ``smtps://``. None: mails are written to ``data_dir/mails``.
    smtp_url: SecretStr | None = Field(default=None, examples=["smtp://user:password@mail.example.org:587"])
    mail_from: str = "gpujudge <gpujudge@localhost>"
    #: Where users reach the site. Links in mails begin with it, since a request may name any host.
    public_url: str | None = Field(default=None, examples=["https://judge.example.org"])

    #: OpenID Connect issuers by which people sign in, as JSON: a list of objects with the fields of ``OidcProvider``.
    oidc: tuple[OidcProvider, ...] = Field(default=(), examples=[_OIDC])
    #: An OAuth app of GitHub, or of a GitHub Enterprise at another address.
    github_client_id: str | None = Field(default=None, examples=["Iv1.0123456789abcdef"])
    github_client_secret: SecretStr | None = Field(default=None, examples=["0123456789abcdef"])
    github_url: str = "https://github.com"

    @field_validator("oidc")
    @classmethod
    def _one_of_each(cls, value: tuple[OidcProvider, ...]) -> tuple[OidcProvider, ...]:
        keys = [one.key for one in value]
        if len(set(keys)) < len(keys) or "github" in keys:
            raise ValueError("give each issuer a key of its own, other than github")
        return value

    @field_validator("log_in_rate", "address_rate", "class_rate", "mail_rate")
    @classmethod
    def _rates(cls, value: str) -> str:
        return check_rate(value)

    @field_validator("smtp_url")
    @classmethod
    def _smtp(cls, value: SecretStr | None) -> SecretStr | None:
        if value is not None and urlsplit(value.get_secret_value()).scheme not in {"smtp", "smtps"}:
            raise ValueError("begin with smtp:// or smtps://")
        return value

    @field_validator("public_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value is not None and (urlsplit(value).scheme not in {"http", "https"} or not urlsplit(value).netloc):
            raise ValueError("give an address such as https://judge.example.org")
        return None if value is None else value.rstrip("/")

    @model_validator(mode="after")
    def _mails_need_an_address(self) -> Self:
        if self.smtp_url is not None and self.public_url is None:
            raise ValueError(
                "GPUJUDGE_SMTP_URL needs GPUJUDGE_PUBLIC_URL, the address that links in mails begin with, such as "
                "GPUJUDGE_PUBLIC_URL=https://judge.example.org"
            )
        return self

    @model_validator(mode="after")
    def _github_needs_both(self) -> Self:
        names = {
            "GPUJUDGE_GITHUB_CLIENT_ID": self.github_client_id,
            "GPUJUDGE_GITHUB_CLIENT_SECRET": self.github_client_secret,
        }
        missing = [name for name, value in names.items() if not value]
        if len(missing) == 1:
            (given,) = names.keys() - set(missing)
            raise ValueError(f"{given} needs {missing[0]}: set {missing[0]} to what GitHub shows for the app")
        return self

    @model_validator(mode="after")
    def _processes_count_together(self) -> Self:
        if self.processes > 1 and self.redis_url is None:
            raise ValueError(
                "GPUJUDGE_WEB_PROCESSES needs GPUJUDGE_REDIS_URL, where the processes count rates together, such as "
                "GPUJUDGE_REDIS_URL=redis://localhost:6379/0"
            )
        return self

    @property
    def processes(self) -> int:
        """Returns how many processes the server has: unless set, two with Redis and a second processor, else one."""
        if self.web_processes is not None:
            return self.web_processes
        return 1 if self.redis_url is None else min(_PROCESSES, len(os.sched_getaffinity(0)))

    @property
    def threads(self) -> int:
        """Returns how many threads each process has.

        Each may hold a connection, and PostgreSQL allows 100 unless its settings say otherwise.
        """
        return self.web_threads if self.web_threads is not None else max(_FEWEST_THREADS, _THREADS // self.processes)

    @property
    def site_url(self) -> str:
        """Returns the site's address, as far as the settings know it."""
        return self.public_url or f"http://{self.host}:{self.port}"


def load_secret_key(settings: WebSettings) -> str:
    """Returns the key that signs sessions: the configured one, or that in ``data_dir/secret_key`` (mode 0600).

    Creates the file if it is missing. Processes that do so at the same time all get the same key: each links a complete
    file into place, and only one link succeeds.
    """
    if settings.secret_key is not None:
        return settings.secret_key.get_secret_value()
    path = prepare_data_dir(settings) / "secret_key"
    if not path.exists():
        handle, temporary = tempfile.mkstemp(prefix=".secret_key.", dir=settings.data_dir)  # mkstemp makes it 0600
        try:
            with os.fdopen(handle, "w") as file:
                file.write(secrets.token_urlsafe(48))
                file.flush()
                os.fsync(file.fileno())
            with contextlib.suppress(FileExistsError):
                os.link(temporary, path)
        finally:
            Path(temporary).unlink()
    return path.read_text().strip()
