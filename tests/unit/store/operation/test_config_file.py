"""Settings in ``gpujudge.toml``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from store.operation.config_file import apply_config, read_config
from store.operation.environment import SettingsProblem
from store.settings import Settings, read_settings
from web.settings import WebSettings


def write(folder: Path, text: str, name: str = "gpujudge.toml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_folder_without_a_file_changes_nothing(tmp_path: Path) -> None:
    environ = {"HOME": "/root"}
    assert apply_config(environ, tmp_path) == frozenset()
    assert environ == {"HOME": "/root"}


def test_values_become_variables_unless_the_environment_has_them(tmp_path: Path) -> None:
    write(tmp_path, 'sign_up = "closed"\nport = 8123\nlease_s = 12.5\nrechecks = false\n')
    environ = {"gpujudge_port": "9000"}
    assert apply_config(environ, tmp_path) == {"GPUJUDGE_SIGN_UP", "GPUJUDGE_LEASE_S", "GPUJUDGE_RECHECKS"}
    assert environ == {
        "gpujudge_port": "9000",
        "GPUJUDGE_SIGN_UP": "closed",
        "GPUJUDGE_LEASE_S": "12.5",
        "GPUJUDGE_RECHECKS": "false",
    }
    assert apply_config(environ, tmp_path) == frozenset()


def test_paths_are_relative_to_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    inside = tmp_path / "etc"
    inside.mkdir()
    write(inside, 'data_dir = "data"\npack_paths = ["packs", "/srv/more"]\n', "site.toml")
    environ = {"GPUJUDGE_CONFIG": "etc/site.toml"}
    apply_config(environ, tmp_path)
    assert environ["GPUJUDGE_DATA_DIR"] == str(inside / "data")
    assert environ["GPUJUDGE_PACK_PATHS"] == f"{inside / 'packs'}:/srv/more"
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(tmp_path)
    assert read_settings(Settings).pack_paths[1:] == (inside / "packs", Path("/srv/more"))


def test_providers_are_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    provider = {"key": "school", "title": "School", "issuer": "https://a.b", "client_id": "c", "client_secret": "d"}
    body = "\n".join(f"{name} = {json.dumps(value)}" for name, value in provider.items())
    write(tmp_path, f'public_url = "https://judge.example.org"\n[[oidc]]\n{body}\n')
    monkeypatch.chdir(tmp_path)
    # What reading sets in the environment is taken back after the test.
    for name in ("GPUJUDGE_OIDC", "GPUJUDGE_PUBLIC_URL"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    (found,) = read_settings(WebSettings).oidc
    assert (found.key, found.client_secret.get_secret_value()) == ("school", "d")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('signup = "closed"', "there is no setting signup: do you mean sign_up?"),
        ('token = "x"', "there is no setting token"),
        ("port = [", "at "),
        ("[web]\nport = 1", "there is no setting web"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, said: str) -> None:
    file = write(tmp_path, text)
    with pytest.raises(SettingsProblem, match=said) as refused:
        read_config(file)
    assert str(file) in refused.value.message
    assert refused.value.remedy


def test_a_named_file_that_is_missing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(SettingsProblem, match="GPUJUDGE_CONFIG: there is no file"):
        apply_config({"GPUJUDGE_CONFIG": "none.toml"}, tmp_path)
