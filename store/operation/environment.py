"""Knows every environment variable that begins with ``GPUJUDGE_``, and reports a misspelled one at the start.

A name that nothing reads would be ignored in silence, and leave open what it was to close. GPUJUDGE_IGNORE_UNKNOWN=1
starts all the same. Imports nothing that takes time: the command line checks names before each judgement.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping

PREFIX = "GPUJUDGE_"
#: The fields of the classes of settings: store, web, logs and logs.traces.
SETTINGS = frozenset(
    (
        "ADDRESS_RATE", "ARTIFACT_KEEP_S", "AUDIT_PAUSE_S", "AUTOTUNE_CONFIGS", "AUTOTUNE_S", "CLASS_RATE",
        "DATABASE_URL", "DATA_DIR", "DEVICE_SEEN_S", "EMAIL", "EMULATOR_GPU", "EMULATOR_THREADS", "GITHUB_CLIENT_ID",
        "GITHUB_CLIENT_SECRET", "GITHUB_URL", "HEARTBEAT_S", "HISTORY_KEEP_S", "HOST", "JAIL", "LEASE_S",
        "LOCKS_DIR", "LOG_FORMAT", "LOG_IN_RATE", "LOG_LEVEL", "MAIL_FROM", "MAIL_RATE", "MAX_FAILURES",
        "MAX_LOSSES", "MAX_STREAMS", "MAX_WAITING", "METRICS_TOKEN", "NVCC", "OIDC", "PACK_PATHS", "POLL_S",
        "PORT", "PROFILES", "PUBLIC_URL", "PYTORCH", "RECHECKS", "REDIS_URL", "RETRY_S", "RING_AGAIN_S", "SECRET_KEY",
        "SESSION_COOKIE_SECURE", "SIGN_UP", "SMTP_URL", "STOP_GRACE_S", "SUBMISSION_RATE", "SWEEP_S",
        "TRACES_URL", "TRUSTED_PROXIES", "WARM_RUNNERS", "WEBHOOK_PRIVATE", "WEB_PROCESSES", "WEB_THREADS",
        "WITHHOLD_AUDITED",
    )
)  # fmt: skip
#: What else is read: by the command line, the engine, the build, and docker-compose.yml.
OTHERS = frozenset(
    (
        "CONFIG", "IGNORE_UNKNOWN", "SERVER", "TOKEN", "TRACEBACK", "LIBRARY_CACHE", "LISTENER", "RECORDING", "NO_APT",
        "PLATFORM_WHEEL",
        "APPARMOR", "DB_PASSWORD", "DOMAIN", "GPU", "LISTEN", "WORKER_MEMORY",
    )
)  # fmt: skip
#: Names of tests begin so.
_TESTS = "TEST_"
#: How alike a misspelt name and the right one are at least, from 0 to 1.
_ALIKE = 0.6


class SettingsProblem(Exception):
    """Raised for settings that are wrong: ``message`` names each, ``remedy`` says what to type."""

    def __init__(self, message: str, remedy: str) -> None:
        super().__init__(f"{message}\n{remedy}")
        self.message, self.remedy = message, remedy


def check_names(environ: Mapping[str, str]) -> None:
    """Raises SettingsProblem for variables that nothing reads, each with the nearest name that there is."""
    # Settings are read whatever the case of their names.
    own = [name for name in environ if name.upper().startswith(PREFIX)]
    unknown = sorted(name for name in own if not _is_known(name.upper().removeprefix(PREFIX)))
    if not unknown or environ.get("GPUJUDGE_IGNORE_UNKNOWN", "").lower() in ("1", "true", "yes", "on"):
        return
    raise SettingsProblem(
        "; ".join(_told(name) for name in unknown),
        "Correct or unset it: docs/operators.md lists the settings. To start all the same: GPUJUDGE_IGNORE_UNKNOWN=1",
    )


def _is_known(stem: str) -> bool:
    return stem in SETTINGS or stem in OTHERS or stem.startswith(_TESTS)


def _told(name: str) -> str:
    near = nearest(name)
    return f"there is no setting {name}" + ("" if near is None else f": do you mean {near}?")


def nearest(name: str) -> str | None:
    """Returns the known name that is most like this one; None if none is."""
    # Where words begin is the likeliest mistake, and the prefix makes all names alike.
    joined = {stem.replace("_", ""): stem for stem in sorted(SETTINGS | OTHERS)}
    stem = name.upper().removeprefix(PREFIX).replace("_", "")
    found = difflib.get_close_matches(stem, joined, n=1, cutoff=_ALIKE)
    return f"{PREFIX}{joined[found[0]]}" if found else None
