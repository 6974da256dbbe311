"""Defines the settings that the website and the workers share: data, database, broker, leases, packs, engine.

An entry point makes the frozen object and passes it down. ``web.settings`` has the website's own settings and ``logs``
those of logging.

Each field is read from the environment variable ``GPUJUDGE_<FIELD>``, or else from ``gpujudge.toml``
(``store.operation.config_file``). Importing this module reads nothing, and making a
``Settings`` creates nothing on disk: ``prepare_data_dir`` does.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field, ValidationError, field_validator
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict, SettingsError
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from emulator.model import gpu_names
from judge.settings import JudgeSettings
from store.operation.config_file import apply_config
from store.operation.environment import PREFIX, SettingsProblem, check_names

AnySettings = TypeVar("AnySettings", bound=BaseSettings)


def builtin_packs() -> Path:
    """Returns the folder of the built-in challenges."""
    return Path(__file__).resolve().parent.parent / "challenges"


class Settings(BaseSettings):
    """The settings that the website and the workers share.

    ``database_url`` None selects SQLite in ``data_dir``; ``redis_url`` None selects a file-based broker there.
    ``pack_paths`` are folders of packs; those in the environment (separated by ``:``) and installed packages add to the
    built-in ones.
    A lease lasts ``lease_s``, and the worker extends it every ``heartbeat_s``. Workers poll the database every
    ``poll_s``, so that losing the broker only adds latency.
    """

    model_config = SettingsConfigDict(env_prefix="GPUJUDGE_", frozen=True, extra="ignore")

    data_dir: Path = Path("data")
    database_url: str | None = Field(default=None, examples=["postgresql://gpujudge:password@localhost/gpujudge"])
    redis_url: str | None = Field(default=None, examples=["redis://localhost:6379/0"])
    pack_paths: Annotated[tuple[Path, ...], NoDecode] = Field(
        default_factory=lambda: (builtin_packs(),), examples=["/srv/challenges"]
    )

    nvcc: Path | None = Field(default=None, examples=["/usr/local/cuda/bin/nvcc"])
    jail: Literal["required", "off"] = "required"
    #: What the workers of one machine share where they have data folders of their own; None: in ``data_dir``.
    locks_dir: Path | None = Field(default=None, examples=["/run/gpujudge"])
    emulator_threads: int | None = Field(default=None, ge=1, examples=[4])
    #: The GPU whose times the emulator models.
    emulator_gpu: str = "h200"
    #: How many configurations of an autotuned Triton kernel the emulator compiles and models, and for how long.
    autotune_configs: int = Field(default=8, ge=1, le=64)
    autotune_s: float = Field(default=10.0, ge=0)
    #: What Triton submissions on a GPU have of the PyTorch that is installed there.
    pytorch: Literal["off", "tensors", "functions"] = "off"
    #: How many runners wait for submissions; None selects the default of the device kind.
    warm_runners: int | None = Field(default=None, ge=0, le=16, examples=[2])

    lease_s: float = Field(default=30.0, gt=0)
    heartbeat_s: float = Field(default=8.0, gt=0)
    poll_s: float = Field(default=2.0, gt=0)
    sweep_s: float = Field(default=5.0, gt=0)
    #: How long a job waits for a worker to claim it before the sweeper rings again.
    ring_again_s: float = Field(default=10.0, gt=0)
    max_failures: int = Field(default=3, ge=1)
    #: After this many lost workers, a submission ends with IE.
    max_losses: int = Field(default=10, ge=1)
    #: The pause after the first failed attempt; it doubles with each further one.
    retry_s: float = Field(default=2.0, ge=0)
    #: A device whose workers have been silent for longer counts as away.
    device_seen_s: float = Field(default=60.0, gt=0)
    artifact_keep_s: float = Field(default=3600.0, ge=0)
    #: How long the jobs and the progress events of ended submissions are kept; their judgements are kept for ever.
    history_keep_s: float = Field(default=30 * 86400.0, ge=0)
    #: The least time between two audits of one board. Bounds the GPU time of audits if top entries change often.
    audit_pause_s: float = Field(default=600.0, ge=0)
    #: Whether the process checks on the emulator what GPUs accepted, when it has nothing else to do.
    rechecks: bool = True
    #: Whether contests' webhooks may go to addresses that are not on the public internet.
    webhook_private: bool = False
    #: How long a stopping worker waits for its job to stop before it hands the job back and exits.
    stop_grace_s: float = Field(default=8.0, ge=0)

    @field_validator("data_dir")
    @classmethod
    def _absolute(cls, value: Path) -> Path:
        return value.expanduser().resolve()

    @field_validator("pack_paths", mode="before")
    @classmethod
    def _split_paths(cls, value: Any) -> Any:
        if isinstance(value, str):
            given = (Path(part).expanduser() for part in value.split(os.pathsep) if part)
            return (builtin_packs(), *(path for path in given if path != builtin_packs()))
        return value

    @field_validator("emulator_gpu")
    @classmethod
    def _known_gpu(cls, value: str) -> str:
        if value not in gpu_names():
            raise ValueError(f"no GPU is known as {value!r}: there are {', '.join(gpu_names())}")
        return value

    @field_validator("redis_url")
    @classmethod
    def _known_broker(cls, value: str | None) -> str | None:
        if value is not None and not value.startswith(("redis://", "rediss://", "unix://")):
            raise ValueError("this is not an address of Redis: it begins with redis://, rediss:// or unix://")
        return value

    @field_validator("database_url")
    @classmethod
    def _known_database(cls, value: str | None) -> str | None:
        if value is None:
            return None
        try:
            url = normalised_url(value)
        except ArgumentError:
            raise ValueError("this is not an address of a database") from None
        if url.get_backend_name() not in {"sqlite", "postgresql"}:
            raise ValueError(
                f"{url.get_backend_name()} is not a database this runs on: use sqlite:/// or postgresql://"
            )
        return value

    @property
    def sqlalchemy_url(self) -> URL:
        """Returns the database URL, with its driver."""
        if self.database_url is None:
            return URL.create("sqlite", database=str(self.data_dir / "gpujudge.db"))
        return normalised_url(self.database_url)

    def judge_settings(self) -> JudgeSettings:
        """Returns the settings that the engine needs."""
        return JudgeSettings(
            data_dir=self.data_dir,
            nvcc=self.nvcc,
            jail=self.jail,
            emulator_threads=self.emulator_threads,
            emulator_gpu=self.emulator_gpu,
            autotune_configs=self.autotune_configs,
            autotune_s=self.autotune_s,
            pytorch=self.pytorch,
            locks_dir=self.locks_dir,
        )


def read_settings(kind: type[AnySettings], **given: Any) -> AnySettings:
    """Returns settings from the environment, and ``given`` in place of it. Raises SettingsProblem.

    It names each variable that is wrong or unknown, and an example of what to type.
    """
    apply_config(os.environ)
    check_names(os.environ)
    try:
        return kind(**given)
    except ValidationError as error:
        told = [_told(one["loc"], one["msg"].removeprefix("Value error, ")) for one in error.errors()]
        names = dict.fromkeys(str(one["loc"][0]) for one in error.errors() if one["loc"])
        remedy = "\n".join(f"For example: {example(kind, name)}" for name in names if name in kind.model_fields)
        raise SettingsProblem("; ".join(told), remedy) from None
    except SettingsError as error:
        found = re.search(r'field "(\w+)"', str(error))
        if found is None:
            raise
        name = found[1]
        raise SettingsProblem(
            f"{PREFIX}{name.upper()}: it is not JSON", f"For example: {example(kind, name)}"
        ) from None


def example(kind: type[BaseSettings], name: str) -> str:
    """Returns how a setting is given, as a shell takes it: with the value that it has by default, if it has one."""
    field: FieldInfo = kind.model_fields[name]
    value = field.examples[0] if field.examples else field.default
    text = str(value).lower() if isinstance(value, bool) else str(value)
    plain = re.fullmatch(r"[\w./:@+-]*", text)
    return f"{PREFIX}{name.upper()}={text if plain else f'{chr(39)}{text}{chr(39)}'}"


def _told(place: tuple[int | str, ...], message: str) -> str:
    """Returns the message about a setting, or a part of it. Messages about several settings name them themselves."""
    if not place:
        return message
    parts = (f"entry {part + 1}" if isinstance(part, int) else str(part) for part in place[1:])
    return ": ".join([f"{PREFIX}{str(place[0]).upper()}", *parts, message])


def normalised_url(text: str) -> URL:
    """Parses a database URL; ``postgres://`` and ``postgresql://`` get the driver psycopg 3."""
    url = make_url("postgresql" + text.removeprefix("postgres") if text.startswith("postgres://") else text)
    return url.set(drivername="postgresql+psycopg") if url.drivername == "postgresql" else url


def prepare_data_dir(settings: Settings) -> Path:
    """Creates the data folder if missing, readable only by its owner. Returns its path."""
    settings.data_dir.mkdir(mode=0o700, parents=True, exist_ok=True)
    return settings.data_dir
