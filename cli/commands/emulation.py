"""The ``emulate`` command, which runs any CUDA program on the CPU and reports on it."""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from cli.commands.local import DataDir
from cli.extras import need, need_installed
from cli.local_setup import local_settings


class Format(StrEnum):
    """The forms of the emulator's report."""

    TEXT = "text"
    JSON = "json"
    GITHUB = "github"
    SARIF = "sarif"


class Checks(StrEnum):
    """How much the emulator checks: accesses to memory, or races and uninitialized reads, too."""

    DEFAULT = "default"
    FULL = "full"


def _as(kind: str) -> Callable[[str], Any]:
    """Returns a parser for an option's text, the same that ``python -m emulator`` uses."""

    def read(text: str) -> Any:
        command = need("emulator.standalone.command", "emulator")
        try:
            return getattr(command, kind)(text)
        except argparse.ArgumentTypeError as error:
            raise typer.BadParameter(str(error)) from None

    return read


def emulate(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="Found as a shell would.", show_default=False)],
    arguments: Annotated[list[str] | None, typer.Argument(metavar="ARGUMENT", show_default=False)] = None,
    format: Annotated[
        Format,
        typer.Option(help="github annotates lines in a workflow, sarif is for code scanning. All but text: on stdout."),
    ] = Format.TEXT,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Write the report to FILE.")
    ] = None,
    check: Annotated[
        Checks, typer.Option(help="full: also check for races and for reads of uninitialized memory; slower.")
    ] = Checks.DEFAULT,
    profile: Annotated[bool, typer.Option("--profile", help="Say what each kernel and line cost.")] = False,
    gpu: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Modelled time on that GPU, such as h200, in the report and between events."),
    ] = None,
    cpu_time: Annotated[
        bool, typer.Option("--cpu-time", help="With --gpu: the time between events is the CPU's all the same.")
    ] = False,
    memory: Annotated[
        int | None,
        typer.Option(metavar="SIZE", parser=_as("size_of"), help="Device memory, such as 512M or 16G."),
    ] = None,
    time_limit: Annotated[
        float | None,
        typer.Option(metavar="SECONDS", parser=_as("seconds_of"), help="Of each launch: ends endless loops; else 600."),
    ] = None,
    instruction_limit: Annotated[
        int | None,
        typer.Option(metavar="COUNT", parser=_as("count_of"), help="Of each launch, in warp instructions."),
    ] = None,
    schedule: Annotated[int | None, typer.Option(metavar="SEED", help="Run warps in another order.")] = None,
    threads: Annotated[
        int | None, typer.Option(metavar="COUNT", parser=_as("count_of"), help="CPU threads; else one for each CPU.")
    ] = None,
    cache: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Where machine code is kept; else in the data folder.")
    ] = None,
    error_exitcode: Annotated[
        int | None,
        typer.Option(metavar="CODE", min=0, max=255, help="Exit code for problems in a program that exits with 0."),
    ] = None,
    data_dir: DataDir = None,
) -> None:
    """Run a program built with `nvcc -cudart shared` on the CPU, and report on it.

    The report says what its kernels and calls did.

    Its standard streams and its exit code are its own; the report goes to stderr.
    """
    need_installed("llvmlite", "zstandard", extra="emulator")
    command = need("emulator.standalone.command", "emulator")
    if gpu is not None and gpu not in command.gpu_names():
        raise typer.BadParameter(f"there are {', '.join(command.gpu_names())}", param_hint="--gpu")
    settings = command.Settings(
        command=(program, *(arguments or ())),
        format=format.value,
        output=output,
        check=check.value,
        profile=profile,
        gpu=gpu,
        cpu_time=cpu_time,
        memory_bytes=memory,
        wall_s=time_limit or command.LAUNCH_LIMIT_S,
        warp_instructions=instruction_limit,
        schedule=schedule,
        cache=cache or local_settings(data_dir).data_dir / "emulator",
        threads=threads,
        error_exitcode=error_exitcode,
    )
    _take_back_own_path()
    raise typer.Exit(command.run(settings))


def _take_back_own_path() -> None:
    """Removes from PYTHONPATH what ``gpujudge.main`` put there: the program may be Python, with modules like ours."""
    home = str(Path(__file__).resolve().parent.parent.parent)
    first, _, others = os.environ.get("PYTHONPATH", "").partition(os.pathsep)
    if first == home:
        os.environ["PYTHONPATH"] = others
