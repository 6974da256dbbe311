"""What the compiler made, by digest, from the build worker to the device worker. Small and short-lived."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import Artifact, Job
from store.upsert import upsert


def store_artifact(session: Session, digest: str, data: bytes, *, now: datetime) -> None:
    """Keep the artifact. One that is there already is dated anew, which also keeps a purge at this instant off it."""
    values = {"digest": digest, "data": data, "last_built_at": now}
    session.execute(upsert(session, Artifact, values, ["digest"], {"last_built_at"}))


def load_artifact(session: Session, digest: str) -> bytes | None:
    """The artifact's bytes; None when it was purged."""
    return session.scalar(select(Artifact.data).where(Artifact.digest == digest))


def purge_artifacts(session: Session, *, now: datetime, keep_s: float) -> int:
    """Delete those that no job needs (a finished job lets go of its own), made ``keep_s`` ago or earlier."""
    needed = select(Job.id).where(Job.artifact_digest == Artifact.digest).exists()
    gone = session.execute(
        delete(Artifact)
        .where(Artifact.last_built_at < now - timedelta(seconds=keep_s), ~needed)
        .returning(Artifact.digest)
        .execution_options(synchronize_session=False)
    )
    return len(gone.all())
