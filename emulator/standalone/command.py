"""``python -m emulator [options] PROGRAM [arguments]``.

Runs a program built with ``nvcc -cudart shared`` on the CPU and reports what its kernels and its calls of the CUDA
runtime did. The program's standard streams are its own; the report goes to standard error.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, get_args

from emulator import native
from emulator.fat_binaries import fat_binaries
from emulator.model import Gpu, gpu_names, load_gpu
from emulator.runtime.fatbinary import FatBinaryError, ptx_architectures
from emulator.runtime.library import NativeSettings, native_settings
from emulator.runtime.limits import Limits
from emulator.standalone.annotations import github_refusal, github_text
from emulator.standalone.plain import report_plain
from emulator.standalone.problems import problems_of
from emulator.standalone.program import CANNOT_RUN, ProgramError, find_program
from emulator.standalone.sarif import sarif_plain, sarif_refusal
from emulator.standalone.session import Outcome, run_program
from emulator.standalone.text import report_text
from records import dataclass

_EPILOG = f"""\
The exit code is the program's own (128 + the number of the signal that ended it), unless --error-exitcode says
otherwise; {CANNOT_RUN} when the emulator cannot run it, 126 when it is not a program, 127 when there is none, 2 for a
mistake in the options. Build programs with -lineinfo for lines of kernels, and -g for lines of host code.
EMULATOR_CHECK=full and EMULATOR_PROFILE=1 stand for --check=full and --profile.
"""
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}


#: Nobody can wait for an endless kernel, in CI least of all.
LAUNCH_LIMIT_S = 600.0
#: The GPU that programs for Hopper alone see where none is named, and the first architecture of its kind.
_HOPPER, _FIRST_HOPPER = "h200", 90
Format = Literal["text", "json", "github", "sarif"]
FORMATS: tuple[Format, ...] = get_args(Format)


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of a run.

    ``output`` is where the report goes; None: text to stderr, other formats to stdout. ``memory_bytes`` None: three
    quarters of the machine's. ``wall_s`` and ``warp_instructions`` are for each launch; None: no limit.
    """

    command: tuple[str, ...]
    format: Format = "text"
    output: Path | None = None
    check: Literal["default", "full"] = "default"
    profile: bool = False
    gpu: str | None = None
    cpu_time: bool = False
    memory_bytes: int | None = None
    wall_s: float = LAUNCH_LIMIT_S
    warp_instructions: int | None = None
    schedule: int | None = None
    cache: Path | None = None
    threads: int | None = None
    error_exitcode: int | None = None


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command. Returns its exit code."""
    return run(parse(arguments))


def run(settings: Settings) -> int:
    """Runs the program, and writes the report. Returns the exit code."""
    try:
        gpu = load_gpu(settings.gpu) if settings.gpu else None
        program = find_program(settings.command[0])
        cache = settings.cache or default_cache()
        if not native.brought() and not any(cache.glob(f"*/{native.LIBRARY}")):
            sys.stderr.write("emulator: its library is compiled first, once; that takes half a minute to two minutes\n")
        library = native.ensure(cache)
        outcome = run_program(
            settings.command,
            program,
            library=library,
            settings=_native(settings, gpu, gpu or _needed_gpu(program)),
            cache=cache / "kernels",
            gpu=gpu,
        )
        _write(settings, outcome, gpu)
    except ProgramError as error:
        return _refuse(settings, str(error), error.exit_code)
    except native.NativeBuildError as error:
        return _refuse(settings, str(error), CANNOT_RUN)
    except KeyboardInterrupt:
        # Before the program runs or after its end; in between, Ctrl-C is the program's.
        return 128 + signal.SIGINT
    except OSError as error:
        return _refuse(settings, f"{error.filename or 'the cache'}: {error.strerror}", CANNOT_RUN)
    has_problems = any(problems_of(report) for report in outcome.reports)
    if settings.error_exitcode is not None and has_problems and outcome.exit_code == 0:
        return settings.error_exitcode
    return outcome.exit_code


def default_cache() -> Path:
    """Where the library and machine code are kept."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "cuda-emulator"


def _needed_gpu(program: Path) -> Gpu | None:
    """Returns the GPU that a program sees because its PTX is for none before it; None for the usual one."""
    try:
        binaries = fat_binaries(program.read_bytes())
        needed = [min(found) for binary in binaries if (found := ptx_architectures(binary))]
    except (OSError, FatBinaryError):  # the run itself says what is wrong
        return None
    return load_gpu(_HOPPER) if max(needed, default=0) >= _FIRST_HOPPER else None


def _native(settings: Settings, gpu: Gpu | None, seen: Gpu | None) -> NativeSettings:
    return native_settings(
        Limits(
            memory_bytes=settings.memory_bytes, warp_instructions=settings.warp_instructions, wall_s=settings.wall_s
        ),
        threads=settings.threads,
        schedule_seed=settings.schedule,
        check_full=settings.check == "full",
        tell_silent=True,
        profile=settings.profile or gpu is not None,
        gpu=seen,
        model_events=gpu is not None and not settings.cpu_time,
    )


def _write(settings: Settings, outcome: Outcome, gpu: Gpu | None) -> None:
    match settings.format:
        case "text":
            text = report_text(outcome, profile=settings.profile, gpu=gpu)
        case "json":
            text = _json(report_plain(outcome, command=settings.command, gpu=gpu))
        case "github":
            text = github_text(outcome)
        case "sarif":
            text = _json(sarif_plain(outcome))
    _put(settings, text)


def _put(settings: Settings, text: str) -> None:
    if settings.output is not None:
        settings.output.write_text(text, encoding="utf-8")
        return
    stream = sys.stderr if settings.format == "text" else sys.stdout
    stream.write(text)
    stream.flush()


def _refuse(settings: Settings, message: str, exit_code: int) -> int:
    sys.stderr.write(f"emulator: {message}\n")
    with suppress(OSError):
        if settings.format == "github":
            _put(settings, github_refusal(message))
        if settings.format == "sarif":
            _put(settings, _json(sarif_refusal(message, exit_code)))
    return exit_code


def _json(value: dict[str, Any]) -> str:
    return json.dumps(value, indent=2) + "\n"


def parse(arguments: Sequence[str] | None = None) -> Settings:
    """Returns the settings of a run. Ends the process with a message where they make no sense."""
    parser = argparse.ArgumentParser(
        prog="python -m emulator",
        description=(__doc__ or "").split("\n\n", 1)[1],
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--format", choices=FORMATS, default="text",
        help="text goes to standard error, the others to standard output: json is one object, github has commands "
        "that annotate lines in a workflow, sarif is for code scanning")  # fmt: skip
    add("--output", "-o", metavar="FILE", type=Path, help="write the report to FILE")
    add("--check", choices=("default", "full"), default=os.environ.get("EMULATOR_CHECK", "default"),
        help="full: look for data races and reads of uninitialised memory, too (several times as slow)")  # fmt: skip
    add("--profile", action="store_true", default=os.environ.get("EMULATOR_PROFILE") == "1",
        help="say what each kernel and line cost: instructions, coalescing, bank conflicts, ...")  # fmt: skip
    add("--gpu", choices=gpu_names(), help="modelled time on that GPU, in the report and between events; profiles")
    add("--cpu-time", action="store_true", help="with --gpu: the time between events is the CPU's all the same")
    add("--memory", metavar="SIZE", type=size_of, help="device memory, such as 512M or 16G")
    add("--time-limit", metavar="SECONDS", type=seconds_of, default=LAUNCH_LIMIT_S,
        help=f"of each launch: an endless loop ends then (else after {LAUNCH_LIMIT_S:.0f})")  # fmt: skip
    add("--instruction-limit", metavar="COUNT", type=count_of, help="of each launch, in warp instructions")
    add("--schedule", metavar="SEED", type=int, help="run warps in another order, the same for the same seed")
    add("--cache", metavar="DIR", type=Path, help="where the library and machine code are kept")
    add("--threads", metavar="COUNT", type=count_of, help="CPU threads; else one for each CPU")
    add("--error-exitcode", metavar="CODE", type=_exit_code,
        help="what to exit with when problems were found and the program itself exits with 0")  # fmt: skip
    add("program", metavar="PROGRAM", help="found as a shell would")
    add("arguments", metavar="...", nargs=argparse.REMAINDER, help="the program's arguments")
    given = parser.parse_args(arguments)
    if given.check not in ("default", "full"):
        parser.error(f"EMULATOR_CHECK is default or full, not {given.check!r}")
    return Settings(
        command=(given.program, *given.arguments),
        format=given.format,
        output=given.output,
        check=given.check,
        profile=given.profile,
        gpu=given.gpu,
        cpu_time=given.cpu_time,
        memory_bytes=given.memory,
        wall_s=given.time_limit,
        warp_instructions=given.instruction_limit,
        schedule=given.schedule,
        cache=given.cache,
        threads=given.threads,
        error_exitcode=given.error_exitcode,
    )


def size_of(text: str) -> int:
    """Bytes: "512M" is 512 MiB. Raises ``argparse.ArgumentTypeError``, as the next two do."""
    unit = text[-1:].upper() if text[-1:].isalpha() else ""
    number = text.removesuffix(text[-1:]) if unit else text
    if unit not in _UNITS or not number.isdecimal() or not int(number):
        raise argparse.ArgumentTypeError(f"{text!r} is not a size, such as 512M or 16G")
    return int(number) * _UNITS[unit]


def count_of(text: str) -> int:
    """At least 1."""
    if not text.isdecimal() or not int(text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number from 1 on")
    return int(text)


def seconds_of(text: str) -> float:
    """More than 0."""
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds")
    return value


def _exit_code(text: str) -> int:
    if not text.isdecimal() or int(text) > 255:
        raise argparse.ArgumentTypeError(f"{text!r} is not an exit code")
    return int(text)
