"""The commands ``class pack`` and ``contest pack``: own challenges of a class or a contest on a server."""

from __future__ import annotations

import base64
import io
import tarfile
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import items_of, read
from cli.api import Api
from cli.connect import connect
from cli.console import print_answer, print_json, print_table, print_text, say
from cli.errors import FAILED, CliError, UsageError
from cli.teaching_answers import OwnPack

Owner = Annotated[
    str,
    typer.Argument(metavar="OWNER", help="The class's number, or the contest's name.", show_default=False),
]
Archive = Annotated[
    Path, typer.Argument(metavar="FOLDER", help="A challenge's folder, or a zip, tar or tar.gz.", show_default=False)
]
Challenge = Annotated[
    str, typer.Argument(metavar="CHALLENGE", help="Its short name, as `pack list` says.", show_default=False)
]
Wait = Annotated[bool, typer.Option("--wait/--no-wait", help="Wait until it is verified, and print what was found.")]
#: How long the command sleeps between two looks at a verification, which takes minutes.
_POLL_S = 3.0


def commands(kind: str) -> typer.Typer:
    """Returns the commands for the own challenges of ``classes`` or ``contests``."""
    owner = "class" if kind == "classes" else "contest"
    app = typer.Typer(help=f"Own challenges of a {owner}, which its members alone see.", no_args_is_help=True)

    def list_(of: Owner, server: options.Server = None, as_json: options.Json = False) -> None:
        with connect(server) as api:
            listed = items_of(api.get(_path(kind, of)), "challenges")
        if as_json:
            print_json({"challenges": listed})
            return
        found = [read(OwnPack, item) for item in listed]
        print_table(
            ("challenge", "title", "version", "state", "findings"),
            ((one.challenge, one.title, one.version, _state(one), len(one.findings)) for one in found),
            right=("findings",),
        )

    def report(of: Owner, challenge: Challenge, server: options.Server = None, as_json: options.Json = False) -> None:
        with connect(server) as api:
            found, answer = _find(api, kind, of, challenge)
        if as_json:
            print_json(answer)
        else:
            _print_report(found)

    def upload(
        of: Owner, archive: Archive, wait: Wait = True, server: options.Server = None, as_json: options.Json = False
    ) -> None:
        name, data = _read_archive(archive)
        with connect(server) as api:
            answer = api.post(_path(kind, of), {"name": name, "archive": base64.b64encode(data).decode()})
            found = read(OwnPack, answer)
            say(f"{found.challenge} is uploaded. It is being verified, which takes some minutes.")
            progress = found.progress
            while wait and found.waits:
                api.sleep(_POLL_S)
                found, answer = _find(api, kind, of, found.challenge)
                if found.progress and found.progress != progress:
                    say(found.progress)
                    progress = found.progress
        if as_json:
            print_json(answer)
        elif wait:
            _print_report(found)
        if wait and not found.accepted:
            raise CliError(f"{found.challenge} is refused: nothing changes for members", exit_code=FAILED)

    def delete(of: Owner, challenge: Challenge, server: options.Server = None, as_json: options.Json = False) -> None:
        with connect(server) as api:
            answer = api.delete(f"{_path(kind, of)}/{quote(challenge, safe='')}")
        print_answer(answer, f"Deleted {challenge}. Submissions stay with those who sent them.", as_json=as_json)

    app.command("list", help=f"List the own challenges of a {owner}, and how each stands.")(list_)
    app.command("report", help="Print what the last verification of an own challenge found.")(report)
    app.command("upload", help="Upload a challenge; once it is accepted, it replaces one of its name.")(upload)
    app.command("delete", help="Delete an own challenge that nothing names any more.")(delete)
    return app


def _find(api: Api, kind: str, of: str, challenge: str) -> tuple[OwnPack, dict[str, object]]:
    for item in items_of(api.get(_path(kind, of)), "challenges"):
        if item["challenge"] == challenge:
            return read(OwnPack, item), item
    raise UsageError(f"there is no own challenge {challenge}", hint="`pack list` has their short names.")


def _read_archive(path: Path) -> tuple[str, bytes]:
    """Returns the name and the contents of an archive, which is made of a folder. Raises UsageError."""
    try:
        if not path.is_dir():
            return path.name, path.read_bytes()
        name, packed = path.resolve().name, io.BytesIO()
        with tarfile.open(fileobj=packed, mode="w:gz") as archive:
            archive.add(path, name, filter=lambda each: None if "__pycache__" in each.name else each)
        return f"{name}.tar.gz", packed.getvalue()
    except OSError as error:
        raise UsageError(f"cannot read {path}: {error.strerror}") from None


def _print_report(pack: OwnPack) -> None:
    say(f"{pack.challenge}: {_state(pack)}")
    for each in pack.findings:
        print_text(f"{each.severity}: {f'{each.where}: ' if each.where else ''}{each.message}")


def _state(pack: OwnPack) -> str:
    if pack.waits:
        return f"being verified: {pack.progress}" if pack.progress else "waits to be verified"
    return "accepted" if pack.accepted else "refused"


def _path(kind: str, of: str) -> str:
    return f"{kind}/{quote(of, safe='')}/challenges"
