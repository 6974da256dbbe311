"""The commands ``contest``: contests on a server, for those who take part and those who hold them."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from cli import options
from cli.answers import items_of, read
from cli.commands import contest_trials, own_packs
from cli.commands.classes import read_text
from cli.connect import connect
from cli.console import print_answer, print_json, print_table, print_text, say
from cli.errors import UsageError
from cli.scores import format_score
from cli.teaching_answers import ContestSummary, CountedSubmission, ShownContest, Standings

app = typer.Typer(help="Contests on a server.", no_args_is_help=True)
app.add_typer(contest_trials.app, name="trial")
app.add_typer(own_packs.commands("contests"), name="pack")

Slug = Annotated[str, typer.Argument(metavar="CONTEST", help="A contest, as `contest list` says.", show_default=False)]
NewSlug = Annotated[
    str, typer.Argument(metavar="NAME", help="The end of its address, such as friday.", show_default=False)
]
_TIME = "as '2027-03-01 18:00', in UTC"
Starts = Annotated[
    datetime | None,
    typer.Option("--starts", formats=options.MOMENT_FORMATS, metavar="TIME", help=f"When it starts, {_TIME}."),
]
Ends = Annotated[
    datetime | None,
    typer.Option("--ends", formats=options.MOMENT_FORMATS, metavar="TIME", help=f"When it ends, {_TIME}."),
]
Freezes = Annotated[
    datetime | None,
    typer.Option("--freezes", formats=options.MOMENT_FORMATS, metavar="TIME", help=f"When standings freeze, {_TIME}."),
]
Title = Annotated[str | None, typer.Option("--title", metavar="TEXT", help="Its title.")]
Challenges = Annotated[
    list[str] | None,
    typer.Option("--challenge", "-c", metavar="SLUG", help="A challenge; again for the next, in their order."),
]
Devices = Annotated[
    list[str] | None,
    typer.Option("--device", "-d", metavar="NAME", help="A device whose results count; one is fair."),
]
Scoring = Annotated[str | None, typer.Option("--scoring", metavar="NAME", help="One of places, time, points, targets.")]
Targets = Annotated[
    list[str] | None,
    typer.Option("--target", metavar="SLUG=TIME", help="Where targets are scored, such as vector-add=120us."),
]
Description = Annotated[
    Path | None, typer.Option("--description", metavar="FILE", help="Its description, in Markdown; - is stdin.")
]
Code = Annotated[str | None, typer.Option("--code", metavar="TEXT", help="Code to join by; '' lets anybody join.")]
TeamSize = Annotated[
    int | None, typer.Option("--team-size", min=2, max=20, help="The most members of a team; else no teams.")
]
Webhook = Annotated[
    str | None, typer.Option("--webhook", metavar="URL", help="Where messages about it go; '' is nowhere.")
]
OpensSources = Annotated[
    bool | None,
    typer.Option("--open-sources/--keep-sources", help="Whether members see each other's sources after the end."),
]
ClosesSolutions = Annotated[
    bool | None,
    typer.Option("--close-solutions/--leave-solutions", help="Whether its challenges' solutions are closed meanwhile."),
]

Hides = Annotated[
    bool | None,
    typer.Option("--hide-challenges/--show-challenges", help="Whether its challenges are hidden until the start."),
]


@app.command("list")
def list_(server: options.Server = None, as_json: options.Json = False) -> None:
    """List the contests, those that end last first."""
    with connect(server) as api:
        listed = items_of(api.get("contests"), "contests")
    if as_json:
        print_json({"contests": listed})
        return
    found = [read(ContestSummary, item) for item in listed]
    if not found:
        say("There is no contest.")
        return
    print_table(
        ("contest", "title", "state", "starts, in UTC", "ends, in UTC"),
        ((one.contest, one.title, one.state, _moment(one.starts_at), _moment(one.ends_at)) for one in found),
    )


@app.command()
def show(contest: Slug, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print a contest: its times, its challenges, and whether you take part."""
    with connect(server) as api:
        answer = api.get(_path(contest))
    if as_json:
        print_json(answer)
        return
    found = read(ShownContest, answer)
    print_text(f"{found.title} ({found.state})\n")
    if found.description:
        print_text(f"{found.description.strip()}\n")
    print_text(f"from        {_moment(found.starts_at)} until {_moment(found.ends_at)} UTC")
    if found.frozen_at is not None:
        print_text(f"freezes     {_moment(found.frozen_at)} UTC{', frozen' if found.frozen else ''}")
    print_text(f"challenges  {', '.join(map(_aimed(found), found.challenges))}")
    print_text(f"devices     {', '.join(found.devices)}")
    print_text(f"scoring     {found.scoring}")
    if found.team_size is not None:
        print_text(f"teams       of at most {found.team_size}")
    print_text(f"take part   {found.members}{', and you' if found.takes_part else ''}")
    if found.team is not None:
        print_text(f"your team   {found.team}")
    if not found.takes_part and found.state != "ended":
        say(f"Take part: gpujudge contest register {found.contest}{' --code CODE' if found.needs_code else ''}")


@app.command()
def standings(
    contest: Slug,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many rows.")] = 25,
    page: Annotated[int, typer.Option(min=1, max=1_000_000, help="Which page of them.")] = 1,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Print the standings. While they are frozen, others' results are those from before."""
    with connect(server) as api:
        about = read(ShownContest, api.get(_path(contest)))
        answer = api.get(f"{_path(contest)}/standings", limit=limit, page=page)
    if as_json:
        print_json(answer)
        return
    found = read(Standings, answer)
    if found.frozen:
        say("Frozen: of others you see what was before.")
    if not found.standings:
        say("Nobody takes part yet." if page == 1 else f"There are {found.pages} pages.")
        return
    print_table(
        ("#", "who" if about.team_size is None else "team", "total", *about.challenges),
        (
            (
                row.rank,
                row.name,
                f"{row.total:.0f}" if found.scoring == "places" else f"{row.total:.2f}",
                *(
                    "" if (one := row.results.get(slug)) is None else f"{format_score(one.value)} ({one.place}.)"
                    for slug in about.challenges
                ),
            )
            for row in found.standings
        ),
        right=("#", "total", *about.challenges),
    )


@app.command()
def submissions(
    contest: Slug,
    user: Annotated[str | None, typer.Option("--user", "-u", metavar="NAME", help="Of this user alone.")] = None,
    challenge: Annotated[
        str | None, typer.Option("--challenge", "-c", metavar="SLUG", help="To this challenge alone.")
    ] = None,
    verdict: Annotated[str | None, typer.Option("--verdict", metavar="NAME", help="With this verdict alone.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=10_000, help="The most to list.")] = 50,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List what counts in a contest that you manage, the newest first, frozen ones too. `source ID` prints one."""
    path, listed, before = f"{_path(contest)}/submissions", list[dict[str, Any]](), None
    with connect(server) as api:
        while len(listed) < limit:
            ask = {"user": user, "challenge": challenge, "verdict": verdict, "before": before}
            answer = api.get(path, limit=min(100, limit - len(listed)), **ask)
            listed += items_of(answer, "submissions")
            if answer["next"] is None:
                break
            before = str(listed[-1]["id"])
    if as_json:
        print_json({"submissions": listed})
        return
    found = [read(CountedSubmission, item) for item in listed]
    print_table(
        ("submission", "who", "challenge", "verdict", "time", "device", "sent, in UTC"),
        (
            (
                one.id,
                one.username,
                one.challenge,
                f"{one.verdict or one.state}{', frozen' if one.frozen else ''}",
                "" if one.value is None else format_score(one.value),
                one.device,
                _moment(one.created_at),
            )
            for one in found
        ),
        right=("time",),
    )


@app.command()
def create(
    name: NewSlug, title: Title = None, challenge: Challenges = None, device: Devices = None, starts: Starts = None,
    ends: Ends = None, freezes: Freezes = None, scoring: Scoring = None, target: Targets = None,
    description: Description = None, code: Code = None, team_size: TeamSize = None, webhook: Webhook = None,
    opens_sources: OpensSources = None, closes_solutions: ClosesSolutions = None, hides: Hides = None,
    server: options.Server = None, as_json: options.Json = False,
) -> None:  # fmt: skip
    """Make a contest. Only teachers of the site may."""
    body = _body(
        slug=name, title=title or name, challenges=challenge, devices=device, starts_at=starts, ends_at=ends,
        frozen_at=freezes, scoring=scoring, targets=target, description=description, code=code, team_size=team_size,
        webhook_url=webhook, opens_sources=opens_sources, closes_solutions=closes_solutions, hides_challenges=hides,
    )  # fmt: skip
    with connect(server) as api:
        _saved(api.post("contests", body), "Made", as_json=as_json)


@app.command()
def copy(
    contest: Slug,
    name: NewSlug,
    starts: Starts = None,
    ends: Ends = None,
    freezes: Freezes = None,
    title: Title = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Make a contest like another, at other times. Nobody takes part in it yet."""
    body = _body(slug=name, copy_of=contest, title=title, starts_at=starts, ends_at=ends, frozen_at=freezes)
    with connect(server) as api:
        _saved(api.post("contests", body), "Made", as_json=as_json)


@app.command()
def edit(
    contest: Slug, title: Title = None, challenge: Challenges = None, device: Devices = None, starts: Starts = None,
    ends: Ends = None, freezes: Freezes = None,
    never_freezes: Annotated[bool, typer.Option("--no-freeze", help="The standings do not freeze.")] = False,
    scoring: Scoring = None, target: Targets = None, description: Description = None, code: Code = None,
    team_size: TeamSize = None, webhook: Webhook = None, opens_sources: OpensSources = None,
    closes_solutions: ClosesSolutions = None, hides: Hides = None,
    reveal: Annotated[
        bool | None, typer.Option("--reveal/--no-reveal", help="Whether frozen standings are shown in full.")
    ] = None,
    name: Annotated[str | None, typer.Option("--rename", metavar="NAME", help="Another end of its address.")] = None,
    server: options.Server = None, as_json: options.Json = False,
) -> None:  # fmt: skip
    """Change a contest, also while it runs: what no option names stays."""
    body = _body(
        slug=name, title=title, challenges=challenge, devices=device, starts_at=starts, ends_at=ends,
        frozen_at=freezes, scoring=scoring, targets=target, description=description, code=code, team_size=team_size,
        webhook_url=webhook, opens_sources=opens_sources, closes_solutions=closes_solutions, revealed=reveal,
        hides_challenges=hides,
    )  # fmt: skip
    if never_freezes:
        body["frozen_at"] = None
    if not body:
        raise UsageError("say what to change", hint="Options: gpujudge contest edit --help")
    with connect(server) as api:
        _saved(api.patch(_path(contest), body), "Changed", as_json=as_json)


@app.command()
def delete(contest: Slug, server: options.Server = None, as_json: options.Json = False) -> None:
    """Delete a contest in which nobody takes part."""
    with connect(server) as api:
        answer = api.delete(_path(contest))
    print_answer(answer, f"Deleted {contest}.", as_json=as_json)


@app.command()
def register(
    contest: Slug,
    code: Annotated[str, typer.Option("--code", metavar="TEXT", help="The contest's code, if it has one.")] = "",
    team: Annotated[str, typer.Option("--team", metavar="NAME", help="Make a team of this name.")] = "",
    team_code: Annotated[str, typer.Option("--team-code", metavar="TEXT", help="Join the team of this code.")] = "",
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Take part in a contest: what you submit to its challenges from its start to its end counts."""
    if team and team_code:
        raise UsageError("--team makes a team and --team-code joins one: give one of them")
    with connect(server) as api:
        answer = api.post(f"{_path(contest)}/join", {"code": code, "team_name": team, "team_code": team_code})
    found = read(ShownContest, answer)
    print_answer(
        answer, f"You take part in {found.title}{f', in the team {found.team}' if found.team else ''}.", as_json=as_json
    )


@app.command()
def leave(contest: Slug, server: options.Server = None, as_json: options.Json = False) -> None:
    """Leave a contest that has not ended. Your submissions stay, and count again if you rejoin."""
    with connect(server) as api:
        answer = api.post(f"{_path(contest)}/leave")
    print_answer(answer, f"You have left {contest}.", as_json=as_json)


def _body(**given: Any) -> dict[str, Any]:
    """Returns the body of a request with the values that were given."""
    body = {}
    for name, value in given.items():
        if isinstance(value, datetime):
            moment = options.in_utc(value)
            body[name] = None if moment is None else moment.isoformat()
        elif isinstance(value, Path):
            body[name] = read_text(value)
        elif value is not None:
            body[name] = value
    return body


def _saved(answer: Any, done: str, *, as_json: bool) -> None:
    found = read(ShownContest, answer)
    if as_json:
        print_json(answer)
    else:
        times = f"from {_moment(found.starts_at)} until {_moment(found.ends_at)} UTC"
        say(f"{done} {found.contest}, {found.title}: {times}.")


def _aimed(contest: ShownContest) -> Any:
    """Returns how a challenge of the contest is shown: with its target, if it has one."""
    targets = contest.targets_s
    return lambda slug: f"{slug} ({format_score(targets[slug])})" if slug in targets else slug


def _path(contest: str) -> str:
    return f"contests/{quote(contest, safe='')}"


def _moment(text: str) -> str:
    return text[:16].replace("T", " ")
