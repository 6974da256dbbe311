"""Builds a submission in two jails: Triton makes PTX of its kernels, then ptxas makes machine code of that.

The submission's own host code runs in the first jail, since only ``solve`` says what it launches. So nothing is taken
from there but the PTX, which is the submission's own doing whoever wrote it, and what a launch has to know. Registers
and spills, by which times are modelled, come from ptxas in the second jail, where none of its code runs.
"""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import judge
from judge.compile import cache
from judge.compile.architecture import is_ptx_alone
from judge.compile.artifact import Artifact
from judge.compile.compiler_jail import contents, memory_file, require_work, workplace
from judge.compile.diagnostics import capped
from judge.compile.source import CUDA, PYTHON, check_text
from judge.compile.target import Target
from judge.compile.toolchain import find_toolchain
from judge.errors import InternalError
from judge.judgement import BuildReport
from judge.languages.base import Buildable
from judge.languages.triton.machine_code import FILE_NAME, Assembled, assemble_ptx
from judge.sandbox.bind import Bind
from judge.sandbox.launch import Output, run_to_end
from judge.sandbox.policy import build_policy, python_binds, trusted_folders
from judge.sandbox.python_paths import PYTHON_OPTIONS, is_shown_anyway, module_paths
from judge.settings import JudgeSettings
from judge.wire.call_shapes import pack_shapes
from judge.wire.python_program import (
    MAX_CONFIGS,
    MAX_KERNEL_ARGUMENTS,
    MAX_KEY_BYTES,
    MAX_SPECIALIZATIONS,
    MAX_TUNED,
    CompiledKernel,
    PythonProgram,
    TunedConfig,
    TunedKernel,
    pack_program,
)
from records import dataclass

LOADER = "judge.runner.triton.program"
#: What Triton makes of a kernel before it is PTX.
STAGES = ("ttir", "ttgir")
_NAME = re.compile(r"[A-Za-z_]\w{0,200}", re.ASCII)
_KIND = re.compile(r"\*?k?[a-z0-9]{1,10}", re.ASCII)
#: What the first jail sends, in bytes.
_MOST_BYTES = 128 << 20
_MOST_PTX_BYTES = 8 << 20
#: The most notes that the author gets, and the most characters of each.
_MOST_NOTES, _MOST_NOTE = 8, 400
#: The share of the compiler's time after which no further configuration of an autotuned kernel is compiled.
_TUNING_SHARE = 0.4
_KNOWN_GOOD = b"""import triton
import triton.language as tl


@triton.jit
def nothing(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 0)


def solve(*arguments):
    for each in arguments:
        if hasattr(each, "data_ptr"):
            nothing[(1,)](each, BLOCK=16)
"""


@dataclass(frozen=True, slots=True)
class Compiled:
    """The result of the first jail: the kernels, or the reason why there are none.

    ``stages`` has for each kernel the text of each of ``STAGES``, if they were asked for; ``notes`` are for the author;
    ``tuned`` are the autotuned kernels whose configuration is still to be chosen.
    """

    kernels: tuple[CompiledKernel, ...]
    problem: str = ""
    stages: tuple[tuple[str, ...], ...] = ()
    notes: tuple[str, ...] = ()
    tuned: tuple[TunedKernel, ...] = ()


def build_submission(
    source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings
) -> tuple[BuildReport, Artifact | None]:
    """Compiles ``source`` for ``target``. A compile error is a report with ok=False and a log, and no artifact.

    Raises InternalError where the source is not at fault.
    """
    started_s = time.monotonic()
    problem = check_source(source, challenge, settings)
    if problem is not None:
        return _error(problem, started_s, settings), None
    toolchain = find_toolchain(settings.nvcc)
    shapes = pack_shapes(challenge.call_shapes(target.kind))
    options = ["triton", target.arch, hashlib.sha256(shapes).hexdigest(), str(_configs(target, settings))]
    key = cache.build_key(source, "", challenge.signature_text, options, f"{toolchain.identity}\n{_identity()}")
    cached = cache.load(settings.data_dir, key, shared=settings.shared_builds)
    if cached is not None:
        report, artifact = cached
        return dataclasses.replace(report, wall_s=time.monotonic() - started_s, cached=True), artifact
    compiled = compile_kernels(source, challenge, target, settings)
    assembled = Assembled((), ())
    if not compiled.problem and compiled.kernels:
        assembled = assemble_ptx([each.image for each in compiled.kernels], target, toolchain, settings)
    problem = compiled.problem or assembled.problem
    artifact = None
    if problem:
        report = _error(problem, started_s, settings)
    else:
        artifact = _artifact(source, compiled, assembled, target)
        report = _report(assembled, compiled.notes, started_s)
        if len(artifact.library) > settings.build.artifact_bytes:
            report, artifact = _error("The compiled kernels are too large.", started_s, settings), None
    cache.store(settings.data_dir, key, report, artifact, shared=settings.shared_builds)
    return report, artifact


def check_source(source: bytes, challenge: Buildable, settings: JudgeSettings) -> str | None:
    """Returns the mistake in a source before anything runs it, in words for its author; None if there is none."""
    problem = check_text(source, limit_bytes=settings.build.source_bytes)
    if problem is not None:
        return problem
    names = ", ".join(argument.name for argument in challenge.arguments)
    if CUDA.search(source) and not PYTHON.search(source):
        return "This is CUDA C++, and it was sent as Triton: choose CUDA C++, or send it as a .cu file."
    if not re.search(rb"\bsolve\b", source):
        return f"There is no function `solve` in the source. It must define:\n  def solve({names}):"
    return None


def compile_kernels(
    source: bytes, challenge: Buildable, target: Target, settings: JudgeSettings, *, keeps_stages: bool = False
) -> Compiled:
    """Returns the kernels that ``solve`` launches, as PTX. Raises InternalError where the source is not at fault."""
    shapes = pack_shapes(challenge.call_shapes(target.kind))
    output, answer = _run_triton(source, shapes, target, settings, keeps_stages=keeps_stages)
    limits = settings.build
    require_work(output)
    if output.timed_out:
        hint = "Does the file loop without end, or are the blocks of a kernel very large?"
        return Compiled((), f"The compiler took longer than {limits.wall_s:g} s. {hint}")
    if output.exit.oom_killed:
        return Compiled((), f"The compiler needed more than {limits.memory_bytes >> 20} MiB of memory.")
    if output.exit.cpu_limited:
        return Compiled((), "The compiler used up its CPU time.")
    if not output.exit.ok or not answer:
        good, told = _run_triton(_KNOWN_GOOD, shapes, target, settings)
        if not good.exit.ok or not told:
            raise InternalError(
                f"Triton does not work in the compiler's jail: {_last_line(good)}", "gpujudge doctor; pip check"
            )
        return Compiled((), f"The build ended without a result: {_last_line(output) or 'the file ends the process'}")
    return _read_answer(answer, keeps_stages=keeps_stages)


def _run_triton(
    source: bytes, shapes: bytes, target: Target, settings: JudgeSettings, *, keeps_stages: bool = False
) -> tuple[Output, bytes]:
    paths = module_paths(settings.data_dir)
    with ExitStack() as stack:
        folder = stack.enter_context(workplace(settings))
        given = [
            memory_file(stack, name, data) for name, data in (("source", source), ("shapes", shapes), ("made", b""))
        ]
        policy = build_policy(
            settings.build,
            binds=[*python_binds(), *(Bind.same(path) for path in paths if not is_shown_anyway(path))],
            env={
                "PYTHONPATH": os.pathsep.join(str(path) for path in paths),
                "PYTHONHASHSEED": "0",
                "TRITON_CACHE_DIR": f"{folder}/cache",
                "TMPDIR": folder,
                "OPENBLAS_NUM_THREADS": "1",
            },
            jail=settings.jail,
            hidden=trusted_folders(),
        )
        numbers = (
            capability_of(target.arch),
            _ptx_version(settings),
            int(is_ptx_alone(target.arch)),
            int(keeps_stages),
            _configs(target, settings),
            _TUNING_SHARE * settings.build.wall_s,
        )
        command = [
            sys.executable, *PYTHON_OPTIONS, "-m", "judge.runner.triton.build", *map(str, (*given, *numbers)),
            f"{folder}/{FILE_NAME}",
        ]  # fmt: skip
        output = run_to_end(
            dataclasses.replace(policy, cwd=folder),
            command,
            wall_s=settings.build.wall_s,
            output_bytes=settings.build.log_bytes,
            pass_fds=given,
        )
        return output, contents(given[2], _MOST_BYTES)


def _configs(target: Target, settings: JudgeSettings) -> int:
    """Returns how many configurations of an autotuned kernel are compiled: those of which a modelled time chooses."""
    return settings.autotune_configs if is_ptx_alone(target.arch) else 1


def capability_of(arch: str) -> int:
    """Returns the number of an architecture: 80 for ``compute_80``, 90 for ``sm_90a``."""
    return int(re.sub(r"\D", "", arch))


def _ptx_version(settings: JudgeSettings) -> int:
    """Returns the newest version of PTX, times ten, that both Triton writes and the toolkit's ptxas reads."""
    major, _, minor = find_toolchain(settings.nvcc).version.partition(".")
    if not (major.isdigit() and minor.isdigit()):
        return 80
    known = {11: 70 + int(minor), 12: 80 + int(minor) - (int(minor) > 5)}
    return min(88, known.get(int(major), 88))


def _read_answer(answer: bytes, *, keeps_stages: bool) -> Compiled:
    """Reads the first jail's answer, which may be anything."""
    try:
        found = json.loads(answer)
        if found.get("refused"):
            return Compiled((), _text(found["log"])[:20_000] or "The source does not build.")
        kernels = found["kernels"]
        if len(kernels) > MAX_SPECIALIZATIONS:
            raise ValueError("too many kernels")
        read = tuple(_read_kernel(each) for each in kernels)
        if len({kernel.name for kernel in read}) < len(read):
            raise ValueError("two kernels of one name")
        stages = [tuple(_text(each[stage])[:_MOST_PTX_BYTES] for stage in STAGES) for each in kernels if keeps_stages]
        notes = tuple(_text(note)[:_MOST_NOTE] for note in found["notes"][:_MOST_NOTES])
        tuned = tuple(_read_tuned(each) for each in found["tuned"][:MAX_TUNED])
        return Compiled(read, stages=tuple(stages), notes=notes, tuned=tuned)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        return Compiled((), f"The build ended with a result that cannot be read: {str(error)[:200]}")


def _read_kernel(found: dict[str, Any]) -> CompiledKernel:
    key, name, ptx = _text(found["key"]), _text(found["name"]), _text(found["ptx"]).encode()
    if len(key) > MAX_KEY_BYTES or not _NAME.fullmatch(name) or not 0 < len(ptx) <= _MOST_PTX_BYTES:
        raise ValueError("a kernel's key, name or PTX")
    warps, shared, scratch, align = (_number(found[each]) for each in ("warps", "shared", "scratch", "align"))
    arguments = tuple((_number(index), _text(kind)) for index, kind in found["arguments"])
    if len(arguments) > MAX_KERNEL_ARGUMENTS or not all(_KIND.fullmatch(kind) for _, kind in arguments):
        raise ValueError("a kernel's arguments")
    return CompiledKernel(key, name, warps, shared, scratch, align, arguments, ptx)


def _read_tuned(found: dict[str, Any]) -> TunedKernel:
    configs = [
        TunedConfig(
            _text(each["told"])[:_MOST_NOTE],
            tuple(_text(name) for name in each["kernels"][:MAX_SPECIALIZATIONS]),
            _text(each["problem"])[:_MOST_NOTE],
        )
        for each in found["configs"][:MAX_CONFIGS]
    ]
    return TunedKernel(_text(found["place"])[:_MOST_NOTE], tuple(configs))


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text was expected")
    return value


def _number(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 1 << 32:
        raise ValueError("a number was expected")
    return value


def _artifact(source: bytes, compiled: Compiled, assembled: Assembled, target: Target) -> Artifact:
    made = list(compiled.kernels)
    if not is_ptx_alone(target.arch):
        made = [
            dataclasses.replace(kernel, image=image) for kernel, image in zip(made, assembled.machine_code, strict=True)
        ]
    # A module may hold further entries, under the name of another's.
    registers: dict[str, int] = {}
    for each in assembled.kernels:
        registers[each.kernel] = max(registers.get(each.kernel, 0), each.registers)
    library = pack_program(PythonProgram(source, capability_of(target.arch), tuple(made), compiled.tuned))
    return Artifact(
        library,
        target,
        registers=tuple((name, count) for name, count in registers.items() if count),
        compiler_version=version(),
        compiler_options=(f"sm_{capability_of(target.arch)}",),
        file_name=FILE_NAME,
        loader=LOADER,
    )


def _report(assembled: Assembled, notes: tuple[str, ...], started_s: float) -> BuildReport:
    kernels = assembled.kernels
    spills = [each.spill_stores_bytes + each.spill_loads_bytes for each in kernels]
    return BuildReport(
        ok=True,
        wall_s=time.monotonic() - started_s,
        registers=max((each.registers for each in kernels), default=None),
        spills=max(spills, default=None),
        kernels=kernels,
        notes=notes,
    )


def _error(problem: str, started_s: float, settings: JudgeSettings) -> BuildReport:
    return BuildReport(ok=False, wall_s=time.monotonic() - started_s, log=capped(problem, settings.build.log_bytes))


def _last_line(output: Output) -> str:
    lines = output.data.decode("utf-8", "replace").strip().splitlines()
    return lines[-1][:300] if lines else ""


@functools.cache
def version() -> str:
    """Returns Triton's version; without a number where it is not installed."""
    try:
        return f"Triton {importlib.metadata.version('triton')}"
    except importlib.metadata.PackageNotFoundError:
        return "Triton"


@functools.cache
def _identity() -> str:
    """Changes with everything but the source and nvcc's toolkit that decides what a build makes."""
    digest = hashlib.sha256()
    root = Path(judge.__file__).parent
    for folder in (Path(__file__).parent, root / "runner" / "triton"):
        for path in sorted(folder.glob("*.py")):
            digest.update(path.name.encode() + b"\0" + path.read_bytes())
    for name in ("python_program.py", "call_shapes.py", "elements.py"):
        digest.update((root / "wire" / name).read_bytes())
    return f"{version()}\n{platform.python_version()}\n{digest.hexdigest()}"
