"""The commands that send kernels to a server, and that follow, cancel, list and show submissions."""

from __future__ import annotations

import sys
import uuid
from dataclasses import dataclass, field
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

NoWait = Annotated[bool, typer.Option("--no-wait", help="Do not wait for the verdict.")]


def submit(
    files: options.KernelFiles,
    challenge: options.Challenge = None,
    device: options.Device = None,
    no_wait: NoWait = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Send kernels: every case, then the timing, then the leaderboard.

    The challenge and the device come from the options or from a line in the file, such as
    `// gpujudge: challenge=softmax device=emulator`. The exit code says the verdict: 0 AC, 10 WA, 11 CE, 12 RE, 13 TLE,
    14 MLE, 15 OLE, 16 SV, 17 TI, 20 IE; of several files, the highest. With --json and several files, a line of JSON
    tells of each file when it is accepted, and another of its judgement.
    """
    _send("submit", files, challenge, device, no_wait=no_wait, server=server, as_json=as_json)


def run(
    files: options.KernelFiles,
    challenge: options.Challenge = None,
    device: options.Device = None,
    sizes: options.Set = None,
    contents: options.Input = None,
    no_wait: NoWait = False,
    server: options.Server = None,
    as_json: options.Json = False,
) -> None:
    """Try kernels on the public cases only; nothing is timed or ranked. Otherwise as submit.

    With --set and --input they run on an input of your own instead, and the reference's answer is printed beside the
    kernel's: `gpujudge run add.cu --set N=4 --input 'A=1 2 3 4'`. What you leave out is as in the first public case.
    """
    custom = read_custom_input(sizes, contents)
    _send("run", files, challenge, device, custom, no_wait=no_wait, server=server, as_json=as_json)


def watch(submission_id: options.SubmissionId, server: options.Server = None, as_json: options.Json = False) -> None:
    """Follow a submission to its verdict; the exit code says it, as for submit."""
    with connect(server) as api:
        answer = api.get(_path(submission_id))
        shown, code = _wait_for_verdict(api, answer, as_json=as_json)
    if as_json:
        print_json({**shown, "id": answer["id"], "url": answer.get("url")})
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
    return "" if measurement is None else format_score(measurement.metric, measurement.value)


@dataclass(slots=True)
class _Sending:
    """Sends files one by one, and prints each as soon as the server accepts it: what ends the command loses no id."""

    api: Api
    as_json: bool
    no_wait: bool
    #: Several files: their JSON is lines, one for each event of a file.
    several: bool
    accepted: list[tuple[str, Any]] = field(default_factory=list)
    codes: list[int] = field(default_factory=list)

    def send(self, path: str, body: dict[str, Any]) -> None:
        """Sends a file, and waits where the server says for how long. Raises CliError where no file can be sent."""
        # With the key, a request sent twice creates one submission.
        key = str(uuid.uuid4())
        while True:
            try:
                answer = self.api.post("submissions", body, idempotency_key=key)
            except RateLimited as refusal:
                wait_s = max(refusal.retry_after_s, 1)
                say(f"{path}: {refusal.message} It is sent again in {wait_s} s.")
                self.api.sleep(wait_s)
                continue
            except CliError as error:
                if not self.several or error.exit_code in (UNREACHABLE, NOT_ALLOWED):
                    raise
                self._refused(path, error)
                return
            self._accepted(path, answer)
            return

    def _accepted(self, path: str, answer: Any) -> None:
        submission_id = read(SubmissionStatus, answer).id
        self.accepted.append((path, answer))
        if self.several and self.as_json:
            print_json_line({"event": "accepted", "file": path, **answer})
        if self.no_wait:
            say(f"Submitted as {submission_id}. To follow it: gpujudge watch {submission_id}")
            if not self.as_json:
                print_text(submission_id)
            elif not self.several:
                print_json({**answer, "file": path})
        elif self.several and not self.as_json:
            say(f"{path} is accepted as {submission_id}.")

    def _refused(self, path: str, error: CliError) -> None:
        self.codes.append(error.exit_code)
        say(f"error: {path} was not accepted: {error.message}" + (f" {error.hint}" if error.hint else ""), "bold red")
        if self.as_json:
            print_json_line({"event": "refused", "file": path, "error": error.message, "exit_code": error.exit_code})

    def follow(self, path: str, answer: Any) -> None:
        """Follows an accepted file to its verdict. Raises CliError where the waiting ends."""
        status = read(SubmissionStatus, answer)
        named = {"id": status.id, "url": answer.get("url"), "file": path}
        if self.several and not self.as_json:
            print_text(path)
        try:
            shown, code = _wait_for_verdict(self.api, answer, as_json=self.as_json, quiet=True)
        except CliError as error:
            if self.several and error.exit_code == FAILED:
                self._ended_without_verdict(named, error)
                return
            if self.as_json and not self.several:
                print_json({**named, "error": error.message, "exit_code": error.exit_code})
            raise
        self.codes.append(code)
        if self.as_json and self.several:
            print_json_line({"event": "judged", **named, **shown})
        elif self.as_json:
            print_json({**shown, **named})

    def _ended_without_verdict(self, named: dict[str, Any], error: CliError) -> None:
        self.codes.append(error.exit_code)
        say(f"error: {error.message}", "bold red")
        if self.as_json:
            print_json_line({"event": "cancelled", **named, "error": error.message, "exit_code": error.exit_code})


def _send(
    mode: str,
    files: list[Path],
    challenge: str | None,
    device: str | None,
    custom: dict[str, str] | None = None,
    *,
    no_wait: bool,
    server: str | None,
    as_json: bool,
) -> None:
    sources = read_sources(files, challenge=challenge, device=device)
    with connect(server) as api:
        sending = _Sending(api, as_json, no_wait, several=len(sources) > 1)
        for number, one in enumerate(sources):
            try:
                sending.send(str(one.path), _body(mode, one, custom))
            except KeyboardInterrupt:
                raise _stopped(sources[number:], sending, "stopped", INTERRUPTED) from None
            except CliError as error:
                if not sending.several:
                    raise
                raise _stopped(sources[number:], sending, error.message, error.exit_code, error.hint) from None
        if not no_wait:
            for path, answer in sending.accepted:
                sending.follow(path, answer)
    raise typer.Exit(max(sending.codes, default=0))


def _body(mode: str, source: Source, custom: dict[str, str] | None) -> dict[str, Any]:
    body: dict[str, Any] = {
        "challenge": source.challenge, "device": source.device, "mode": mode, "source": source.text()
    }  # fmt: skip
    return body if custom is None else {**body, "input": custom}


def _stopped(left: list[Source], sending: _Sending, message: str, exit_code: int, hint: str = "") -> CliError:
    """Returns the error that ends the sending: which files were accepted, and which were not."""
    ids = " ".join(read(SubmissionStatus, answer).id for _, answer in sending.accepted)
    lines = [hint] if hint else []
    if ids:
        lines.append(f"Accepted: {ids}")
    # The first may have arrived without the answer to it.
    lines.append("Not known to be accepted: " + " ".join(str(each.path) for each in left))
    return CliError(message, exit_code=exit_code, hint="\n".join(lines))


def _wait_for_verdict(api: Api, answer: Any, *, as_json: bool, quiet: bool = False) -> tuple[Any, int]:
    """Follows the submission, and prints its judgement unless ``as_json``. Returns its JSON and the exit code.

    The JSON of one without a judgement is printed unless ``quiet``.

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
        if as_json and not quiet:
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
    """Prints what the emulator says of what a GPU accepted, or that it was not asked yet."""
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
