"""The commands ``submit``, ``run``, ``watch`` and ``submissions``, which send kernels to a server."""

from __future__ import annotations

import uuid
from typing import Annotated, Any

import typer

from cli import options
from cli.answers import Step, SubmissionStatus, read, read_status_judgement
from cli.api import Api
from cli.connect import connect
from cli.console import print_json, print_table, say
from cli.errors import FAILED, INTERRUPTED, CliError
from cli.follow import follow
from cli.progress import ProgressLine
from cli.render import format_score, print_judgement
from cli.source import read_source
from judge.verdict import Verdict

#: States that a submission never leaves. The judgement of a dead one is an IE.
_FINAL_STATES = ("done", "cancelled", "dead")

NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the verdict.")]


def submit(
    file: options.KernelFile,
    challenge: options.Challenge = None,
    device: options.Device = None,
    no_wait: NoWait = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Send a kernel: every case, then the timing, then the leaderboard.

    The challenge and the device come from the options or from a line in the file, such as
    `// gpujudge: challenge=softmax device=emulator`. The exit code says the verdict: 0 AC, 10 WA, 11 CE, 12 RE, 13 TLE,
    14 MLE, 15 OLE, 16 SV, 17 TI, 20 IE.
    """
    _send("submit", file, challenge, device, no_wait=no_wait, server=server, as_json=as_json)


def run(
    file: options.KernelFile,
    challenge: options.Challenge = None,
    device: options.Device = None,
    no_wait: NoWait = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Try a kernel on the public cases only; nothing is timed or ranked. Otherwise as submit."""
    _send("run", file, challenge, device, no_wait=no_wait, server=server, as_json=as_json)


def watch(
    submission_id: Annotated[str, typer.Argument(metavar="ID", help="A submission.", show_default=False)],
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Follow a submission to its verdict; the exit code says it, as for submit."""
    with connect(server) as api:
        _wait_for_verdict(api, api.get(f"submissions/{submission_id}"), as_json=as_json)


def submissions(
    challenge: options.Challenge = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List your submissions, the newest first."""
    with connect(server) as api:
        answer = api.get("submissions", challenge=challenge, limit=limit)
    listed = list(answer["submissions"] if isinstance(answer, dict) else answer)
    if as_json:
        print_json({"submissions": listed})
        return
    print_table(
        ("id", "challenge", "device", "mode", "verdict", "score", "at"),
        (
            (
                item.id,
                item.challenge,
                item.device,
                item.mode,
                item.verdict or item.state,
                _score(item),
                item.created_at[:19],
            )
            for item in (read(SubmissionStatus, entry) for entry in listed)
        ),
        right=("score",),
    )


def _score(status: SubmissionStatus) -> str:
    measurement = None if status.judgement is None else read_status_judgement(status.judgement).measurement
    return "" if measurement is None else format_score(measurement.metric, measurement.value)


def _send(
    mode: str, file: Any, challenge: str | None, device: str | None, *, no_wait: bool, server: str | None, as_json: bool
) -> None:
    source = read_source(file, challenge=challenge, device=device)
    body = {"challenge": source.challenge, "device": source.device, "mode": mode, "source": source.text()}
    with connect(server) as api:
        # With the key, a request sent twice creates one submission.
        answer = api.post("submissions", body, idempotency_key=str(uuid.uuid4()))
        if not no_wait:
            _wait_for_verdict(api, answer, as_json=as_json)
            return
    submission_id = read(SubmissionStatus, answer).id
    say(f"Submitted as {submission_id}. To follow it: gpujudge watch {submission_id}")
    if as_json:
        print_json(answer)
    else:
        print(submission_id)


def _wait_for_verdict(api: Api, answer: Any, *, as_json: bool) -> None:
    """Follows the submission, prints its judgement and exits with the verdict's code. Raises CliError."""
    status = read(SubmissionStatus, answer)
    try:
        if status.state not in _FINAL_STATES:
            with ProgressLine() as progress:
                progress.update(status.state, Step(position=status.position))
                for event in follow(api, status.id):
                    progress.update(event.kind, event.payload)
            answer = api.get(f"submissions/{status.id}")
            status = read(SubmissionStatus, answer)
    except KeyboardInterrupt:
        hint = f"It is still being judged: gpujudge watch {status.id}"
        raise CliError("stopped waiting", exit_code=INTERRUPTED, hint=hint) from None
    if status.state == "cancelled" or status.judgement is None:
        if as_json:
            print_json(answer)
        raise CliError(f"{status.id} was cancelled", exit_code=FAILED)
    if as_json:
        print_json(status.judgement)
    else:
        print_judgement(read_status_judgement(status.judgement))
        if status.audit is not None and status.audit.verdict is not Verdict.ACCEPTED:
            verdict, message = status.audit.verdict.value, status.audit.message
            say(f"An audit took it off the leaderboard, {verdict}: {message}", "bold red")
        if status.url:
            say(_absolute(api.server, status.url))
    raise typer.Exit(Verdict(status.judgement["verdict"]).exit_code)


def _absolute(server: str, url: str) -> str:
    return url if "://" in url else f"{server}/{url.lstrip('/')}"
