"""The commands ``pull`` and ``push``: the draft that the website's editor keeps, and a file."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path
from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import Draft, read
from cli.api import Api
from cli.config import config_path, load_config, save_config
from cli.connect import connect
from cli.console import print_json, say
from cli.errors import CliError, UsageError
from cli.source import STDIN, file_of, parse_directive, read_content, read_source
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE


def pull(
    slug: options.Slug,
    file: Annotated[
        Path | None, typer.Argument(metavar="[FILE]", help="Where to, else SLUG.cu; - is stdout.", show_default=False)
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite a file that differs.")] = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Write your draft on the website for a challenge to a file."""
    with connect(server) as api:
        draft = _read(api, slug)
    if draft.version == 0:
        raise CliError(f"you have no draft for {slug}", hint=f"`gpujudge init {slug}` writes its starter.")
    suffix = BUILTIN_LANGUAGES.of(draft.language or DEFAULT_LANGUAGE).suffixes[0]
    path = Path(file_of(draft.challenge, suffix)) if file is None else file
    data = draft.source.encode("utf-8", "surrogateescape")
    if path == STDIN:
        if not as_json:
            sys.stdout.buffer.write(data)
            sys.stdout.buffer.flush()
    else:
        _write(path, data, force=force)
        _remember(api.server, draft)
        say(f"Wrote version {draft.version} to {path}. Back to the website: gpujudge push {path}")
    if as_json:
        print_json({**dataclasses.asdict(draft), "file": str(path)})


def push(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The .cu file; - is stdin.", show_default=False)],
    challenge: options.Challenge = None,
    force: Annotated[bool, typer.Option("--force", help="Save it above what is newer there.")] = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Save a file as your draft for its challenge on the website. The draft's history keeps the replaced text."""
    source = read_source(file, challenge=challenge or _challenge_of(file), device=None)
    with connect(server) as api:
        there = _read(api, source.challenge)
        known = load_config(config_path()).drafts.get(api.server, {}).get(there.challenge, 0)
        if there.version != known and not force and there.source != source.text():
            raise UsageError(
                f"the website has version {there.version} of this draft, and here it was version {known} last",
                hint=f"`gpujudge pull {there.challenge} -` prints it; --force saves yours above it.",
            )
        body = {"source": source.text(), "base": there.version}
        if source.language is not None:
            body["language"] = source.language
        saved = read(Draft, api.put(f"challenges/{quote(source.challenge, safe='')}/draft", body))
        _remember(api.server, saved)
    say(f"Saved as version {saved.version} of the draft for {saved.challenge}.")
    if as_json:
        print_json({"challenge": saved.challenge, "version": saved.version, "file": str(file)})


def _read(api: Api, slug: str) -> Draft:
    return read(Draft, api.get(f"challenges/{quote(slug, safe='')}/draft"))


def _challenge_of(file: Path) -> str | None:
    """Returns the challenge that the file's line names; without such a line the file's name, as ``pull`` gives it."""
    return None if file == STDIN else parse_directive(read_content(file)).get("challenge") or file.stem


def _write(path: Path, data: bytes, *, force: bool) -> None:
    """Writes a file. Raises UsageError if another one is there, or it cannot be written."""
    try:
        if path.exists() and not force and path.read_bytes() != data:
            raise UsageError(f"{path} would be overwritten, and it differs", hint="--force overwrites.")
        path.write_bytes(data)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None


def _remember(server: str, draft: Draft) -> None:
    """Keeps which version is here, so that a push does not go over a newer one unseen."""
    path = config_path()
    config = load_config(path)
    versions = {**config.drafts.get(server, {}), draft.challenge: draft.version}
    try:
        save_config(path, dataclasses.replace(config, drafts={**config.drafts, server: versions}))
    except CliError as error:
        say(f"warning: {error.message}: the next push will ask for --force")
