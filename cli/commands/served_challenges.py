"""The commands ``admin challenge``: what the site serves, and judging again what it judged, on this machine."""

from __future__ import annotations

from typing import Annotated

import typer

from cli import options
from cli.commands.machine import load_settings
from cli.console import print_json, print_table, say
from cli.database import command_actor, ring_builders, server_database
from cli.errors import CliError, UsageError
from cli.extras import need

app = typer.Typer(help="The challenges that the site serves.", no_args_is_help=True)

#: Judged again in one transaction: more would keep others waiting for too long.
_BATCH = 100


@app.command("list")
def list_(as_json: options.Json = False) -> None:
    """List the versions that the site serves, and what is wrong with challenges that do not load."""
    packs = need("judge.packs.collection.live", "server").LivePacks(load_settings().pack_paths)
    verified = need("judge.verify.ledger", "server").efforts_on_record(pack.directory for pack in packs.values())
    found = [
        {
            "slug": pack.slug,
            "version": pack.version,
            "digest": pack.digest,
            "verified": verified.get(pack.directory),
        }
        for pack in packs.values()
    ]
    problems = [
        {"slug": one.slug, "file": str(one.file), "key": one.key, "reason": one.reason} for one in packs.problems
    ]
    if as_json:
        print_json({"challenges": found, "problems": problems})
        return
    rows = [(one["slug"], one["version"], one["digest"][:12], one["verified"] or "not on record") for one in found]
    print_table(("challenge", "version", "digest", "verified"), rows)
    for one in problems:
        say(f"not loaded: {one['file']}{': ' if one['key'] else ''}{one['key']}: {one['reason']}")


@app.command("rejudge")
def rejudge(
    slug: options.Slug,
    reason: Annotated[str, typer.Argument(help="Why. The log keeps it.", show_default=False)],
    version: Annotated[
        str | None,
        typer.Option("--version", metavar="VERSION", help="Only what this version judged.", show_default=False),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="Also what the present version has judged until now.")
    ] = False,
    as_json: options.Json = False,
) -> None:
    """Judge ranked submissions again that another version of a challenge judged, or all. This cannot be undone."""
    if not reason.strip():
        raise UsageError("give a reason: the log keeps it")
    settings = load_settings()
    served = need("judge.packs.collection.live", "server").LivePacks(settings.pack_paths)
    registry = need("judge.packs.collection.registry", "judge")
    try:
        pack = registry.Registry(dict(served), ()).find(slug)
    except registry.UnknownChallenge as error:
        raise CliError(str(error), hint="See: gpujudge admin challenge list") from None
    administration, now = need("store.operation.administration", "server"), need("store.clock", "server").utc_now()
    before = now if everything else None
    done, more = 0, True
    while more:
        with server_database(settings) as session:
            count, more = administration.rejudge_many(
                session,
                command_actor(),
                slug,
                reason.strip(),
                digest=pack.digest,
                version=version,
                judged_before=before,
                limit=_BATCH,
                now=now,
            )
        done += count
    if done:
        ring_builders(settings)
    if as_json:
        print_json({"judged_again": done})
    else:
        say(f"{done} submission{'' if done == 1 else 's'} to {slug} {'is' if done == 1 else 'are'} judged again.")
