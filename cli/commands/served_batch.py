"""The ``batch`` commands: many kernels through a server's queue, and what has come of them."""

from __future__ import annotations

import hashlib
import json
import time
from collections import Counter, deque
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from cli import options
from cli.answers import SubmissionStatus, items_of, read
from cli.api import Api
from cli.connect import connect
from cli.console import print_json, print_text
from cli.errors import NOT_ALLOWED, RATE_LIMITED, CliError, Unreachable, UsageError
from cli.kernel_files import kernel_paths, read_kernel
from cli.result_lines import ResultLines
from cli.source import DEFAULT_DEVICE
from judge.batch.kernels import Kernel, Result
from judge.verdict import Verdict
from records import dataclass

app = typer.Typer(help="Many kernels through a server's queue.", no_args_is_help=True)

#: States that a submission never leaves.
_FINAL = ("done", "cancelled", "dead")
#: What a page of one's submissions has at most.
_PAGE = 100
_POLL_S = 2.0
#: How long a server may be away before the batch gives up; it can be called again.
_PATIENCE_S = 600.0

Out = Annotated[Path, typer.Option("--jsonl", metavar="OUT", help="Write a line of JSON for each kernel to this file.")]


@app.callback()
def _batch() -> None:
    """Many kernels through a server's queue."""


@app.command()
def submit(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR...", help="Folders of .cu files, or such files.", show_default=False)
    ],
    jsonl: Out,
    challenge: options.Challenge = None,
    device: options.Device = None,
    window: Annotated[int, typer.Option(min=1, max=1000, help="How many may be unfinished at a time.")] = 50,
    server: options.Server = None,
) -> None:
    """Submit all kernels in folders, and write a line of JSON for each once it is judged.

    Called again with the same OUT it goes on, whatever ended it: no kernel is submitted twice. Which challenge a file
    is for is told as for `gpujudge judge --jsonl`. Users take turns on a server, so that a batch delays nobody else by
    more than one kernel in a round. The exit code is the highest of all lines.
    """
    paths = kernel_paths(folders)
    device = device or DEFAULT_DEVICE
    results = ResultLines(jsonl, resume=True)
    try:
        with connect(server) as api:
            slugs = frozenset(str(item.get("slug")) for item in items_of(api.get("challenges"), "challenges"))
            sender = _Sender(api, results, device, window, len(paths))
            sender.send_all(deque(_unknown(paths, results, challenge, slugs, device)))
    finally:
        results.close()
    raise typer.Exit(sender.worst)


@app.command()
def status(
    out: Annotated[Path, typer.Argument(metavar="OUT", help="A file of results.", show_default=False)],
    as_json: options.Json = False,
) -> None:
    """Count the verdicts in a file of results, which a batch may be writing."""
    try:
        content = out.read_bytes()
        lines = [json.loads(line) for line in content.split(b"\n")[:-1]]
        counts = Counter(line["verdict"] or "none" for line in lines)
    except OSError as error:
        raise UsageError(f"cannot read {out}: {error.strerror}") from None
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{out} is not a file of results") from None
    if as_json:
        print_json({"results": len(lines), "verdicts": dict(counts.most_common())})
    else:
        print_text(f"{len(lines)} results: {', '.join(f'{count} {name}' for name, count in counts.most_common())}")


@dataclass(frozen=True, slots=True)
class _Sent:
    kernel: Kernel
    key: str


def _unknown(
    paths: list[Path], results: ResultLines, challenge: str | None, slugs: frozenset[str], device: str
) -> list[_Sent | Result]:
    """Returns the files without a line; removes the lines of files that have changed or could not be read."""
    keys = {line["file"]: line.get("key") for line in results.lines if line.get("verdict") is not None}
    left: list[_Sent | Result] = []
    again = set()
    for path in paths:
        kernel = read_kernel(path, challenge, slugs)
        if isinstance(kernel, Result):
            left.append(kernel)
        elif keys.get(str(path)) == (key := _key(kernel, device, results.path)):
            continue
        else:
            left.append(_Sent(kernel, key))
        again.add(str(path))
    results.keep([number for number, line in enumerate(results.lines) if line["file"] not in again])
    return left


def _key(kernel: Kernel, device: str, out: Path) -> str:
    """Returns the key under which the server knows this kernel of this batch, however often it is sent."""
    about = json.dumps([str(out.absolute()), kernel.name, kernel.challenge, device])
    return "batch-" + hashlib.sha256(about.encode() + kernel.source).hexdigest()[:32]


class _Sender:
    """Keeps up to ``window`` submissions unfinished, and writes each one's line when it is judged."""

    def __init__(
        self,
        api: Api,
        results: ResultLines,
        device: str,
        window: int,
        total: int,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        from cli.batch import Progress

        self._api = api
        self._results = results
        self._device = device
        self._window = window
        self._clock = clock
        self._waiting: dict[str, _Sent] = {}
        self._answered_s = clock()
        self._progress = Progress(total, len(results.lines))
        self.worst = max((_exit_code(line) for line in results.lines), default=0)

    def send_all(self, left: deque[_Sent | Result]) -> None:
        """Returns once there is a line for each. Raises CliError, after which another call goes on."""
        from cli.batch import require_written

        while left or self._waiting:
            try:
                self._send(left)
                self._collect()
                self._answered_s = self._clock()
            except Unreachable:
                if self._clock() - self._answered_s > _PATIENCE_S:
                    raise
            if self._waiting or left:
                self._api.sleep(_POLL_S)
        self._progress.end()
        require_written(self._results)

    def _send(self, left: deque[_Sent | Result]) -> None:
        while left and len(self._waiting) < self._window:
            each = left[0]
            if isinstance(each, Result):
                self._add(each, "", {})
            else:
                body = {
                    "challenge": each.kernel.challenge,
                    "device": self._device,
                    "mode": "submit",
                    "source": each.kernel.source.decode("utf-8", "surrogateescape"),
                }
                try:
                    answer = self._api.post("submissions", body, idempotency_key=each.key)
                except Unreachable:
                    raise
                except CliError as error:
                    if error.exit_code == RATE_LIMITED:
                        return
                    if error.exit_code == NOT_ALLOWED:
                        raise
                    self._add(Result(each.kernel, problem=error.message), each.key, {})
                else:
                    self._waiting[read(SubmissionStatus, answer).id] = each
            left.popleft()

    def _collect(self) -> None:
        """Asks for all that is unfinished: most of it is on the first page of one's submissions."""
        if not self._waiting:
            return
        listed = items_of(self._api.get("submissions", limit=_PAGE), "submissions")
        found = {str(item.get("id")): item for item in listed}
        for number in list(self._waiting):
            answer = found.get(number)
            if answer is None:
                answer = self._api.get(f"submissions/{number}")
            told = read(SubmissionStatus, answer)
            if told.state in _FINAL:
                sent = self._waiting.pop(number)
                self._add(_result(sent.kernel, told), sent.key, {"submission": told.id})

    def _add(self, result: Result, key: str, more: dict[str, Any]) -> None:
        self._results.add({"file": result.kernel.name, "key": key, **result.to_json(), **more})
        self.worst = max(self.worst, result.exit_code)
        self._progress.tell(result, self._results)


def _result(kernel: Kernel, told: SubmissionStatus) -> Result:
    judgement = told.judgement
    if judgement is None:
        how = "was cancelled" if told.state == "cancelled" else "ended without a judgement"
        return Result(kernel, told.device, Verdict.INTERNAL_ERROR, problem=f"submission {told.id} {how}")
    return Result(kernel, told.device, Verdict(str(judgement["verdict"])), judgement=judgement)


def _exit_code(line: dict[str, Any]) -> int:
    verdict = line.get("verdict")
    return Verdict(verdict).exit_code if verdict in {each.value for each in Verdict} else 0
