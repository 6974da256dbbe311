"""Configures logging to stderr: one line per event, readable on a terminal and JSON elsewhere.

Only the entry points of the website and the workers import it.
"""

from __future__ import annotations

import logging
import sys
from typing import Literal

import structlog
from pydantic_settings import BaseSettings, SettingsConfigDict

#: Without local variables: their values include users' sources and database passwords.
_TRACEBACKS = structlog.processors.ExceptionRenderer(structlog.tracebacks.ExceptionDictTransformer(show_locals=False))


class LogSettings(BaseSettings):
    """Settings read from ``GPUJUDGE_LOG_…``. ``auto`` selects ``console`` on a terminal, else ``json``."""

    model_config = SettingsConfigDict(env_prefix="GPUJUDGE_", frozen=True, extra="ignore")

    log_format: Literal["auto", "console", "json"] = "auto"
    log_level: Literal["debug", "info", "warning", "error"] = "info"


def configure_logging(settings: LogSettings, *, process: str) -> None:
    """Sends structlog and standard loggers through one formatter. Each line names ``process``."""
    console = settings.log_format == "console" or (settings.log_format == "auto" and sys.stderr.isatty())
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.ExtraAdder(),
    ]
    rendering: list[structlog.types.Processor] = (
        [structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)]
        if console
        else [_TRACEBACKS, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=True,
    )
    structlog.contextvars.bind_contextvars(process=process)
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=shared,
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *rendering],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.log_level.upper())
    for chatty in ("celery", "kombu", "alembic"):
        logging.getLogger(chatty).setLevel(max(logging.WARNING, root.level))
