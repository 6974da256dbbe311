"""The ``asm`` command, which prints what a compiler makes of a file, without running it."""

from __future__ import annotations

import dataclasses
import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from cli import options
from cli.architectures import named_architecture
from cli.commands.local import DataDir, Packs
from cli.console import print_json, print_text, say
from cli.errors import UsageError
from cli.extras import need
from cli.local_setup import find_pack, local_settings
from cli.source import language_of, parse_directive, read_content, take_headers
from judge.languages.registry import BUILTIN_LANGUAGES, DEFAULT_LANGUAGE

if TYPE_CHECKING:
    from emulator.model import Gpu
    from judge.compile.assembly import Assembly, FunctionAssembly
    from judge.compile.challenge import Challenge
    from judge.compile.listing import Instruction
    from judge.compile.source_files import OwnLines
    from judge.languages.base import Language

#: What occupancy is stated for where a kernel has no launch bounds.
_BLOCK_THREADS = 256


def asm(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The file; - is stdin.", show_default=False)],
    arch: Annotated[
        str, typer.Option(metavar="NAME", help="An architecture, such as sm_80, or a GPU, such as a100.")
    ] = "h200",
    ptx: Annotated[bool, typer.Option("--ptx", help="PTX instead of machine code (SASS).")] = False,
    ttgir: Annotated[bool, typer.Option("--ttgir", help="Triton's code for GPUs (TTGIR) instead.")] = False,
    ttir: Annotated[bool, typer.Option("--ttir", help="Triton's code (TTIR) instead.")] = False,
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="Only the functions of that name.")] = None,
    line: Annotated[
        str | None, typer.Option(metavar="N", help="Only what was made for this line; 12-20 for several.")
    ] = None,
    block: Annotated[
        int | None,
        typer.Option(metavar="THREADS", min=1, max=1024, help="The threads of a block that occupancy is stated for."),
    ] = None,
    challenge: options.Challenge = None,
    packs: Packs = None,
    data_dir: DataDir = None,
    as_json: options.Json = False,
) -> None:
    """Print the machine code (SASS) or PTX of each kernel, under the source lines that it was made for.

    A kernel in Triton has its TTIR or TTGIR, too.

    Each kernel begins with its registers, spills and shared memory, and with how many of its warps a multiprocessor can
    hold. A file that is for a challenge is compiled as the judge does; any other needs none. Exits with 11 if it does
    not compile.
    """
    content = read_content(file)
    named = parse_directive(content)
    language = BUILTIN_LANGUAGES.of(language_of(file, named.get("language")) or DEFAULT_LANGUAGE)
    if language.companions:
        content, _ = take_headers(file, content)
    settings = local_settings(data_dir)
    module = need("judge.compile.assembly", "judge")
    slug = challenge or named.get("challenge")
    pack: Challenge = find_pack(slug, packs) if slug else module.NoChallenge()
    if not slug and language.name != DEFAULT_LANGUAGE:
        hint = f"Say --challenge SLUG, or begin the file with `{language.comment} gpujudge: challenge=SLUG`."
        raise UsageError(f"which challenge is {file.name} for? Its cases decide what is compiled", hint=hint)
    if language.missing():
        raise UsageError(language.missing())
    kind = _kind(language, ptx=ptx, ttgir=ttgir, ttir=ttir)
    gpu, architecture = named_architecture(arch)
    wanted = _lines(line)
    made: Any = language.assemble(content, cast(Any, pack), architecture, settings)
    if isinstance(made, module.NotAssembled) and made.log.startswith("nvcc fatal"):
        raise UsageError(made.log)
    if isinstance(made, module.NotAssembled):
        if as_json:
            print_json({"file": str(file), "ok": False, "log": made.log})
        else:
            say(made.log)
        raise typer.Exit(need("judge.verdict", "judge").Verdict.COMPILE_ERROR.exit_code)
    made = _chosen(made, kernel)
    if as_json:
        to_json = need("judge.compile.assembly_json", "judge").to_json
        print_json({"file": str(file), "ok": True, **to_json(made)})
        return
    text = content.decode("utf-8", "replace").split("\n")
    own = need("judge.compile.source_files", "judge").own_lines(content, language.file_name)
    for number, function in enumerate(made.functions):
        listing = function.listing(kind)
        if not listing:
            continue
        if number:
            print_text("")
        print_text(f"{function.name}  ({made.architecture})")
        for each in _figures(function, gpu, block):
            print_text(f"  {each}")
        _print_listing(listing, text, wanted, own)


def _kind(language: Language, **wanted: bool) -> str:
    """Returns the kind of listing that options ask for. Raises UsageError."""
    chosen = [kind for kind, is_wanted in wanted.items() if is_wanted] or ["sass"]
    if len(chosen) > 1:
        raise UsageError(f"choose one of {', '.join(f'--{kind}' for kind in chosen)}")
    if chosen[0] not in language.listings:
        raise UsageError(f"{language.title} has no {chosen[0].upper()}.")
    return chosen[0]


def _lines(text: str | None) -> range | None:
    if text is None:
        return None
    found = re.fullmatch(r"(\d{1,7})(?:-(\d{1,7}))?", text.strip())
    if found is None or int(found[2] or found[1]) < int(found[1]):
        raise UsageError(f"--line {text!r} is not a line.", hint="Say --line 12, or --line 12-20.")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


def _chosen(made: Assembly, kernel: str | None) -> Assembly:
    """Returns the functions of that name; all for None. Raises UsageError if there is none."""
    if not made.functions:
        raise UsageError("The file has no kernel.", hint="A kernel is a function that is declared __global__.")
    if kernel is None:
        return made
    chosen = tuple(function for function in made.functions if kernel in (function.name, function.symbol))
    if not chosen:
        known = ", ".join(dict.fromkeys(function.name for function in made.functions))
        raise UsageError(f"There is no kernel {kernel!r}.", hint=f"There are: {known}.")
    return dataclasses.replace(made, functions=chosen)


def _figures(function: FunctionAssembly, gpu: Gpu | None, block: int | None) -> list[str]:
    """Returns the kernel's resources as ptxas reports them, and its occupancy, in words."""
    resources = function.resources
    if resources is None:
        return []
    spilled = resources.spill_stores_bytes + resources.spill_loads_bytes
    said = [
        f"{resources.registers} registers a thread",
        f"{resources.shared_bytes:,} bytes of shared memory a block",
        f"{spilled:,} bytes spilled" if spilled else "nothing spilled",
    ]
    if gpu is None:
        return [", ".join(said)]
    threads = block or function.block_threads or _BLOCK_THREADS
    occupancy = need("emulator.model", "judge").occupancy_of(gpu, threads, resources.registers, resources.shared_bytes)
    return [
        ", ".join(said),
        f"{gpu.name} holds {occupancy.warps} warps of it ({occupancy.ratio:.0%}) in blocks of {threads}, "
        f"limited by {occupancy.limiter}",
    ]


def _print_listing(listing: tuple[Instruction, ...], text: list[str], wanted: range | None, own: OwnLines) -> None:
    shown: int | None = None
    for instruction in listing:
        if wanted is not None and (instruction.line is None or instruction.line not in wanted):
            continue
        if instruction.line is not None and instruction.line != shown:
            shown = instruction.line
            source = text[shown - 1].rstrip() if shown <= len(text) else ""
            name = own.in_words(shown).removeprefix("line ")
            print_text(f"{name:>5} | {source}")
        indent = "    " if instruction.is_label and instruction.text[0] != " " else "        "
        print_text(indent + instruction.text)
