"""Environment variables: every name that is read is known, and an error says what to type."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from logs import LogSettings
from logs.traces import TraceSettings
from store.operation.environment import OTHERS, SETTINGS, SettingsProblem, check_names, nearest
from store.settings import Settings, example, read_settings
from web.settings import WebSettings

ROOT = Path(__file__).resolve().parents[4]
KINDS: tuple[type[BaseSettings], ...] = (Settings, WebSettings, LogSettings, TraceSettings)
_NAME = r"GPUJUDGE_[A-Z0-9]+(_[A-Z0-9]+)*"
FIELDS = [(kind, name) for kind in KINDS for name in kind.model_fields]


def test_the_settings_are_the_fields_of_their_classes() -> None:
    assert {name.upper() for _, name in FIELDS} == SETTINGS


def test_every_name_in_the_repository_is_known() -> None:
    """Those in the Compose file, units, scripts, documents and tests, too: whoever sets them must not be refused."""
    found = subprocess.run(
        ["git", "grep", "-hoIE", _NAME, "--", ".", ":!CHANGELOG.md", ":!*test_environment.py"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode not in (0, 1):
        pytest.skip("this is no clone")
    stems = {name.removeprefix("GPUJUDGE_") for name in found.stdout.split()}
    ours = {stem for stem in stems if not stem.startswith("TEST_")} - {"TEST", "LOG", "SIGNUP"}
    assert ours <= SETTINGS | OTHERS, "name it in store/operation/environment.py"


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("GPUJUDGE_SIGNUP", "GPUJUDGE_SIGN_UP"),
        ("GPUJUDGE_DATABASE", "GPUJUDGE_DATABASE_URL"),
        ("GPUJUDGE_DATADIR", "GPUJUDGE_DATA_DIR"),
        ("GPUJUDGE_PACKPATH", "GPUJUDGE_PACK_PATHS"),
        ("GPUJUDGE_REDIS", "GPUJUDGE_REDIS_URL"),
        ("gpujudge_signup", "GPUJUDGE_SIGN_UP"),
        ("GPUJUDGE_ZZZZZZ", None),
    ],
)
def test_the_nearest_name_is_told(typed: str, meant: str | None) -> None:
    assert nearest(typed) == meant
    with pytest.raises(SettingsProblem) as refused:
        check_names({typed: "closed", "PATH": "/bin"})
    assert typed in refused.value.message
    assert meant is None or f"do you mean {meant}?" in refused.value.message
    assert "GPUJUDGE_IGNORE_UNKNOWN=1" in refused.value.remedy
    check_names({typed: "closed", "GPUJUDGE_IGNORE_UNKNOWN": "1"})


def test_known_names_pass_whatever_their_case() -> None:
    check_names({"gpujudge_port": "1", "GPUJUDGE_TOKEN": "x", "GPUJUDGE_TEST_SEED": "1", "HOME": "/root"})


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=[f"{kind.__name__}-{name}" for kind, name in FIELDS])
def test_an_example_of_each_setting_is_one(
    kind: type[BaseSettings], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for other in SETTINGS:
        monkeypatch.delenv(f"GPUJUDGE_{other}", raising=False)
    text = example(kind, name)
    variable, _, value = text.partition("=")
    assert variable == f"GPUJUDGE_{name.upper()}"
    assert value.strip("'") not in ("", "None", "PydanticUndefined")
    monkeypatch.setenv(variable, value.strip("'"))
    for needed in ("public_url", "redis_url", "github_client_id", "github_client_secret"):
        if needed != name:
            monkeypatch.setenv(f"GPUJUDGE_{needed.upper()}", example(WebSettings, needed).partition("=")[2])
    made = read_settings(kind)
    assert getattr(made, name) is not None


@pytest.mark.parametrize(
    ("name", "value", "told", "typed"),
    [
        ("PORT", "many", "GPUJUDGE_PORT: Input should be a valid integer", "GPUJUDGE_PORT=8000"),
        ("PORT", "99999", "GPUJUDGE_PORT: Input should be less than or equal to 65535", "GPUJUDGE_PORT=8000"),
        ("SIGN_UP", "shut", "GPUJUDGE_SIGN_UP: Input should be 'open', 'invitation' or", "GPUJUDGE_SIGN_UP=open"),
        ("DATABASE_URL", "mysql://x", "GPUJUDGE_DATABASE_URL: mysql is not", "=postgresql://"),
        ("DATABASE_URL", "nonsense", "GPUJUDGE_DATABASE_URL: this is not an address of a database", "=postgresql://"),
        ("SMTP_URL", "mail.example.org", "GPUJUDGE_SMTP_URL: begin with smtp://", "=smtp://user:password@"),
        ("SMTP_URL", "smtp://mail.example.org", "GPUJUDGE_PUBLIC_URL=https://judge.example.org", ""),
        ("WEB_PROCESSES", "4", "GPUJUDGE_REDIS_URL=redis://localhost:6379/0", ""),
        ("GITHUB_CLIENT_ID", "x", "GPUJUDGE_GITHUB_CLIENT_ID needs GPUJUDGE_GITHUB_CLIENT_SECRET", ""),
        ("LOG_IN_RATE", "often", "GPUJUDGE_LOG_IN_RATE: write a rate", "GPUJUDGE_LOG_IN_RATE='10 per minute"),
        ("OIDC", "{", "GPUJUDGE_OIDC: it is not JSON", 'GPUJUDGE_OIDC=\'[{"key"'),
        ("OIDC", '[{"key": "uni"}]', "GPUJUDGE_OIDC: entry 1: issuer: Field required", 'GPUJUDGE_OIDC=\'[{"key"'),
        ("OIDC", '{"key": "uni"}', "GPUJUDGE_OIDC: Input should be", 'GPUJUDGE_OIDC=\'[{"key"'),
        ("JAIL", "maybe", "GPUJUDGE_JAIL: Input should be 'required' or 'off'", "GPUJUDGE_JAIL=required"),
        ("LEASE_S", "-1", "GPUJUDGE_LEASE_S: Input should be greater than 0", "GPUJUDGE_LEASE_S=30.0"),
    ],
)
def test_what_is_wrong_names_the_setting_and_what_to_type(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, told: str, typed: str
) -> None:
    for other in SETTINGS:
        monkeypatch.delenv(f"GPUJUDGE_{other}", raising=False)
    monkeypatch.setenv(f"GPUJUDGE_{name}", value)
    with pytest.raises(SettingsProblem) as refused:
        read_settings(WebSettings)
    assert told in refused.value.message
    assert typed in refused.value.remedy
