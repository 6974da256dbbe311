"""Makes the machine code that users asked to see, on build workers, when no submission waits to be built.

That of submissions comes before that of what users are writing.
"""

from __future__ import annotations

import structlog

from judge.compile.assembly import NotAssembled
from judge.compile.assembly_json import to_json
from judge.errors import InternalError
from store.assemblies import AssemblyLease, claim_assembly, fail_assembly, finish_assembly, refuse_assembly
from store.draft_assemblies import (
    NOT_MADE,
    DraftLease,
    claim_draft_assembly,
    finish_draft_assembly,
    refuse_draft_assembly,
)
from store.models import Submission
from workers.context import WorkerContext
from workers.packs import in_language

log = structlog.get_logger(__name__)


def assemble_one(context: WorkerContext) -> bool:
    """Makes the machine code of the oldest request. Returns False if there is none."""
    with context.sessions.begin() as session:
        lease = claim_assembly(session, now=context.clock(), lacking=context.lacking)
    if lease is None:
        return False
    with structlog.contextvars.bound_contextvars(submission=lease.submission_id, arch=lease.arch):
        try:
            _assemble(context, lease)
        except InternalError as error:
            log.error("assembly.failed", error=str(error))
            context.persist(lambda session: fail_assembly(session, lease, now=context.clock()))
        except Exception:
            log.exception("assembly.crashed")
            context.persist(lambda session: fail_assembly(session, lease, now=context.clock()))
    return True


def _assemble(context: WorkerContext, lease: AssemblyLease) -> None:
    with context.reads() as session:
        submission = session.get_one(Submission, lease.submission_id)
        source = submission.source_bytes
        challenge, digest, language = submission.challenge, submission.pack_digest, submission.language
    pack = in_language(context.packs.find(challenge, digest), language)
    made = context.judge.assemble(source, pack, lease.arch)
    now = context.clock()
    if isinstance(made, NotAssembled):
        context.persist(lambda session: refuse_assembly(session, lease, made.log, now=now))
    else:
        content = to_json(made)
        context.persist(lambda session: finish_assembly(session, lease, content, now=now))
    log.info("assembly.made")


def assemble_draft_one(context: WorkerContext) -> bool:
    """Makes the machine code of the text that waits longest. Returns False if there is none."""
    with context.sessions.begin() as session:
        lease = claim_draft_assembly(session, now=context.clock(), lacking=context.lacking)
    if lease is None:
        return False
    with structlog.contextvars.bound_contextvars(challenge=lease.wanted.challenge, arch=lease.wanted.arch):
        try:
            _assemble_draft(context, lease)
        except Exception as error:
            if isinstance(error, InternalError):
                log.error("draft_assembly.failed", error=str(error))
            else:
                log.exception("draft_assembly.crashed")
            context.persist(lambda session: refuse_draft_assembly(session, lease, NOT_MADE, now=context.clock()))
    return True


def _assemble_draft(context: WorkerContext, lease: DraftLease) -> None:
    wanted = lease.wanted
    pack = in_language(context.packs.find(wanted.challenge, wanted.pack_digest), wanted.language)
    made = context.judge.assemble(wanted.source, pack, wanted.arch)
    now = context.clock()
    if isinstance(made, NotAssembled):
        context.persist(lambda session: refuse_draft_assembly(session, lease, made.log, now=now))
    else:
        content = to_json(made)
        context.persist(lambda session: finish_draft_assembly(session, lease, content, now=now))
