"""Stores artifacts by digest, from the build worker to the device worker. They are small and short-lived."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import Artifact, Job
from store.upsert import upsert


def store_artifact(session: Session, digest: str, data: bytes, *, now: datetime) -> None:
    """Stores the artifact.

    If it is already stored, only its date is renewed, which also protects it from a concurrent purge.
    """
    values = {"digest": digest, "data": data, "last_built_at": now}
    session.execute(upsert(session, Artifact, values, ["digest"], {"last_built_at"}))


def load_artifact(session: Session, digest: str) -> bytes | None:
    """Returns the artifact's bytes, or None if it was purged."""
    return session.scalar(select(Artifact.data).where(Artifact.digest == digest))


def purge_artifacts(session: Session, *, now: datetime, keep_s: float) -> int:
    """Deletes artifacts that no unfinished job needs and that are older than ``keep_s`` seconds.

    Returns how many. A finished job no longer refers to its artifact.
    """
    needed = select(Job.id).where(Job.artifact_digest == Artifact.digest).exists()
    gone = session.execute(
        delete(Artifact)
        .where(Artifact.last_built_at < now - timedelta(seconds=keep_s), ~needed)
        .returning(Artifact.digest)
        .execution_options(synchronize_session=False)
    )
    return len(gone.all())
