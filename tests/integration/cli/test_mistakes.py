"""An operator's mistakes, and the message that each must give: what is wrong, and what to type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner

from cli.app import app

#: What is typed, settings first, then a part of the message and of what to do about it.
TABLE = """
user role nobody operator | there is no user nobody | gpujudge user list TEXT finds users
user role ada oprator | 'oprator' is not one of | 'operator'
user suspend nobody --reason spam | there is no user nobody | gpujudge user list
user suspend nobody | Missing option | --reason
user restore nobody | there is no user nobody | gpujudge user list
user reset nobody | there is no user nobody | gpujudge user list
user merge ada bob --yes | there is no user ada | gpujudge user list
admin setting set sign_upp closed | sign_upp is not a setting that changes | do you mean sign_up?
admin setting set sign_up maybe | sign_up | 'open', 'invitation' or 'closed'
admin setting set submission_rate often | submission_rate | write a rate such as
admin setting set zzz 1 | zzz is not a setting that changes | There are: sign_up
admin setting reset sign_upp | sign_upp is not a setting that changes | do you mean sign_up?
admin device hold nothing broken | no worker has offered a device nothing | gpujudge admin device list
admin device release nothing | no worker has offered a device nothing | gpujudge admin device list
admin challenge rejudge vector-ad new | did you mean vector-add | gpujudge admin challenge list
admin submission cancel aaaaaaaaaaaa | no submission aaaaaaaaaaaa | gpujudge admin submission list
admin submission rejudge aaaaaaaaaaaa wrong | no submission aaaaaaaaaaaa | gpujudge admin submission list
admin submission off-board aaaaaaaaaaaa copied | no submission aaaaaaaaaaaa | gpujudge admin submission list
admin notice end 7 | there is no notice 7 | gpujudge admin notice list
admin notice post | Missing argument | gpujudge admin notice post -h
audit vector-ad --device emulator | there is no challenge 'vector-ad' | did you mean vector-add
audit vector-add --device nothing | unknown device 'nothing' | this machine has emulator
worker bild | there is no worker 'bild' | build, device, sweeper
worker device | --device | device
backup /nowhere/x.backup | there is no folder /nowhere | mkdir -p /nowhere
backup text | text exists already | Name a new file
restore nothing.backup | cannot read nothing.backup | No such file
restore text | text is not a backup | gpujudge backup
db upgrad | No such command | upgrad
GPUJUDGE_SIGNUP=closed user list | there is no setting GPUJUDGE_SIGNUP | GPUJUDGE_SIGN_UP
GPUJUDGE_SIGN_UP=shut up | GPUJUDGE_SIGN_UP | GPUJUDGE_SIGN_UP=open
GPUJUDGE_DATABASE_URL=mysql://x user list | mysql is not a database this runs on | postgresql://
GPUJUDGE_REDIS_URL=http://x up | GPUJUDGE_REDIS_URL | redis://
GPUJUDGE_PORT=http up | GPUJUDGE_PORT | GPUJUDGE_PORT=8000
GPUJUDGE_SMTP_URL=smtp://mail up | needs GPUJUDGE_PUBLIC_URL | GPUJUDGE_PUBLIC_URL=https://
GPUJUDGE_PUBLIC_URL=judge.example.org up | GPUJUDGE_PUBLIC_URL | https://judge.example.org
"""
ROWS = [tuple(part.strip() for part in line.split("|")) for line in TABLE.strip().splitlines()]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder of a server whose database is empty, and a text."""
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("GPUJUDGE_")]:
            patch.delenv(name)
        folder = tmp_path_factory.mktemp("server")
        patch.chdir(folder)
        (folder / "text").write_text("no backup")
        assert CliRunner().invoke(app, ["db", "upgrade", "--no-packs"]).exit_code == 0
        yield folder


def test_the_table_has_thirty() -> None:
    assert len({typed for typed, *_ in ROWS}) >= 30


@pytest.mark.parametrize(("typed", "wrong", "to_do"), ROWS, ids=[row[0] for row in ROWS])
def test_a_mistake_is_told_with_what_to_do(server: Path, typed: str, wrong: str, to_do: str) -> None:
    before = sorted(path.name for path in server.iterdir())
    words = typed.split()
    settings = dict(word.split("=", 1) for word in words if word.startswith("GPUJUDGE_"))
    ended = CliRunner().invoke(app, [word for word in words if not word.startswith("GPUJUDGE_")], env=settings)
    assert ended.exit_code != 0
    error = ended.exception
    told = f"{ended.output} {getattr(error, 'message', '')} {getattr(error, 'hint', '')}"
    assert wrong in told
    assert to_do in told
    assert "Traceback" not in told
    assert sorted(path.name for path in server.iterdir()) == before, "nothing is left behind"
