"""The ``gradescope`` command, which writes a challenge's autograder for Gradescope."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import options
from cli.commands.local import Packs
from cli.console import print_json, print_text, say
from cli.errors import UsageError
from cli.extras import need
from cli.local_setup import find_pack


def gradescope(
    slug: options.Slug,
    wheel: Annotated[
        Path, typer.Option(metavar="FILE", help="gpujudge's wheel, which `make dist` writes.", show_default=False)
    ],
    points: Annotated[float, typer.Option(min=0.01, help="The points of an accepted submission.")] = 100.0,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder; else SLUG-gradescope.")
    ] = None,
    packs: Packs = None,
    as_json: options.Json = False,
) -> None:
    """Write an autograder for Gradescope, which judges submissions to a challenge on the emulator.

    Zip what is in the folder and upload it; its README.md says the rest. It has the challenge's hidden cases.
    """
    if wheel.suffix != ".whl" or not wheel.is_file():
        raise UsageError(f"{wheel} is not a wheel", hint="In a clone of gpujudge, `make dist` writes one to dist/.")
    pack = find_pack(slug, packs)
    folder = out or Path(f"{slug}-gradescope")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already", hint="Name a new folder: --out DIR.")
    module = need("judge.export.gradescope", "judge")
    files = module.autograder(pack, wheel=wheel, points=points, folder=str(folder))
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
        if path in module.EXECUTABLE:
            (folder / path).chmod(0o755)
    if as_json:
        print_json({"folder": str(folder), "files": sorted(files)})
        return
    print_text(f"{folder}: {len(files)} files")
    say(f"Next: cd {folder} && zip -r ../{slug}-gradescope.zip . and upload it; README.md says more.")
