"""Opens the server's database for the commands that operators use on its machine."""

from __future__ import annotations

import getpass
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from cli.errors import CliError, NewerDatabase
from cli.extras import need

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from store.operation.operator_log import Actor
    from web.settings import WebSettings


@contextmanager
def server_database(settings: WebSettings) -> Iterator[Session]:
    """A transaction on the server's database. Raises CliError unless it is there with this version's schema."""
    require_database(settings)
    database, migrate = need("store.database", "server"), need("store.migrate", "server")
    engine = database.make_engine(settings)
    try:
        revision = migrate.current_revision(engine)
        state = migrate.schema_state(revision)
        if state is migrate.SchemaState.NEWER:
            raise NewerDatabase
        if revision is None:
            where = settings.sqlalchemy_url.render_as_string(hide_password=True)
            raise CliError(f"the database {where} has no tables of gpujudge", hint=_say_which(settings))
        if state is not migrate.SchemaState.CURRENT:
            raise CliError("the database has the schema of an older version", hint="Run: gpujudge db upgrade")
        with database.make_session_factory(engine).begin() as session:
            yield session
    finally:
        engine.dispose()


def require_database(settings: WebSettings) -> None:
    """Raises CliError if the server's database is a file that is not there. Creates nothing."""
    url = settings.sqlalchemy_url
    if url.get_backend_name() == "sqlite" and url.database and not Path(url.database).exists():
        where = f"no database in {settings.data_dir}" if settings.database_url is None else f"no file {url.database}"
        raise CliError(f"there is {where}", hint=_say_which(settings))


def _say_which(settings: WebSettings) -> str:
    """Returns how to name another database, and how a new one is made."""
    if settings.database_url is None:
        right = "Name the data folder of your server: GPUJUDGE_DATA_DIR=/its/data/folder gpujudge ..."
    else:
        right = "GPUJUDGE_DATABASE_URL names the database. Correct it, or unset it for the one in GPUJUDGE_DATA_DIR."
    return f"{right}\nFor a new server, `gpujudge up` or `gpujudge db upgrade` makes it."


def command_actor() -> Actor:
    """Returns who uses this command, for the operators' log."""
    actor: Actor = need("store.operation.operator_log", "server").Actor(f"{getpass.getuser()} at {platform.node()}")
    return actor


def ring_builders(settings: WebSettings) -> None:
    """Wakes a build worker after the commit. Without a broker that answers, workers find what waits by themselves."""
    doorbell = need("store.queue.doorbell", "server")
    doorbell.ring_queue(doorbell.make_doorbell(settings), need("store.queue.queues", "server").BUILD_QUEUE)
