"""The commands that send kernels to a server, and that follow, cancel, list and show submissions."""

from __future__ import annotations

import hashlib
import json
import sys
import uuid
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

from cli import options
from cli.answers import Step, SubmissionStatus, items_of, read, read_status_judgement
from cli.api import Api
from cli.connect import connect
from cli.console import print_json, print_json_line, print_table, print_text, say, stdout
from cli.custom_input import read_custom_input
from cli.errors import FAILED, INTERRUPTED, NOT_ALLOWED, UNREACHABLE, CliError, RateLimited
from cli.follow import follow
from cli.progress import ProgressLine
from cli.scores import format_score
from cli.source import Source, read_sources
from judge.verdict import Verdict

#: States that a submission never leaves. The judgement of a dead one is an IE.
_FINAL_STATES = ("done", "cancelled", "dead")

#: So long does a command wait for a server that takes no more, in all.
_LONGEST_WAIT_S = 3600.0

RetryKey = Annotated[
    str | None,
    typer.Option("--retry-key", metavar="TEXT", help="Sent twice under one key, a file is one submission."),
]
NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the verdict.")]


def submit(
    files: options.KernelFiles,
    challenge: options.Challenge = None,
    device: options.Device = None,
    language: options.Language = None,
    no_wait: NoWait = False,
    retry_key: RetryKey = None,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Send kernels: every case, then the timing, then the leaderboard.

    The challenge and the device come from the options or from a line in the file, such as
    `// gpujudge: challenge=softmax device=emulator`. The exit code says the verdict: 0 AC, 10 WA, 11 CE, 12 RE, 13 TLE,
    14 MLE, 15 OLE, 16 SV, 17 TI, 20 IE; of several files, the highest.

    Of several files, --json prints a line for each as soon as the server has taken it, with its id and address, and
    another once it is judged. A rate limit is waited out.
    """
    _send(
        "submit",
        files,
        challenge,
        device,
        language,
        no_wait=no_wait,
        server=server,
        as_json=as_json,
        retry_key=retry_key,
    )


def run(
    files: options.KernelFiles,
    challenge: options.Challenge = None,
    device: options.Device = None,
    language: options.Language = None,
    sizes: options.Set = None,
    contents: options.Input = None,
    no_wait: NoWait = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Try kernels on the public cases only; nothing is ranked. Otherwise as submit.

    Where they are right, the emulator also models the time of one benchmark and says what limits it.

    With --set and --input they run on an input of your own instead, and the reference's answer is printed beside the
    kernel's: `gpujudge run add.cu --set N=4 --input 'A=1 2 3 4'`. What you leave out is as in the first public case.
    """
    custom = read_custom_input(sizes, contents)
    _send("run", files, challenge, device, language, custom, no_wait=no_wait, server=server, as_json=as_json)


def watch(submission_id: options.SubmissionId, server: options.Server = None, as_json: options.Json = False) -> None:
    """Follow a submission to its verdict; the exit code says it, as for submit."""
    with connect(server) as api:
        answer, code = _wait_for_verdict(api, api.get(_path(submission_id)), as_json=as_json)
    if as_json:
        print_json(answer)
    raise typer.Exit(code)


def cancel(submission_id: options.SubmissionId, server: options.Server = None, as_json: options.Json = False) -> None:
    """Cancel a submission that is not judged yet."""
    with connect(server) as api:
        answer = api.post(f"{_path(submission_id)}/cancel")
    cancelled = bool(isinstance(answer, dict) and answer.get("cancelled"))
    if as_json:
        print_json({"id": submission_id, "cancelled": cancelled})
    if not cancelled:
        raise CliError(f"{submission_id} has already ended", exit_code=FAILED)
    say(f"{submission_id} is cancelled.")


def source(submission_id: options.SubmissionId, server: options.Server = None, as_json: options.Json = False) -> None:
    """Print the source of a submission of yours, as it was sent."""
    with connect(server) as api:
        content = api.get_bytes(f"{_path(submission_id)}/source")
    if as_json:
        print_json({"id": submission_id, "source": content.decode("utf-8", "replace")})
        return
    sys.stdout.buffer.write(content)
    sys.stdout.buffer.flush()


def open_(submission_id: options.SubmissionId, server: options.Server = None, as_json: options.Json = False) -> None:
    """Open a submission's page in the browser, and print its address."""
    import webbrowser

    with connect(server) as api:
        status = read(SubmissionStatus, api.get(_path(submission_id)))
        address = _absolute(api.server, status.url or f"submissions/{status.id}")
    if not webbrowser.open(address):
        say("there is no browser to open here")
    if as_json:
        print_json({"id": status.id, "url": address})
    else:
        print_text(address)


def submissions(
    challenge: options.Challenge = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="How many.")] = 20,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """List your submissions, the newest first."""
    with connect(server) as api:
        answer = api.get("submissions", challenge=challenge, limit=limit)
    listed = items_of(answer, "submissions")
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
    return "" if measurement is None else format_score(measurement.value)


def _send(
    mode: str,
    files: list[Path],
    challenge: str | None,
    device: str | None,
    language: str | None,
    custom: dict[str, str] | None = None,
    *,
    no_wait: bool,
    server: str | None,
    as_json: bool,
    retry_key: str | None = None,
) -> None:
    """Sends all files, then follows them. Reports each file as soon as the server has taken it."""
    sources = read_sources(files, challenge=challenge, device=device, language=language)
    several, codes = len(sources) > 1, []
    with connect(server) as api:
        sent = []
        for one in sources:
            body: dict[str, Any] = {
                "challenge": one.challenge, "device": one.device, "mode": mode, "source": one.text()
            }  # fmt: skip
            if one.language is not None:
                body["language"] = one.language
            if custom is not None:
                body["input"] = custom
            try:
                answer = _post(api, body, _key(retry_key, one, body))
            except CliError as error:
                if not several or error.exit_code in (NOT_ALLOWED, UNREACHABLE):
                    raise
                _tell_refused(one, error, as_json=as_json)
                codes.append(error.exit_code)
                continue
            named = _named(api, read(SubmissionStatus, answer), one)
            if several and as_json:
                print_json_line({"event": "accepted", **named})
            elif no_wait:
                say(f"Submitted {one.path}. To follow it: gpujudge watch {named['id']}")
                if not as_json:
                    print_text(named["id"])
            sent.append((one, answer, named))
        for one, answer, named in () if no_wait else sent:
            if several and not as_json:
                print_text(f"{one.path}")
            shown, code = _wait_for_verdict(api, answer, as_json=as_json)
            codes.append(code)
            if as_json and several:
                print_json_line({"event": "judged", **named, **shown})
            elif as_json:
                print_json({**shown, **named})
        if no_wait and as_json and not several:
            [(_, answer, named)] = sent
            print_json({**answer, **named})
    raise typer.Exit(max(codes, default=0))


def _post(api: Api, body: dict[str, Any], key: str) -> Any:
    """Sends a submission, and waits as long as the server asks for. Raises CliError.

    With the key, a request sent twice creates one submission.
    """
    waited_s = 0.0
    while True:
        try:
            return api.post("submissions", body, idempotency_key=key)
        except RateLimited as limited:
            waited_s += max(1.0, limited.retry_after_s)
            if waited_s > _LONGEST_WAIT_S:
                raise
            say(f"{limited.message} Going on in {limited.retry_after_s:.0f} s.")
            api.sleep(max(1.0, limited.retry_after_s))


def _key(retry_key: str | None, one: Source, body: dict[str, Any]) -> str:
    """Returns the idempotency key of a file: another each time, or that of what is sent under a key of the user's."""
    if retry_key is None:
        return str(uuid.uuid4())
    content = json.dumps([retry_key, str(one.path), body], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _named(api: Api, status: SubmissionStatus, one: Source) -> dict[str, str]:
    url = _absolute(api.server, status.url or f"submissions/{status.id}")
    return {"file": str(one.path), "id": status.id, "url": url}


def _tell_refused(one: Source, error: CliError, *, as_json: bool) -> None:
    if as_json:
        print_json_line({"event": "refused", "file": str(one.path), "error": error.message, "hint": error.hint})
    say(f"{one.path}: {error.message} {error.hint}".rstrip(), "bold red")


def _wait_for_verdict(api: Api, answer: Any, *, as_json: bool) -> tuple[Any, int]:
    """Follows the submission, and prints its judgement unless ``as_json``. Returns its JSON and the exit code.

    Raises CliError.
    """
    status = read(SubmissionStatus, answer)
    try:
        if status.state not in _FINAL_STATES:
            with ProgressLine() as progress:
                progress.update(status.state, Step(position=status.position, wait_s=status.wait_s))
                for event in follow(api, status.id):
                    progress.update(event.kind, event.payload)
            answer = api.get(_path(status.id))
            status = read(SubmissionStatus, answer)
    except KeyboardInterrupt:
        hint = f"It is still being judged: gpujudge watch {status.id}"
        raise CliError("stopped waiting", exit_code=INTERRUPTED, hint=hint) from None
    if status.state == "cancelled" or status.judgement is None:
        if as_json:
            print_json(answer)
        raise CliError(f"{status.id} was cancelled", exit_code=FAILED)
    judgement = read_status_judgement(status.judgement)
    if not as_json:
        from cli.render import print_judgement

        print_judgement(judgement)
        if status.audit is not None and status.audit.verdict is not Verdict.ACCEPTED:
            verdict, message = status.audit.verdict.value, status.audit.message
            say(f"An audit took it off the leaderboard, {verdict}: {message}", "bold red")
        _print_recheck(status)
        if status.url:
            say(_absolute(api.server, status.url))
    found = None if status.recheck is None else status.recheck.result
    return status.judgement | ({} if found is None else {"recheck": found}), judgement.verdict.exit_code


def _print_recheck(status: SubmissionStatus) -> None:
    """Prints the emulator's findings in a submission that a GPU accepted, or that they are not there yet."""
    if status.recheck is None:
        return
    if status.recheck.result is None:
        say(f"The emulator checks it when nothing else is to be done: gpujudge watch {status.id} shows what it finds.")
        return
    from cli.render import recheck_lines
    from judge.judgement_json import read_recheck

    for line in recheck_lines(read_recheck(status.recheck.result)):
        stdout().print(line)


def _path(submission_id: str) -> str:
    """Returns the API's path of a submission; also of its page's address, pasted whole."""
    return f"submissions/{quote(submission_id.rstrip('/').rpartition('/')[2], safe='')}"


def _absolute(server: str, url: str) -> str:
    return url if "://" in url else f"{server}/{url.lstrip('/')}"
