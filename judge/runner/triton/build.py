"""``python -m judge.runner.triton.build``: builds a submission in the compiler's jail.

The arguments are SOURCE SHAPES OUTPUT CAPABILITY PTX_VERSION EMULATOR STAGES CONFIGS PATIENCE PATH. The first three are
descriptors; PATH is where the source is put as a file, since Triton reads kernels there. Of an autotuned kernel up to
CONFIGS configurations are compiled, after the first one only within PATIENCE seconds. OUTPUT gets JSON: ``log``, and
``kernels``, empty if the build failed; with STAGES not 0, each has its TTIR and TTGIR, too; and ``tuned``, the
autotuned kernels of which several configurations were looked at. The submission shares this process and may write
anything there: it decides what code it gets, and nothing else is taken from here.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from judge.runner.triton import stand_ins
from judge.runner.triton.compiler import Compiler, Made, SourceError, compile_side_by_side
from judge.runner.triton.recording_pass import (
    Choice,
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

#: The number of compiled kernels at which further configurations are left out; each brings two.
_MOST_KERNELS = MAX_SPECIALIZATIONS - 8


class Refused(Exception):
    """The submission does not build; the message is the log."""


def main(argv: Sequence[str]) -> None:
    """Builds the source of one descriptor for the call shapes of another, and writes the answer as JSON."""
    source_fd, shapes_fd, output_fd, capability, ptx_version, emulator, stages, configs = map(int, argv[:8])
    patience_s, path = float(argv[8]), argv[9]
    source, shapes = _read(source_fd), _read(shapes_fd)
    Path(path).write_bytes(source)
    answer: dict[str, Any]
    try:
        kernels, notes, tuned = build(
            source, shapes, path, capability, ptx_version, for_emulator=bool(emulator), keeps_stages=bool(stages),
            configs=configs, patience_s=patience_s,
        )  # fmt: skip
        answer = {"log": "", "kernels": kernels, "notes": notes, "tuned": tuned}
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
    configs: int,
    patience_s: float,
) -> tuple[list[Made], list[str], list[Any]]:
    """Returns the compiled kernels, what the author should know of them, and the autotuned ones. Raises Refused."""
    found = _recorded(source, shapes, path, configs)
    # Only a GPU's worker may have PyTorch itself.
    notes: dict[str, None] = {}
    if found.lacking and not for_emulator:
        notes[f"no kernel is compiled for what solve launches after {found.lacking}"] = None
    if not found.general:
        return [], list(notes), []
    deadline_s = time.monotonic() + patience_s
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
    tuned: dict[str, dict[str, tuple[set[str], str]]] = {}
    for general, choices in found.choices.items():
        first = [general, *choices[0].timed, *found.specials[general]]
        why = next((errors[key] for key in first if key in errors), "")
        of_it = tuned.setdefault(choices[0].place, {})
        _add(of_it, choices[0], {key: made[key] for key in first if key in made}, why)
        ready = 0 if why else 1
        for choice in choices[1:]:
            if ready >= configs or (ready and (time.monotonic() > deadline_s or len(made) >= _MOST_KERNELS)):
                break
            others = {choice.general.key: choice.general, **choice.timed}
            tried = _compiled(compiler, [each for key, each in others.items() if key not in made], taken)
            problem = next((each["error"] for each in tried.values() if "error" in each), "")
            _add(of_it, choice, {**tried, **{key: made[key] for key in others if key in made}}, problem)
            if problem:
                continue
            if not ready:
                made = {key: each for key, each in made.items() if key not in first}
                errors = {key: told for key, told in errors.items() if key not in first}
                notes[f"autotune: {_taken(choice)}, since the first does not compile: {why}"] = None
            made |= tried
            ready += 1
        if len(choices) > 1 and configs == 1 and not why:
            notes[f"autotune: {_taken(choices[0])}; the judge times none of them, so put the best one first"] = None
    if errors:
        raise Refused(next(iter(errors.values())))
    kernels = [{"key": key, **each} for key, each in made.items() if "error" not in each]
    several = {place: of_it for place, of_it in tuned.items() if len(of_it) > 1}
    return kernels, list(notes), [] if configs == 1 else [_tuned(*each) for each in several.items()]


def _add(of_it: dict[str, tuple[set[str], str]], choice: Choice, made: Mapping[str, Made], problem: str) -> None:
    """Adds a configuration's kernels to those that it has for launches with other types."""
    names, before = of_it.get(choice.told, (set(), ""))
    of_it[choice.told] = names | {each["name"] for each in made.values() if "name" in each}, before or problem


def _tuned(place: str, of_it: Mapping[str, tuple[set[str], str]]) -> dict[str, Any]:
    configs = [
        {"told": told, "kernels": [] if problem else sorted(names), "problem": problem}
        for told, (names, problem) in of_it.items()
    ]
    return {"place": place, "configs": configs}


def _taken(choice: Choice) -> str:
    return f"{choice.place.rpartition(':')[0]} takes configuration {choice.told}"


def _recorded(source: bytes, shapes: bytes, path: str, configs: int = 1) -> Recorded:
    launcher = RecordingLauncher(configs)
    remove = stand_ins.install(launcher, NoMemory())
    calls = unpack_shapes(shapes)
    try:
        solve = find_solve(run_top(lambda: execute(source, path)))
        if calls:
            require_arguments(solve, calls[0])
        record(solve, calls, launcher, path)
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
