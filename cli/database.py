"""Opens the server's database for the commands that operators use on its machine."""

from __future__ import annotations

import getpass
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from cli.errors import CliError, NewerDatabase
from cli.extras import need

if TYPE_CHECKING:
    from sqlalchemy.orm import Session

    from store.operator_log import Actor
    from web.settings import WebSettings


@contextmanager
def server_database(settings: WebSettings) -> Iterator[Session]:
    """A transaction on the server's database. Raises CliError unless it has this version's schema."""
    database, migrate = need("store.database", "server"), need("store.migrate", "server")
    engine = database.make_engine(settings)
    try:
        state = migrate.schema_state(migrate.current_revision(engine))
        if state is migrate.SchemaState.NEWER:
            raise NewerDatabase
        if state is not migrate.SchemaState.CURRENT:
            raise CliError("the database has not this version's schema", hint="Run: gpujudge db upgrade")
        with database.make_session_factory(engine).begin() as session:
            yield session
    finally:
        engine.dispose()


def command_actor() -> Actor:
    """Returns who uses this command, for the operators' log."""
    actor: Actor = need("store.operator_log", "server").Actor(f"{getpass.getuser()} at {platform.node()}")
    return actor


def ring_builders(settings: WebSettings) -> None:
    """Wakes a build worker after the commit. Without a broker that answers, workers find what waits by themselves."""
    doorbell = need("store.doorbell", "server")
    doorbell.ring_queue(doorbell.make_doorbell(settings), need("store.queues", "server").BUILD_QUEUE)
