"""Runs build jobs: compiles sources for any device. Needs nvcc but no GPU."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from sqlalchemy.orm import Session

from store.models import Submission
from store.packs import keep_contents
from store.queue.jobs import Stage, finish_build, finish_judged
from store.reports import recorded_device
from workers.attempt import Finish, attempt_one, held_job
from workers.context import WorkerContext
from workers.heartbeat import LeaseWatch

if TYPE_CHECKING:
    from judge.packs.pack import Pack


def build_one(context: WorkerContext, *, rung_before: datetime | None = None) -> bool:
    """Builds the oldest queued submission. Returns False if there is none.

    If it does not compile, judges it CE.
    """
    return attempt_one(context, Stage.BUILD, _build, rung_before=rung_before, lacking=context.lacking) is not None


def _build(context: WorkerContext, watch: LeaseWatch) -> Finish:
    lease = watch.lease
    with context.reads() as session:
        job = held_job(session, lease)
        submission = session.get_one(Submission, lease.submission_id)
        source = submission.source_bytes
        device = recorded_device(session, job.device_key)
    pack = context.pack_for(job, submission)
    contents = context.new_contents(pack)
    # A language that looks ahead at launches has to know the input that the run is on.
    custom = submission.custom_input
    judged = pack if custom is None else context.judge.with_custom_case(pack, custom, device)
    report, artifact = context.judge.build(source, judged, device)
    if artifact is None:
        judgement = context.judge.compile_error(report, pack, device)
    else:
        digest, data = artifact.digest, artifact.to_bytes()

    def finish(session: Session) -> bool:
        now = context.clock()
        if artifact is None:
            finished = finish_judged(session, lease, judgement, now=now)
        else:
            finished = finish_build(session, lease, digest=digest, data=data, report=report, now=now)
        if finished and pack.digest != submission.pack_digest:
            _record_pack(session, lease.submission_id, pack)
        if contents is not None:
            keep_contents(session, pack, contents, now=now)
        return finished

    return finish


def _record_pack(session: Session, submission_id: int, pack: Pack) -> None:
    """Records the pack that judges the submission: it may have been updated after the submission arrived."""
    submission = session.get_one(Submission, submission_id)
    submission.pack_digest, submission.pack_version, submission.pack_major = pack.digest, pack.version, pack.major
