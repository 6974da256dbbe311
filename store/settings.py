"""The settings of the server and its workers: one frozen object, made in an entry point and passed down.

Every field is read from the environment variable ``GPUJUDGE_<FIELD>``. Nothing here is read at import, and nothing is
created on disk by making a ``Settings``: ``prepare_data_dir`` and ``load_secret_key`` do that when they are called.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import tempfile
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict
from sqlalchemy.engine import URL, make_url

from emulator.model import gpu_names
from judge.settings import JudgeSettings


def builtin_packs() -> Path:
    """The folder of the challenges that come with gpujudge."""
    return Path(__file__).resolve().parent.parent / "challenges"


class Settings(BaseSettings):
    """``database_url`` None means SQLite in ``data_dir``; ``redis_url`` None means a broker of files in ``data_dir``.

    ``pack_paths`` (separated by ``:`` in the environment) are folders of packs; installed packages may bring more.
    ``lease_s`` is how long a worker may be silent before its job is given to another; it beats every ``heartbeat_s``.
    ``poll_s`` is how often a worker looks into the database by itself, so that losing the broker only adds latency.
    """

    model_config = SettingsConfigDict(env_prefix="GPUJUDGE_", frozen=True, extra="ignore")

    data_dir: Path = Path("data")
    database_url: str | None = None
    redis_url: str | None = None
    secret_key: SecretStr | None = None
    pack_paths: Annotated[tuple[Path, ...], NoDecode] = Field(default_factory=lambda: (builtin_packs(),))

    host: str = "127.0.0.1"
    port: int = Field(default=8000, ge=0, le=65535)
    session_cookie_secure: bool = False
    #: How many proxies stand before the server: so many X-Forwarded-* values are believed, none by default.
    trusted_proxies: int = Field(default=0, ge=0)
    #: Attempts to log in or sign up, per address; and submissions, per user. As Flask-Limiter writes rates.
    log_in_rate: str = "10 per minute; 100 per hour"
    submission_rate: str = "30 per minute; 500 per hour"
    #: The server's threads; each open page with live progress holds one, so only some of them may be held that way.
    web_threads: int = Field(default=64, ge=4)
    log_format: Literal["auto", "console", "json"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    nvcc: Path | None = None
    jail: Literal["required", "off"] = "required"
    emulator_threads: int | None = Field(default=None, ge=1)
    #: For which GPU the emulator models times.
    emulator_gpu: str = "h200"
    #: How many runners wait for submissions on a device; None: as many as its kind is served best by.
    warm_runners: int | None = Field(default=None, ge=0, le=16)

    lease_s: float = Field(default=30.0, gt=0)
    heartbeat_s: float = Field(default=8.0, gt=0)
    poll_s: float = Field(default=2.0, gt=0)
    sweep_s: float = Field(default=5.0, gt=0)
    #: How long the sweeper waits for somebody to pick a job up before it rings again.
    ring_again_s: float = Field(default=10.0, gt=0)
    max_failures: int = Field(default=3, ge=1)
    #: The pause after a failed attempt, doubled after the second.
    retry_s: float = Field(default=2.0, ge=0)
    #: A device whose workers have been silent for longer is not offered.
    device_seen_s: float = Field(default=60.0, gt=0)
    artifact_keep_s: float = Field(default=3600.0, ge=0)
    #: Between two audits of one board: it bounds what they take of a GPU, however often the first places change.
    audit_pause_s: float = Field(default=600.0, ge=0)
    #: How long a stopping worker may go on with its job before it hands it back.
    stop_grace_s: float = Field(default=8.0, ge=0)

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @field_validator("pack_paths", mode="before")
    @classmethod
    def _split_paths(cls, value: Any) -> Any:
        if isinstance(value, str):
            return tuple(Path(part).expanduser() for part in value.split(os.pathsep) if part)
        return value

    @field_validator("emulator_gpu")
    @classmethod
    def _known_gpu(cls, value: str) -> str:
        if value not in gpu_names():
            raise ValueError(f"no GPU is known as {value!r}: there are {', '.join(gpu_names())}")
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str | None) -> str | None:
        if value is None:
            return None
        url = normalised_url(value)
        if url.get_backend_name() not in {"sqlite", "postgresql"}:
            raise ValueError(
                f"{url.get_backend_name()} is not a database this runs on: use sqlite:/// or postgresql://"
            )
        return value

    @property
    def sqlalchemy_url(self) -> URL:
        """The URL of the database with its driver named."""
        if self.database_url is None:
            return URL.create("sqlite", database=str(self.data_dir / "gpujudge.db"))
        return normalised_url(self.database_url)

    def judge_settings(self) -> JudgeSettings:
        """What the engine needs of these."""
        return JudgeSettings(
            data_dir=self.data_dir,
            nvcc=self.nvcc,
            jail=self.jail,
            emulator_threads=self.emulator_threads,
            emulator_gpu=self.emulator_gpu,
        )


def normalised_url(text: str) -> URL:
    """``postgres://`` and ``postgresql://`` are taken for psycopg 3, as hosting services write them."""
    url = make_url("postgresql" + text.removeprefix("postgres") if text.startswith("postgres://") else text)
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def prepare_data_dir(settings: Settings) -> Path:
    """The data folder, made if it was not there, readable by its owner only when new."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return settings.data_dir


def load_secret_key(settings: Settings) -> str:
    """The key that signs sessions: the one set, or one made once and kept in ``data_dir/secret_key`` with mode 0600.

    Any number of processes may ask at once for the first time: all get the same key, since the whole file is linked
    into place and only one link can succeed.
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
