"""Keeps builds by the key of all that decides them, so that machines find each other's. The caller commits."""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy import delete, select
from sqlalchemy.orm import Session

from store.models import Artifact, Build
from store.queue.artifacts import store_artifact
from store.upsert import upsert


def store_build(
    session: Session, key: str, report: bytes, artifact: tuple[str, bytes] | None, *, now: datetime
) -> None:
    """Stores a build, with the digest and the bytes of its artifact. If it is already stored, only its date changes."""
    if artifact is not None:
        store_artifact(session, *artifact, now=now)
    values = {"key": key, "report": report, "artifact_digest": artifact and artifact[0], "built_at": now}
    session.execute(upsert(session, Build, values, ["key"], {"built_at"}))


def load_build(session: Session, key: str) -> tuple[bytes, bytes | None] | None:
    """Returns a build's report, and its artifact or None if it does not compile; None if there is no such build."""
    found = session.execute(
        select(Build.report, Artifact.data)
        .outerjoin(Artifact, Artifact.digest == Build.artifact_digest)
        .where(Build.key == key)
    ).one_or_none()
    return None if found is None else (found.report, found.data)


def purge_builds(session: Session, *, now: datetime, keep_s: float) -> None:
    """Deletes builds older than ``keep_s`` seconds. Those of a deleted artifact go with it."""
    old = delete(Build).where(Build.built_at < now - timedelta(seconds=keep_s))
    session.execute(old.execution_options(synchronize_session=False))
