"""The commands ``backup`` and ``restore``, for operators of a server."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import options, stack
from cli.commands.machine import load_settings
from cli.console import print_json, say
from cli.database import require_database
from cli.errors import CliError
from cli.extras import need

File = Annotated[Path, typer.Argument(metavar="FILE", help="The backup.", show_default=False)]


def backup(file: File, as_json: options.Json = False) -> None:
    """Write a backup of the server's database to FILE, while the server runs or stands.

    It has everything but GPUJUDGE_DATA_DIR/secret_key, which signs sessions. Only you can read it: it holds password
    hashes and the keys of second factors.
    """
    settings, errors = load_settings(), need("store.backup.errors", "server")
    require_database(settings)
    try:
        size_bytes = need("store.backup.files", "server").write_backup(settings, file)
    except errors.BackupError as error:
        raise CliError(error.message, hint=error.hint) from None
    say(f"wrote {file} ({size_bytes / 1e6:.1f} MB)")
    if as_json:
        print_json({"file": str(file), "size_bytes": size_bytes})


def restore(
    file: File,
    replace: Annotated[bool, typer.Option("--replace", help="Replace the data that is there.")] = False,
    as_json: options.Json = False,
) -> None:
    """Make the server's database what FILE holds, and bring it to this version's schema.

    Stop the website and the workers first. An SQLite database that is replaced is kept beside the new one.
    """
    settings, errors = load_settings(), need("store.backup.errors", "server")
    files = need("store.backup.files", "server")
    try:
        # Before anything is made: in the wrong folder, a misspelt file leaves nothing behind.
        files.check_backup(settings, file)
    except errors.BackupError as error:
        raise CliError(error.message, hint=error.hint) from None
    data_dir = need("store.settings", "server").prepare_data_dir(settings)
    with stack.lock_data_dir(data_dir, "Stop it, and try again."):
        try:
            kept = files.restore_backup(settings, file, replace=replace)
        except errors.BackupError as error:
            raise CliError(error.message, hint=error.hint) from None
        if kept is not None:
            say(f"the database that was there is now {kept}; delete it when you need it no more")
        stack.migrate_database(settings, say)
    say(f"restored {file}")
    if as_json:
        print_json({"file": str(file), "kept": None if kept is None else str(kept)})
