"""Verifies uploaded packs, one at a time, in a thread beside a build worker's jobs.

A verification takes minutes, and jobs must not wait for it. It is a process with lower priority
(``workers.verify_upload``), which is ended at a limit and when the worker stops.
"""

from __future__ import annotations

import base64
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from functools import partial
from pathlib import Path
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError

from store.teaching.private_packs import (
    LOST,
    UploadLease,
    VerifiedPack,
    claim_upload,
    finish_upload,
    hand_back_upload,
    tell_progress,
)
from workers.context import WorkerContext

log = structlog.get_logger(__name__)

#: How long a verification may take, and how much longer its lease lasts.
_WALL_S, _SPARE_S = 1800.0, 60.0
_LOOK_S = 0.2


def start_verifying(context: WorkerContext) -> None:
    """Verifies uploads until the worker stops, in a thread of its own."""
    threading.Thread(target=_verify_for_ever, args=(context,), name="uploads", daemon=True).start()


def _verify_for_ever(context: WorkerContext) -> None:
    while not context.stopping.wait(context.settings.poll_s):
        try:
            while not context.stopping.is_set() and verify_upload_one(context):
                pass
        except SQLAlchemyError as error:
            log.warning("database.away", error=str(error))


def verify_upload_one(context: WorkerContext, *, wall_s: float = _WALL_S) -> bool:
    """Verifies the upload that waits longest. Returns False if none waits."""
    with context.sessions.begin() as session:
        lease = claim_upload(session, now=context.clock(), lease_s=wall_s + _SPARE_S)
    if lease is None:
        return False
    with structlog.contextvars.bound_contextvars(challenge=lease.slug):
        log.info("upload.claimed")
        found = _verify(context, lease, wall_s)
        if found is None:
            context.persist(lambda session: hand_back_upload(session, lease))
            return False
        findings, verified = found
        now = context.clock()
        if not context.persist(lambda session: finish_upload(session, lease, findings, verified, now=now)):
            log.warning("upload.lease_lost")
        log.info("upload.verified", accepted=verified is not None)
    return True


def _verify(
    context: WorkerContext, lease: UploadLease, wall_s: float
) -> tuple[list[dict[str, Any]], VerifiedPack | None] | None:
    """Returns the findings and what is to be served; None if the worker stops meanwhile."""
    with tempfile.TemporaryDirectory(prefix="gpujudge-upload-") as scratch:
        archive, given, output, errors = (Path(scratch) / name for name in ("upload.zip", "given", "found", "errors"))
        archive.write_bytes(lease.archive)
        given.write_text(json.dumps(context.settings.judge_settings().to_json()))
        command = [sys.executable, "-m", "workers.verify_upload", str(archive), lease.slug]
        home = Path(__file__).resolve().parents[1]
        with given.open("rb") as said, output.open("wb") as found, errors.open("wb") as told:
            process = subprocess.Popen(
                command,
                stdin=said,
                stdout=found,
                stderr=told,
                cwd=home,
                env=os.environ | {"TMPDIR": scratch},
                start_new_session=True,
            )
        until, last = time.monotonic() + wall_s, ""
        try:
            while process.poll() is None:
                if (progress := _progress(output)) != last:
                    last = progress
                    context.persist(partial(tell_progress, lease=lease, progress=progress))
                if time.monotonic() > until:
                    message = f"Its verification takes longer than {wall_s / 60:.0f} minutes: use smaller cases."
                    return [{"severity": "error", "where": "", "message": message}], None
                if context.stopping.wait(_LOOK_S):
                    return None
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.returncode:
            log.error("upload.crashed", code=process.returncode, errors=errors.read_text(errors="replace")[-2000:])
            return [LOST], None
        content = json.loads(output.read_text().splitlines()[-1])
    pack = content["pack"]
    if pack is None:
        return content["findings"], None
    served = VerifiedPack(pack["title"], pack["version"], pack["digest"], base64.b64decode(pack["contents"]))
    return content["findings"], served


def _progress(output: Path) -> str:
    """Returns the last progress that a verification printed; empty if there is none."""
    for line in reversed(output.read_text(errors="replace").splitlines()):
        with contextlib.suppress(ValueError):
            return str(json.loads(line).get("progress", ""))
    return ""
