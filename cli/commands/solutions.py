"""The command ``solutions``: the reference steps of a challenge and what users published, or one of their sources."""

from __future__ import annotations

import sys
from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import ReferenceStep, Solution, StepTime, items_of, read
from cli.connect import connect
from cli.console import print_json, print_table, print_text, say
from cli.scores import format_score


def solutions(
    slug: options.Slug,
    name: Annotated[
        str | None,
        typer.Argument(metavar="[STEP or ID]", help="Print the source of this step, or of this solution."),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many published solutions.")] = 25,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List the solutions of a challenge that you have solved or given up; print one of them."""
    path = f"challenges/{quote(slug, safe='')}/solutions"
    with connect(server) as api:
        answer = api.get(path, limit=limit)
        steps = [read(ReferenceStep, row) for row in items_of(answer, "steps")]
        step = next((each for each in steps if each.name == name), None)
        if name is not None and step is None:
            _print_source(name, api.get_bytes(f"{path}/{quote(name, safe='')}/source"), as_json=as_json)
            return
    if step is not None:
        _print_source(step.name, step.source.encode(), as_json=as_json)
        return
    if as_json:
        print_json(answer)
        return
    if steps:
        print_table(
            ("step", "modelled", "measured", "what it changes"),
            ((each.name, _time(each.modelled), _time(each.measured), each.change) for each in steps),
            right=("modelled", "measured"),
        )
        print_text("")
    published = [read(Solution, row) for row in items_of(answer, "solutions")]
    if not published:
        say(f"Nobody has published a solution of {slug} yet.")
        return
    print_table(
        ("solution", "by", "device", "score", "likes", ""),
        (
            (
                one.id,
                one.username,
                one.device,
                "" if one.value is None or one.metric is None else format_score(one.value),
                one.likes,
                "after giving up" if one.after_giving_up else "",
            )
            for one in published
        ),
        right=("score", "likes"),
    )


def _print_source(name: str, source: bytes, *, as_json: bool) -> None:
    if as_json:
        print_json({"name": name, "source": source.decode("utf-8", "replace")})
        return
    sys.stdout.buffer.write(source)
    sys.stdout.buffer.flush()


def _time(time: StepTime | None) -> str:
    """Returns a time, and how many times as fast as the step before it is."""
    if time is None:
        return ""
    return format_score(time.time_s) + ("" if time.gain is None else f" ({time.gain:.3g}x)")
