"""The base install has Typer, Rich and httpx: every command must start with those alone, and say what else it needs."""

from __future__ import annotations

import subprocess
import sys

import pytest

#: Refuses everything that the base dependencies do not bring.
GUARD = """
import sys

class Refuse:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {
            "numpy", "flask", "sqlalchemy", "celery", "pydantic_settings", "llvmlite", "redis", "alembic", "structlog",
            "kombu", "zstandard", "gunicorn",
        }:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Refuse())
from cli.main import main
sys.argv = ["gpujudge", *sys.argv[1:]]
main()
"""


def _run(*argv: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", GUARD, *argv], capture_output=True, text=True, check=False, timeout=60)


def test_help_needs_the_base_install_only() -> None:
    done = _run("--help")
    assert done.returncode == 0, done.stderr
    for command in ("login", "submit", "judge", "emulate", "up", "doctor", "worker"):
        assert command in done.stdout


@pytest.mark.parametrize(
    ("argv", "extra"),
    [
        (("judge", __file__, "--challenge", "softmax"), "pipx install --force '.[judge]'"),
        (("emulate", "true"), "pipx install --force '.[emulator]'"),
        (("up",), "pipx install --force '.[server]'"),
        (("db", "upgrade"), "pipx install --force '.[server]'"),
        (("worker", "build"), "pipx install --force '.[server]'"),
    ],
)
def test_a_command_that_needs_more_names_the_extra(argv: tuple[str, ...], extra: str) -> None:
    done = _run(*argv)
    assert done.returncode == 2, done.stderr
    assert extra in done.stderr
    assert "Traceback" not in done.stderr
