"""The ``audit`` command, which times the first places of a board again on a GPU of this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import require_database
from cli.errors import FAILED, INTERRUPTED, CliError, UsageError
from cli.extras import need
from cli.local_setup import find_device
from cli.scores import format_interval, format_score
from judge.judgement_json import read_measurement, to_json
from judge.measurements import Measurement

if TYPE_CHECKING:
    from judge.judgement import DeviceInfo
    from workers.context import WorkerContext


def audit(
    challenge: options.Slug,
    device: Annotated[
        str, typer.Option("--device", "-d", help="A GPU of this machine, whose board it is: nvidia-h200, or cuda:0.")
    ],
    as_json: options.Json = False,
) -> None:
    """Time the first places of a leaderboard again, in alternation: from then on that is the board's order.

    For operators, on the machine that has the GPU and reaches the server's database. What is not accepted any more is
    taken off the board. GPU workers do the same by themselves.
    """
    settings = load_settings()
    require_database(settings)
    found = find_device(device, settings.judge_settings())
    context = need("workers.context", "server").make_context(settings)
    try:
        with_errors = need("sqlalchemy.exc", "server")
        try:
            rows = _audit(context, challenge, found)
        except with_errors.SQLAlchemyError as error:
            first = str(getattr(error, "orig", error)).partition("\n")[0]
            raise CliError(f"the database is away: {first}", hint="Is it migrated? gpujudge db upgrade") from None
    finally:
        context.doorbell.close()
        context.engine.dispose()
    if as_json:
        print_json({"challenge": challenge, "device": found.key, "contenders": rows})
        return
    if not rows:
        say(f"Nobody is on a board of measured times for {challenge} on {found.key}.")
        return
    print_table(
        ("rank", "was", "user", "score", "95 % interval", "verdict", "submission", "why"),
        (
            (
                row["rank"],
                row["rank_before"],
                row["username"],
                "" if row["measurement"] is None else format_score(row["measurement"]["value"]),
                "" if row["measurement"] is None else _interval(read_measurement(row["measurement"])),
                row["verdict"],
                row["submission"],
                row["message"] or ("" if row["not_audited"] is None else f"not audited: {row['not_audited']}"),
            )
            for row in rows
        ),
        right=("rank", "was", "score", "95 % interval"),
    )


def _interval(measured: Measurement) -> str:
    return format_interval(measured.value, measured.low, measured.high)


def _audit(context: WorkerContext, challenge: str, device: DeviceInfo) -> list[dict[str, Any]]:
    """Returns a row for each contender, in the board's new order; entries removed from it come last."""
    audits, worker = need("store.boards.audits", "server"), need("workers.audit", "server")
    errors = need("judge.errors", "judge")
    registry = need("judge.packs.collection.registry", "judge")
    try:
        pack = registry.Registry(dict(context.packs.load()), ()).find(challenge)
    except registry.UnknownChallenge as error:
        raise UsageError(str(error)) from None
    card = need("judge.gpu.calibration", "judge").device_hash(device)
    board = audits.AuditedBoard(challenge, device.key, pack.major)
    with context.sessions.begin() as session:
        before = {entry.submission_public_id: entry.rank for entry in audits.podium(session, board)}
        if not before:
            return []
        try:
            lease = audits.claim_board(session, board, owner=context.owner, now=context.clock(), card=card)
        except audits.AuditHeldError as error:
            raise CliError(str(error), exit_code=FAILED) from None
    say(f"timing {len(before)} again on {device.name}; Ctrl-C gives up")
    try:
        results = worker.audit_board(context, device, lease)
    except errors.InternalError as error:
        raise CliError(f"the audit failed: {error}", exit_code=FAILED) from None
    except KeyboardInterrupt:
        raise CliError("given up; the board is as it was", exit_code=INTERRUPTED) from None
    with context.reads() as session:
        after = {entry.submission_public_id: entry.rank for entry in audits.board_entries(session, board)}
    rows = [
        {
            "rank": after.get(contender.public_id),
            "rank_before": before.get(contender.public_id),
            "username": contender.username,
            "submission": contender.public_id,
            "verdict": judgement.verdict.value,
            "message": judgement.message,
            "measurement": to_json(judgement.measurement),
            "not_audited": judgement.measurement and audits.why_not_audited(judgement.measurement),
        }
        for contender, judgement in results.items()
    ]
    return sorted(rows, key=lambda row: (row["rank"] is None, row["rank"] or 0))
