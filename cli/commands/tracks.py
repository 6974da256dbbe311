"""The command ``track``: the tracks, one of them with one's progress, or a lesson."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote

import typer

from cli import options
from cli.answers import Track, TrackProgress, TrackStep, TrackSummary, items_of, read
from cli.api import Api
from cli.connect import connect
from cli.console import print_json, print_table, print_text, say
from cli.errors import NOT_ALLOWED, CliError, UsageError
from judge.languages.registry import BUILTIN_LANGUAGES


def track(
    slug: Annotated[str | None, typer.Argument(metavar="[TRACK]", help="A track, such as first-kernels.")] = None,
    challenge: Annotated[str | None, typer.Argument(metavar="[CHALLENGE]", help="Print its lesson.")] = None,
    kernel: Annotated[bool, typer.Option("--kernel", help="Print the lesson's kernel alone.")] = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List the tracks; print one with your progress, or one of its lessons."""
    if kernel and challenge is None:
        raise UsageError("--kernel needs a track and a challenge", hint="gpujudge track first-kernels vector-add")
    with connect(server) as api:
        if slug is None:
            _list(api, as_json=as_json)
            return
        answer = api.get(f"tracks/{quote(slug, safe='')}")
        found = read(Track, answer)
        if challenge is not None:
            _print_lesson(found, challenge, kernel=kernel, as_json=as_json)
            return
        progress = _progress(api, slug)
    if as_json:
        done = {} if progress is None else {"solved": list(progress.solved), "reached": list(progress.reached)}
        print_json({**answer, **done})
        return
    print_text(f"{found.title}\n\n{found.summary}\n\n{found.reason}\n")
    print_table(
        ("challenge", "title", "difficulty", "lesson", "state", "goal"),
        (
            (
                step.challenge,
                step.title,
                step.difficulty,
                "yes" if step.lesson else "",
                _state(step, progress),
                step.goal_text,
            )
            for step in found.steps
        ),
    )
    if progress is None:
        say("Log in (`gpujudge login`) to see your progress.")


def _list(api: Api, *, as_json: bool) -> None:
    listed = items_of(api.get("tracks"), "tracks")
    if as_json:
        print_json({"tracks": listed})
        return
    found = [read(TrackSummary, item) for item in listed]
    print_table(("track", "challenges", "teaches"), ((one.slug, len(one.challenges), one.summary) for one in found))


def _print_lesson(found: Track, challenge: str, *, kernel: bool, as_json: bool) -> None:
    step = next((step for step in found.steps if step.challenge == challenge), None)
    if step is None:
        names = ", ".join(each.challenge for each in found.steps)
        raise UsageError(f"{challenge} is not in the track {found.slug}", hint=f"It has {names}.")
    if as_json:
        print_json({"challenge": challenge, "goal": step.goal_text, "lesson": step.lesson, "kernel": step.kernel})
    elif not step.lesson:
        raise UsageError(f"there is no lesson for {challenge} yet", hint=f"Its statement: gpujudge show {challenge}")
    elif kernel:
        print_text(step.kernel)
    else:
        print_text(f"# {step.title}\n\n{step.lesson.strip()}\n\n## Goal\n\n{step.goal_text}. {step.why}")
        file = f"{challenge}{BUILTIN_LANGUAGES.of(step.language).suffixes[0]}"
        say(f"Starter kernel: gpujudge track {found.slug} {challenge} --kernel > {file}")


def _progress(api: Api, slug: str) -> TrackProgress | None:
    """Returns the user's progress; None for nobody."""
    try:
        return read(TrackProgress, api.get(f"tracks/{quote(slug, safe='')}/progress"))
    except CliError as error:
        if error.exit_code == NOT_ALLOWED:
            return None
        raise


def _state(step: TrackStep, progress: TrackProgress | None) -> str:
    if progress is None:
        return ""
    if step.challenge in progress.reached:
        return "goal reached"
    return "solved" if step.challenge in progress.solved else ""
