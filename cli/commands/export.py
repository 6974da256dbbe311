"""The ``export`` command, which writes a kernel as a library for other programs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from cli import options
from cli.architectures import named_architecture
from cli.commands.local import DataDir, Packs
from cli.console import print_json, print_text, say
from cli.errors import UsageError
from cli.extras import need
from cli.local_setup import local_settings, pack_of
from cli.source import read_source

#: PTX, which the driver compiles for any GPU from sm_80 on.
PORTABLE = "compute_80"


def export(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The .cu file; - is stdin.", show_default=False)],
    torch: Annotated[bool, typer.Option("--torch", help="A PyTorch extension, from sources.")] = False,
    ctypes: Annotated[
        bool, typer.Option("--ctypes", help="A shared library with a header and a Python wrapper.")
    ] = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="A new folder; else the challenge's name.")
    ] = None,
    arch: Annotated[
        str,
        typer.Option(metavar="NAME", help="The target: sm_90, a GPU's name, or compute_80 (PTX for any)."),
    ] = PORTABLE,
    challenge: options.Challenge = None,
    packs: Packs = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Write a kernel as a PyTorch extension (--torch) or a shared library (--ctypes).

    Shapes, types and what the challenge demands of them are checked at each call, and the sizes follow from the shapes.
    A call runs on the caller's stream. The extension has tests against the challenge's NumPy reference, and a
    benchmark. Judge the kernel first: the file must compile, and nothing else of it is checked here. Exits with 11 if
    it does not compile.
    """
    if torch == ctypes:
        raise UsageError("say --torch or --ctypes", hint="A PyTorch extension: gpujudge export --torch FILE.")
    source = read_source(file, challenge=challenge, device=None)
    if source.language not in (None, "cuda"):
        raise UsageError(
            "only kernels in CUDA C++ are exported", hint="A Triton kernel is called from Python as it is."
        )
    settings = local_settings(data_dir)
    pack = pack_of(source, packs)
    call = need("judge.export.call", "judge").call_of(pack)
    folder = out or Path(call.name)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise UsageError(f"{folder} is there already", hint="Name a new folder: --out DIR.")
    language = need("judge.languages.registry", "judge").BUILTIN_LANGUAGES.of("cuda")
    name = arch if arch == PORTABLE else named_architecture(arch)[1]
    kind = "emulator" if name == PORTABLE else "cuda"
    target = need("judge.compile.target", "judge").Target(kind, name)
    report, artifact = language.build(source.content, pack, target, settings)
    if artifact is None:
        say(language.headline(report))
        raise typer.Exit(need("judge.verdict", "judge").Verdict.COMPILE_ERROR.exit_code)
    if torch:
        files = need("judge.export.torch_package", "judge").torch_package(call, source.content, name)
    else:
        files = need("judge.export.ctypes_package", "judge").ctypes_package(call, artifact)
    for path, content in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_bytes(content)
    if as_json:
        print_json({"folder": str(folder), "files": sorted(files)})
        return
    print_text(f"{folder}: {', '.join(sorted(files))}")
    say(f"Next: cd {folder} && pytest tests" if torch else f"Next: from {call.name} import {call.name}")
