"""Audits a board: rebuilds its top entries and times them together on this worker's device."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from functools import partial
from typing import TYPE_CHECKING

import structlog

from judge.bench.library.record import LibraryTime
from judge.errors import Cancelled, InternalError
from judge.gpu.calibration import device_hash
from judge.judgement import BuildReport, DeviceInfo, Judgement
from judge.verdict import Verdict
from store.boards.audits import (
    AuditedBoard,
    AuditLease,
    Contender,
    claim_audit,
    contenders,
    fail_audit,
    finish_audit,
    hand_back_audit,
)
from store.boards.board_key import BoardKey
from workers.context import WorkerContext
from workers.gpu import DeviceService
from workers.libraries import record_libraries
from workers.packs import in_language

if TYPE_CHECKING:
    from judge.packs.pack import Pack

log = structlog.get_logger(__name__)

OnLibraries = Callable[[WorkerContext, "Pack", DeviceInfo, Sequence[LibraryTime]], None]


def audit_one(context: WorkerContext, device: DeviceInfo, service: DeviceService | None = None) -> bool:
    """Runs a due audit of one of the device's boards if no submission waits. Returns False if none is due."""
    with context.sessions.begin() as session:
        lease = claim_audit(
            session,
            device_key=device.key,
            owner=context.owner,
            now=context.clock(),
            max_failures=context.rules.max_failures,
            lacking=context.lacking,
            card=device_hash(device),
        )
    if lease is None:
        return False
    with structlog.contextvars.bound_contextvars(audit=lease.board.challenge):
        log.info("audit.claimed")
        try:
            with nullcontext() if service is None else service.job():
                results = audit_board(context, device, lease)
        except Cancelled:
            log.info("audit.handed_back")
        except InternalError as error:
            log.error("audit.failed", error=str(error))
        except Exception:
            log.exception("audit.crashed")
        else:
            log.info("audit.done", verdicts={each.public_id: str(made.verdict) for each, made in results.items()})
    return True


def audit_board(context: WorkerContext, device: DeviceInfo, lease: AuditLease) -> dict[Contender, Judgement]:
    """Audits the leased board and writes the results. Returns the judgements.

    Raises InternalError, also if the lease was lost. Before an error is raised, it is stored as the audit's failure. On
    Cancelled, and when the process exits, the audit is handed back.
    """
    try:
        results = _rebuild_and_time(context, device, lease.board)
    except Exception as error:
        if isinstance(error, Cancelled):
            context.persist(lambda session: hand_back_audit(session, lease))
        else:
            text = f"{type(error).__name__}: {error}"
            context.persist(
                lambda session: fail_audit(
                    session,
                    lease,
                    text,
                    now=context.clock(),
                    pause_s=context.settings.audit_pause_s,
                    max_failures=context.rules.max_failures,
                )
            )
        raise
    except BaseException:
        context.persist(lambda session: hand_back_audit(session, lease))
        raise
    by_id = {contender.submission_id: judgement for contender, judgement in results.items()}
    written = context.persist(
        lambda session: finish_audit(session, lease, by_id, now=context.clock(), pause_s=context.settings.audit_pause_s)
    )
    if not written:
        raise InternalError("the audit took so long that another worker was given it")
    return results


def _rebuild_and_time(context: WorkerContext, device: DeviceInfo, board: AuditedBoard) -> dict[Contender, Judgement]:
    with context.reads() as session:
        found = contenders(session, board)
    return time_contenders(context, device, board, found, record_libraries) if found else {}


def time_contenders(
    context: WorkerContext, device: DeviceInfo, board: BoardKey, found: Sequence[Contender], on_libraries: OnLibraries
) -> dict[Contender, Judgement]:
    """Builds entries of a board and times them together. Returns their judgements.

    ``on_libraries`` gets the times of libraries that took turns with them. Raises InternalError and Cancelled.
    """
    # All use the current version of the pack: submissions timed together must solve the same task.
    pack = context.packs.find(board.challenge, found[0].pack_digest)
    if pack.major != board.pack_major:
        raise InternalError(f"this worker has version {pack.version} of {pack.slug}, not {board.pack_major}.x")
    results: dict[Contender, Judgement] = {}
    built: list[tuple[Contender, bytes, BuildReport]] = []
    for contender in found:
        if context.stopping.is_set():
            raise Cancelled
        own = in_language(pack, contender.language)
        report, artifact = context.judge.build(contender.source, own, device)
        if artifact is None:
            results[contender] = context.judge.compile_error(report, own, device)
        else:
            built.append((contender, artifact.to_bytes(), report))
    if built:
        sources = [(contender.source, contender.language) for contender, _, _ in built]
        artifacts = [(artifact, report) for _, artifact, report in built]
        judged = _time_together(context, device, pack, artifacts, sources, on_libraries)
        results |= {contender: judgement for (contender, _, _), judgement in zip(built, judged, strict=True)}
    return results


def _time_together(
    context: WorkerContext,
    device: DeviceInfo,
    pack: Pack,
    built: list[tuple[bytes, BuildReport]],
    sources: list[tuple[bytes, str]],
    on_libraries: OnLibraries,
) -> list[Judgement]:
    judged = context.judge.audit(
        built,
        pack,
        device,
        sources=sources,
        seed=secrets.randbits(63),
        cancelled=context.stopping.is_set,
        on_libraries=partial(on_libraries, context, pack, device),
    )
    for judgement in judged:
        unmeasured = judgement.verdict is Verdict.ACCEPTED and judgement.measurement is None
        if judgement.verdict is Verdict.INTERNAL_ERROR or unmeasured:
            raise InternalError(judgement.message or "an accepted contender was not measured")
    return judged
