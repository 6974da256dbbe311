"""``python -m judge.runner.triton.build``: builds a submission in the compiler's jail.

The arguments are SOURCE SHAPES OUTPUT CAPABILITY PTX_VERSION EMULATOR STAGES PATH. The first three are descriptors;
PATH is where the source is put as a file, since Triton reads kernels there. What is written to OUTPUT is JSON: ``log``,
and ``kernels``, empty if the build failed; with STAGES not 0, each has its TTIR and TTGIR, too. The submission shares
this process and may write anything there: it decides what code it gets, and nothing else is taken from here.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from judge.runner.triton import stand_ins
from judge.runner.triton.compiler import Compiler, Made, SourceError, compile_side_by_side
from judge.runner.triton.recording_pass import (
    NoMemory,
    Recorded,
    RecordingLauncher,
    TooManyError,
    record,
    require_arguments,
    run_top,
)
from judge.runner.triton.source_module import execute, find_solve, told
from judge.runner.triton.specialization import Specialization
from judge.wire.call_shapes import unpack_shapes
from judge.wire.python_program import MAX_SPECIALIZATIONS


class Refused(Exception):
    """The submission does not build; the message is the log."""


def main(argv: Sequence[str]) -> None:
    source_fd, shapes_fd, output_fd, capability, ptx_version, emulator, stages = map(int, argv[:7])
    path = argv[7]
    source, shapes = _read(source_fd), _read(shapes_fd)
    Path(path).write_bytes(source)
    answer: dict[str, Any]
    try:
        compiler = {"for_emulator": bool(emulator), "keeps_stages": bool(stages)}
        kernels, notes = build(source, shapes, path, capability, ptx_version, **compiler)
        answer = {"log": "", "kernels": kernels, "notes": notes}
    except Refused as refused:
        answer = {"log": str(refused), "kernels": [], "refused": True}
    with os.fdopen(output_fd, "w", closefd=False) as output:
        json.dump(answer, output)


def build(
    source: bytes,
    shapes: bytes,
    path: str,
    capability: int,
    ptx_version: int,
    *,
    for_emulator: bool,
    keeps_stages: bool,
) -> tuple[list[Made], list[str]]:
    """Returns the compiled kernels, and what the author should know of them. Raises Refused."""
    found = _recorded(source, shapes, path)
    if not found.general:
        return [], []
    try:
        compiler = Compiler(source, path, capability, ptx_version, for_emulator=for_emulator, keeps_stages=keeps_stages)
    except SourceError as error:
        raise Refused(str(error)) from None
    wanted = {**found.general, **found.timed}
    taken: set[str] = set()
    made = _compiled(compiler, list(wanted.values()), taken)
    failed = [key for key in found.general if "error" in made[key]]
    # What is right for some sizes only, since a constant or a multiple is needed, is compiled for those that there are.
    special = {key: each for general in failed for key, each in found.specials[general].items() if key not in made}
    if special:
        made |= _compiled(compiler, list(special.values()), taken)
    errors: dict[str, str] = {}
    for general in failed:
        instead = [made[key] for key in found.specials[general] if key != general]
        wrong = [each["error"] for each in instead if "error" in each]
        if wrong or not instead:
            errors[general] = wrong[0] if wrong else made[general]["error"]
    errors |= {key: made[key]["error"] for key in found.timed if "error" in made[key]}
    notes: dict[str, None] = {}
    for general, choices in found.choices.items():
        of_it = [general, *choices[0].timed]
        why = next((errors[key] for key in of_it if key in errors), "")
        for choice in choices[1:] if why else ():
            others = {choice.general.key: choice.general, **choice.timed}
            tried = _compiled(compiler, [each for key, each in others.items() if key not in made], taken)
            if not any("error" in each for each in tried.values()):
                made = {key: each for key, each in made.items() if key not in of_it} | tried
                errors = {key: told for key, told in errors.items() if key not in of_it}
                notes[f"autotune: {choice.told}, since the first does not compile: {why}"] = None
                break
        else:
            if len(choices) > 1:
                notes[f"autotune: {choices[0].told}; the judge times none of them, so put the best one first"] = None
    if errors:
        raise Refused(next(iter(errors.values())))
    return [{"key": key, **each} for key, each in made.items() if "error" not in each], list(notes)


def _recorded(source: bytes, shapes: bytes, path: str) -> Recorded:
    launcher = RecordingLauncher()
    remove = stand_ins.install(launcher, NoMemory())
    calls = unpack_shapes(shapes)
    try:
        solve = find_solve(run_top(lambda: execute(source, path)))
        if calls:
            require_arguments(solve, calls[0])
        record(solve, calls, launcher)
    except TooManyError:
        raise Refused(
            f"solve launches kernels with more than {MAX_SPECIALIZATIONS} combinations of types, constants and "
            "options, and each takes a compilation: make constants (tl.constexpr) of what has few values only"
        ) from None
    except BaseException as error:
        raise Refused(told(error, path)) from None
    finally:
        remove()
    return launcher.found


def _compiled(compiler: Compiler, wanted: Sequence[Specialization], taken: set[str]) -> dict[str, Made]:
    """Compiles all, under names that are not taken: the first of a kernel's keeps its name."""
    plain = [each.kernel.rpartition(".")[2] for each in wanted]
    named: list[tuple[Specialization, str]] = []
    for each, name in zip(wanted, plain, strict=True):
        number, chosen = 1, name
        while chosen in taken or (number > 1 and chosen in plain):
            number += 1
            chosen = f"{name}_{number}"
        taken.add(chosen)
        named.append((each, chosen))
    processes = len(os.sched_getaffinity(0))
    results = compile_side_by_side(compiler, named, processes)
    return {each.key: {**made, "arguments": each.arguments} for each, made in zip(wanted, results, strict=True)}


def _read(fd: int) -> bytes:
    return os.pread(fd, os.fstat(fd).st_size, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
