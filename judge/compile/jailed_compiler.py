"""Runs the compiler in its jail, again where somebody kills it from outside, and returns what came out."""

from __future__ import annotations

import contextlib
import functools
import re
from collections.abc import Sequence
from pathlib import Path

from judge.compile.adapter import RENAMED, Adapter
from judge.compile.architecture import is_ptx_alone, nvcc_flags, ptxas_architecture
from judge.compile.challenge import Challenge
from judge.compile.compiler_jail import (
    HOST_PATH,
    compiler_policy,
    contents,
    memory_file,
    place_sources,
    run_script,
    workplace,
)
from judge.compile.cutlass import headers_for
from judge.compile.diagnostics import says_killed
from judge.compile.exported_solve import MANGLED_SOLVE
from judge.compile.plan import (
    MAX_RESOURCES_BYTES,
    Adapting,
    Files,
    Plan,
    Recorder,
    build_script,
    parse_dryrun,
    whole_plan,
)
from judge.compile.source_files import OwnLines, own_lines
from judge.compile.target import Target
from judge.compile.toolchain import INSIDE, Toolchain
from judge.errors import InternalError, KilledFromOutside
from judge.sandbox.bind import Bind
from judge.sandbox.launch import OUTSIDE_SIGNALS, Output, run_to_end
from judge.sandbox.policy import Policy, build_policy
from judge.settings import JudgeSettings
from records import dataclass

#: How often a build is repeated that was killed from outside.
_MAX_KILLS = 2
#: Calls whose lines are kept.
_MAX_CALL_LINES = 10_000
#: The pattern of the symbols that become ``solve``.
_ANY_OVERLOAD = MANGLED_SOLVE + ".*"


@dataclass(frozen=True, slots=True)
class CompilerResult:
    """The output of the jailed build script."""

    output: Output
    library: bytes
    symbols: str
    definitions: str
    resources: str
    own_streams: bool
    call_lines: tuple[tuple[int, int], ...] = ()
    #: The signals that ended steps of the build, other than the shell itself.
    signals: frozenset[int] = frozenset()

    @property
    def limited(self) -> bool:
        """Whether a limit of the jail's, or the judge's clock, ended it."""
        return self.output.timed_out or self.output.exit.oom_killed or self.output.exit.cpu_limited

    @property
    def killed_from_outside(self) -> bool:
        """Returns whether somebody outside killed it or one of its steps.

        No code of the submission runs here, so nothing inside sends these signals.
        """
        return not self.limited and (self.output.exit.perhaps_from_outside or bool(self.signals & OUTSIDE_SIGNALS))

    @property
    def crashed(self) -> bool:
        """Whether anything ended by a signal."""
        return bool(self.signals) or self.output.exit.signal is not None or self.output.exit.jail_lost


@dataclass(frozen=True, slots=True)
class CompilerJob:
    """A request to the compiler: the source, and the output to make of it."""

    source: bytes
    pack: Challenge
    target: Target
    toolchain: Toolchain
    settings: JudgeSettings
    #: The pattern of the symbol that becomes ``solve``.
    alias: str = _ANY_OVERLOAD
    #: The source of the recorder that is linked to it; empty for none.
    recorder: bytes = b""
    #: The headers of CUB that stand for the one that includes all.
    narrowed: Sequence[str] = ()
    #: What calls ``solve`` in its stead.
    adapter: Adapter | None = None


def run_compiler(job: CompilerJob) -> CompilerResult:
    """Compiles again if somebody killed the compiler. Raises KilledFromOutside where that goes on."""
    for attempt in range(1 + _MAX_KILLS):
        try:
            result = _compile(job)
        except KilledFromOutside:
            continue
        # The source can forge what a driver says of its children, so this grants another attempt and no more.
        last = attempt == _MAX_KILLS
        if not result.killed_from_outside and (last or result.output.exit.ok or not says_killed(result.output.data)):
            return result
    raise KilledFromOutside(
        "the compiler was killed from outside", "who killed it? look for an OOM killer (dmesg) and for service limits"
    )


def _compile(job: CompilerJob) -> CompilerResult:
    pack, target, toolchain, settings = job.pack, job.target, job.toolchain, job.settings
    walled = settings.jail != "off"
    cuda = INSIDE if walled else str(toolchain.root)
    runtime = (
        f"{cuda}/{toolchain.library('libcudart.so')}"
        if is_ptx_alone(target.arch)
        else f"{cuda}/{toolchain.library('libcudart_static.a')} -ldl -lrt -lpthread"
    )
    headers = headers_for(job.source)
    with workplace(settings) as folder, contextlib.ExitStack() as stack:
        policy = compiler_policy(toolchain, settings, folder, binds=[headers.bind] if headers else [])
        including = headers.options(walled=walled) if headers else ()
        plan = _plan(toolchain, (*compiler_options(pack, target), *including), policy)
        given, placing = place_sources(stack, job.source, pack.header())
        lines = own_lines(job.source)
        outputs = ("library", "symbols", "definitions", "resources", "signals", "streams", "call_lines")
        taken = [memory_file(stack, name, b"") for name in outputs]
        linked = Recorder(memory_file(stack, "recorder", job.recorder), _wraps(job.recorder)) if job.recorder else None
        adapting = None
        if job.adapter is not None:
            source = memory_file(stack, "adapter", job.adapter.code.encode())
            adapting = Adapting(source, job.adapter.symbol, RENAMED)
        script = build_script(
            plan,
            Files(placing, tuple(file.name for file in lines.files), *taken),
            cuda=cuda,
            runtime=runtime,
            libraries=pack.build.libraries,
            alias=job.alias,
            ptxas_arch=ptxas_architecture(target.arch) if is_ptx_alone(target.arch) else None,
            recorder=linked,
            narrowed=job.narrowed,
            adapting=adapting,
        )
        descriptors = (*given, *taken, *(each.source for each in (linked, adapting) if each is not None))
        output = run_script(policy, script, settings, descriptors)
        library = contents(taken[0], settings.build.artifact_bytes + 1)
        symbols, definitions, resources, statuses = (
            contents(fd, limit).decode("utf-8", "replace")
            for fd, limit in zip(taken[1:5], (1 << 20, 1 << 20, MAX_RESOURCES_BYTES + 1, 1 << 20), strict=True)
        )
        own_streams = bool(contents(taken[5], 1))
        call_lines = _read_call_lines(contents(taken[6], 1 << 20), lines)
    signals = frozenset(int(status) - 128 for status in statuses.split())
    return CompilerResult(output, library, symbols, definitions, resources, own_streams, call_lines, signals)


def _read_call_lines(data: bytes, lines: OwnLines) -> tuple[tuple[int, int], ...]:
    """Returns offsets and lines of the whole source, ascending. Leaves out malformed pairs and those out of bounds."""
    found = re.findall(r"^([0-9a-f]{1,16}) (\S{1,500}):([0-9]{1,7})$", data.decode("utf-8", "replace"), re.MULTILINE)
    placed = ((int(at, 16), lines.locate(path, int(line))) for at, path, line in found[:_MAX_CALL_LINES])
    return tuple(sorted((at, line) for at, line in placed if line is not None))


def _wraps(recorder: bytes) -> tuple[str, ...]:
    """Returns the names of the functions that the recorder wraps."""
    return tuple(re.findall(r"^(?:WRAP\(\w+, |REFUSE\()(\w+)", recorder.decode(), re.MULTILINE))


@functools.lru_cache(maxsize=64)
def _plan_text(toolchain: Toolchain, options: tuple[str, ...], jail: str, nvcc: str) -> str:
    policy = build_policy(
        JudgeSettings(Path("/")).build,
        binds=[Bind(toolchain.root, INSIDE)],
        jail=jail,
        env={"PATH": f"{Path(nvcc).parent}:{HOST_PATH}"},
    )
    command = [
        "/bin/sh",
        "-c",
        'cd "$(mktemp -d)" && : >kernel.cu && exec "$@"',
        "sh",
        nvcc,
        *options,
        "--keep",
        "--dryrun",
        "-c",
        "kernel.cu",
        "-o",
        "kernel.o",
    ]
    output = run_to_end(policy, command, wall_s=30, output_bytes=1 << 20)
    if output.exit.perhaps_from_outside:
        raise KilledFromOutside("nvcc was killed from outside while it told its plan")
    if not output.exit.ok:
        said = output.data.decode("utf-8", "replace").strip()
        raise InternalError(
            f"nvcc does not take the options of this build: {said}",
            "a toolkit that knows this device's architecture is needed: gpujudge doctor",
        )
    return output.data.decode("utf-8", "replace")


def _plan(toolchain: Toolchain, options: tuple[str, ...], policy: Policy) -> Plan:
    nvcc = f"{INSIDE if policy.jail != 'off' else toolchain.root}/bin/nvcc"
    return parse_dryrun(_plan_text(toolchain, options, policy.jail, nvcc)) or whole_plan(nvcc, options)


def recorder_source() -> bytes:
    """Returns the C++ source of the library that records runtime calls for audits."""
    return Path(__file__).with_name("recorder.cpp").read_bytes()


def compiler_options(pack: Challenge, target: Target) -> list[str]:
    """Returns nvcc's options for a submission to this challenge on this target."""
    return [*language_options(pack), "-Xcompiler", "-fPIC", *nvcc_flags(target.arch)]


def language_options(pack: Challenge) -> list[str]:
    """Returns the options that decide what the device code is, but for its architecture."""
    # Without the last two nvcc refuses device lambdas and constexpr functions in kernels, and users cannot pass flags.
    return [f"-std={pack.build.std}", "-O3", "-lineinfo", "-I.", "--extended-lambda", "--expt-relaxed-constexpr"]
