"""The ``pack verify`` command, for authors of challenges."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cli import options
from cli.commands.local import DataDir, find_device, local_settings, prepare_device
from cli.console import print_json, print_text
from cli.errors import FAILED, CliError
from cli.extras import need
from cli.progress import ProgressLine

if TYPE_CHECKING:
    from judge.judgement import Judgement
    from judge.packs.pack import Pack
    from judge.packs.verify import SubmissionCheck, Verification

#: Fixed, so that authors can reproduce a failure with the same inputs.
_SEED = 1

app = typer.Typer(help="For authors of challenges.", no_args_is_help=True)


@app.callback()
def _pack() -> None:
    """For authors of challenges."""


@app.command()
def verify(
    path: Annotated[Path, typer.Argument(metavar="PATH", help="The folder of a challenge.", show_default=False)],
    device: Annotated[str, typer.Option("--device", "-d", help="What to judge its submissions on.")] = "emulator",
    static_only: Annotated[bool, typer.Option("--static-only", help="Judge nothing: only read and check it.")] = False,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Check a challenge: that it loads, its references and texts, and that its submissions get their verdicts."""
    verify_pack = need("judge.packs.verify", "judge").verify_pack
    with ProgressLine() as line:
        if static_only:
            found: Verification = verify_pack(path)
        else:
            pipeline = need("judge.pipeline", "judge")
            settings = local_settings(data_dir)
            chosen = find_device(device, settings)
            prepare_device(chosen, settings, line.update)

            def judge(source: bytes, pack: Pack) -> Judgement:
                judged: Judgement = pipeline.judge(source, pack, chosen, _SEED, settings)
                return judged

            line.update("checking")
            found = verify_pack(path, judge, on_submission=lambda check: line.update(_line(check)))
    if as_json:
        print_json(_plain(path, found))
    else:
        for finding in found.findings:
            print_text(str(finding))
        for check in found.submissions:
            if check.complaint is not None:
                print_text(f"{check.submission.path}: {check.complaint}")
    if not found.ok:
        raise CliError(f"{path} is not in order", exit_code=FAILED)
    if not as_json:
        assert found.pack is not None
        judged = f", {len(found.submissions)} submissions judged" if found.submissions else ""
        print_text(f"{found.pack.slug} {found.pack.version} is in order: {len(found.pack.cases)} cases{judged}")


def _line(check: SubmissionCheck) -> str:
    name = "/".join(check.submission.path.parts[-2:])
    return f"{check.judgement.verdict.value:<4}{name}" + ("" if check.complaint is None else f": {check.complaint}")


def _plain(path: Path, found: Verification) -> dict[str, Any]:
    return {
        "ok": found.ok,
        "challenge": found.pack.slug if found.pack else path.name,
        "findings": [
            {"file": str(finding.file), "key": finding.key, "message": finding.message} for finding in found.findings
        ],
        "submissions": [
            {
                "file": str(check.submission.path),
                "verdict": check.judgement.verdict.value,
                "complaint": check.complaint,
            }
            for check in found.submissions
        ],
    }
