"""Compiles a submission to an artifact, or to a compile error that its author can read.

``build_submission`` ends in time with a report, whatever the source is. It raises InternalError only where the machine
or the operator is at fault.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import hashlib
import os
import re
import shutil
import signal
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from judge.compile import cache
from judge.compile.architecture import is_ptx_alone, nvcc_flags, ptxas_architecture
from judge.compile.artifact import Artifact
from judge.compile.challenge import Challenge
from judge.compile.diagnostics import capped, exhausted, parse_resources, readable_log, says_killed
from judge.compile.plan import FAILURES, LINK_FAILED, Files, Plan, Recorder, build_script, parse_dryrun, whole_plan
from judge.compile.signature import Signature, difference, find_definitions, parse_parameters
from judge.compile.source import check_source
from judge.compile.target import Target
from judge.compile.toolchain import INSIDE, Toolchain, find_toolchain
from judge.errors import InternalError, KilledFromOutside
from judge.judgement import BuildReport
from judge.sandbox.bind import Bind
from judge.sandbox.launch import OUTSIDE_SIGNALS, Output, run_to_end
from judge.sandbox.policy import Policy, build_file_bytes, build_policy
from judge.settings import JudgeSettings

#: Shows whether the toolchain itself works, after a build failed in a way that may be the machine's fault.
_KNOWN_GOOD = b'__global__ void k(int* p) { *p = 1; }\nextern "C" void solve(int* p) { k<<<1, 1>>>(p); }\n'
_MANGLED = "_Z5solve"
#: More overloads of ``solve`` than this are not read.
_MOST_OVERLOADS = 64
#: How often a build is repeated that was killed from outside.
_MAX_KILLS = 2
_HOST_PATH = "/usr/local/bin:/usr/bin:/bin"


@dataclasses.dataclass(frozen=True, slots=True)
class _Result:
    """The output of the jailed build script."""

    output: Output
    library: bytes
    symbols: str
    definitions: str
    resources: str
    own_streams: bool
    #: The signals that ended steps of the build, other than the shell itself.
    signals: frozenset[int] = frozenset()

    @property
    def limited(self) -> bool:
        """Whether a limit of the jail's, or the judge's clock, ended it."""
        return self.output.timed_out or self.output.exit.oom_killed or self.output.exit.cpu_limited

    @property
    def killed_from_outside(self) -> bool:
        """Whether somebody outside killed it or one of its steps. No code of the submission runs here, so nothing
        inside sends these signals."""
        return not self.limited and (self.output.exit.perhaps_from_outside or bool(self.signals & OUTSIDE_SIGNALS))

    @property
    def crashed(self) -> bool:
        """Whether anything ended by a signal."""
        return bool(self.signals) or self.output.exit.signal is not None or self.output.exit.jail_lost


def build_submission(
    source: bytes, pack: Challenge, target: Target, settings: JudgeSettings, *, recorded: bool = False
) -> tuple[BuildReport, Artifact | None]:
    """Compiles ``source`` for ``target``. A compile error is a report with ok=False and a log, and no artifact.

    A ``recorded`` program records what it asks of the CUDA runtime (``recorder.cpp``). Raises InternalError
    (ToolchainMissing, JailUnavailable) where the source is not at fault.
    """
    started_s = time.monotonic()
    problem = check_source(source, limit_bytes=settings.build.source_bytes, signature=pack.signature_text)
    if problem is not None:
        return _compile_error(problem, started_s), None
    toolchain = find_toolchain(settings.nvcc)
    recorder = _recorder_source() if recorded else b""
    options = [*_options(pack, target), *pack.build.libraries, *([hashlib.sha256(recorder).hexdigest()] * recorded)]
    key = cache.build_key(source, pack.header(), pack.signature_text, options, toolchain.identity)
    cached = cache.load(settings.data_dir, key)
    if cached is not None:
        report, artifact = cached
        return dataclasses.replace(report, wall_s=time.monotonic() - started_s, cached=True), artifact
    result = _compile_undisturbed(source, pack, target, toolchain, settings, recorder=recorder)
    overload = _wanted_overload(result, pack)
    if overload is not None:
        result = _compile_undisturbed(source, pack, target, toolchain, settings, alias=overload, recorder=recorder)
    report, artifact = _judge_result(result, source, pack, target, toolchain, settings, started_s)
    if not result.crashed and (artifact is not None or not result.limited):
        cache.store(settings.data_dir, key, report, artifact)
    return report, artifact


def _judge_result(
    result: _Result,
    source: bytes,
    pack: Challenge,
    target: Target,
    toolchain: Toolchain,
    settings: JudgeSettings,
    started_s: float,
) -> tuple[BuildReport, Artifact | None]:
    limits, output = settings.build, result.output
    log = readable_log(output.data, limit_bytes=limits.log_bytes, truncated=output.truncated)
    if output.timed_out:
        text = f"The compiler took longer than {limits.wall_s:g} s."
        return _compile_error(_joined(text, log, limits.log_bytes), started_s), None
    if output.exit.oom_killed:
        text = f"The compiler needed more than {limits.memory_bytes >> 20} MiB of memory."
        return _compile_error(_joined(text, log, limits.log_bytes), started_s), None
    if output.exit.cpu_limited or signal.SIGXCPU in result.signals:
        return _compile_error(_joined("The compiler used up its CPU time.", log, limits.log_bytes), started_s), None
    if not output.exit.ok:
        if output.exit.code == LINK_FAILED and pack.build.libraries:
            # The submission can forge the linker's message, so a plain source shows whether a library is missing.
            _require_working(toolchain, target, settings, tuple(pack.build.libraries))
        ran_out = exhausted(log, memory_bytes=limits.memory_bytes, file_bytes=build_file_bytes(limits))
        if ran_out is not None:
            return _compile_error(_joined(ran_out, log, limits.log_bytes), started_s), None
        # An error outside the user's file may be the toolchain's fault.
        if output.exit.code not in FAILURES or "kernel.cu" not in log:
            _require_working(toolchain, target, settings)
        text = log or "The compiler failed without saying why."
        if output.exit.code == LINK_FAILED:
            text = _joined("The program could not be linked.", log, limits.log_bytes)
        return _compile_error(text, started_s), None
    problem, extern_c = _check_solve(result, source, pack)
    if problem is not None:
        return _compile_error(_joined(problem, log, limits.log_bytes), started_s), None
    if not 0 < len(result.library) <= limits.artifact_bytes:
        text = f"The compiled library has {len(result.library):,} bytes; at most {limits.artifact_bytes:,} are taken."
        return _compile_error(text, started_s), None
    kernels = parse_resources(result.resources)
    report = BuildReport(
        ok=True,
        wall_s=time.monotonic() - started_s,
        log=log,
        registers=max((kernel.registers for kernel in kernels), default=None),
        spills=max((kernel.spill_stores_bytes + kernel.spill_loads_bytes for kernel in kernels), default=None),
        kernels=kernels,
    )
    return report, Artifact(result.library, target, extern_c, result.own_streams)


def _check_solve(result: _Result, source: bytes, pack: Challenge) -> tuple[str | None, bool]:
    """Returns what is wrong with ``solve``, or None, and whether it has C linkage."""
    expected = _expected(pack)
    names = dict(line.split("\t", 1) for line in result.symbols.splitlines() if "\t" in line)
    if "solve" in names:
        text = result.definitions or source.decode("utf-8")
        return _mismatch(pack, expected, find_definitions(text)), True
    mangled = [plain for name, plain in names.items() if name.startswith(_MANGLED)]
    if not mangled:
        inside = any("::solve(" in plain for plain in names.values())
        hint = (
            " (there is one in a namespace or class, where it cannot be found)"
            if inside
            else " (a static, inline, weak or indirect one, or a template, is not exported)"
        )
        return f"No function `solve` was compiled{hint}. The source must define:\n  {pack.signature_text}", False
    return _mismatch(pack, expected, [_demangled(plain) for plain in mangled[:_MOST_OVERLOADS]]), False


def _wanted_overload(result: _Result, pack: Challenge) -> str | None:
    """Returns the mangled name of the right ``solve``, where there are several and the link exported the wrong one."""
    names = [line.split("\t", 1) for line in result.symbols.splitlines() if line.startswith(_MANGLED)][:_MOST_OVERLOADS]
    if len(names) < 2 or "\nsolve\t" in f"\n{result.symbols}":
        return None
    fitting = [name for name, plain in names if difference(_expected(pack), _demangled(plain)) is None]
    return fitting[0] if fitting and fitting[0] != names[0][0] else None


def _demangled(plain: str) -> Signature:
    """Returns the signature in a name such as ``solve(float const*, int)``."""
    start, end = plain.find("("), plain.rfind(")")
    return parse_parameters(plain[start + 1 : end] if 0 <= start < end else "")


def _mismatch(pack: Challenge, expected: Signature, found: Sequence[Signature]) -> str | None:
    """Returns how the signatures found differ from the expected one; None where one fits, or none is readable."""
    differences = [difference(expected, signature) for signature in found]
    if not found or None in differences:
        return None
    return (
        f"`solve` has another signature than the challenge asks for: {differences[0]}.\n"
        f"  expected: {pack.signature_text}\n  found:    {found[0].text}"
    )


def _expected(pack: Challenge) -> Signature:
    text = pack.signature_text
    return parse_parameters(text[text.index("(") + 1 : text.rindex(")")])


def _compile_undisturbed(
    source: bytes,
    pack: Challenge,
    target: Target,
    toolchain: Toolchain,
    settings: JudgeSettings,
    *,
    alias: str = _MANGLED + ".*",
    recorder: bytes = b"",
) -> _Result:
    """Compiles again if somebody killed the compiler. Raises KilledFromOutside where that goes on."""
    for attempt in range(1 + _MAX_KILLS):
        try:
            result = _compile(source, pack, target, toolchain, settings, alias=alias, recorder=recorder)
        except KilledFromOutside:
            continue
        # The source can forge what a driver says of its children, so this grants another attempt and no more.
        last = attempt == _MAX_KILLS
        if not result.killed_from_outside and (last or result.output.exit.ok or not says_killed(result.output.data)):
            return result
    raise KilledFromOutside(
        "the compiler was killed from outside", "who killed it? look for an OOM killer (dmesg) and for service limits"
    )


def _compile(
    source: bytes,
    pack: Challenge,
    target: Target,
    toolchain: Toolchain,
    settings: JudgeSettings,
    *,
    alias: str = _MANGLED + ".*",
    recorder: bytes = b"",
) -> _Result:
    walled = settings.jail != "off"
    cuda = INSIDE if walled else str(toolchain.root)
    runtime = (
        f"{cuda}/{toolchain.library('libcudart.so')}"
        if is_ptx_alone(target.arch)
        else f"{cuda}/{toolchain.library('libcudart_static.a')} -ldl -lrt -lpthread"
    )
    with _workplace(settings) as folder, contextlib.ExitStack() as stack:
        policy = _policy(toolchain, settings, folder)
        plan = _plan(toolchain, tuple(_options(pack, target)), policy)
        given = [_memory_file(stack, "source", source), _memory_file(stack, "header", pack.header().encode())]
        outputs = ("library", "symbols", "definitions", "resources", "signals", "streams")
        taken = [_memory_file(stack, name, b"") for name in outputs]
        linked = Recorder(_memory_file(stack, "recorder", recorder), _wraps(recorder)) if recorder else None
        script = build_script(
            plan,
            Files(*given, *taken),
            cuda=cuda,
            runtime=runtime,
            libraries=pack.build.libraries,
            alias=alias,
            ptxas_arch=ptxas_architecture(target.arch) if is_ptx_alone(target.arch) else None,
            recorder=linked,
        )
        script_fd = _memory_file(stack, "script", script.encode())
        output = run_to_end(
            policy,
            ["/bin/sh", f"/proc/self/fd/{script_fd}"],
            wall_s=settings.build.wall_s,
            output_bytes=4 * settings.build.log_bytes,
            pass_fds=(*given, *taken, script_fd, *([linked.source] if linked is not None else [])),
        )
        library = _contents(taken[0], settings.build.artifact_bytes + 1)
        symbols, definitions, resources, statuses = (
            _contents(fd, 1 << 20).decode("utf-8", "replace") for fd in taken[1:5]
        )
        own_streams = bool(_contents(taken[5], 1))
    signals = frozenset(int(status) - 128 for status in statuses.split())
    return _Result(output, library, symbols, definitions, resources, own_streams, signals)


def _recorder_source() -> bytes:
    return Path(__file__).with_name("recorder.cpp").read_bytes()


def _wraps(recorder: bytes) -> tuple[str, ...]:
    """Returns the names of the functions that the recorder wraps."""
    return tuple(re.findall(r"^(?:WRAP\(\w+, |REFUSE\()(\w+)", recorder.decode(), re.MULTILINE))


def _options(pack: Challenge, target: Target) -> list[str]:
    # Without these nvcc refuses device lambdas and constexpr functions in kernels, and users cannot pass flags.
    relaxed = ("--extended-lambda", "--expt-relaxed-constexpr")
    return [
        f"-std={pack.build.std}",
        "-O3",
        "-lineinfo",
        "-I.",
        *relaxed,
        "-Xcompiler",
        "-fPIC",
        *nvcc_flags(target.arch),
    ]


def _policy(toolchain: Toolchain, settings: JudgeSettings, folder: str) -> Policy:
    inside = INSIDE if settings.jail != "off" else str(toolchain.root)
    env = {"PATH": f"{inside}/bin:{_HOST_PATH}", "TMPDIR": folder}
    policy = build_policy(settings.build, binds=[Bind(toolchain.root, INSIDE)], env=env, jail=settings.jail)
    return dataclasses.replace(policy, cwd=folder)


@functools.lru_cache(maxsize=64)
def _plan_text(toolchain: Toolchain, options: tuple[str, ...], jail: str, nvcc: str) -> str:
    policy = build_policy(
        JudgeSettings(Path("/")).build,
        binds=[Bind(toolchain.root, INSIDE)],
        jail=jail,
        env={"PATH": f"{Path(nvcc).parent}:{_HOST_PATH}"},
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


@functools.lru_cache(maxsize=16)
def _require_working(
    toolchain: Toolchain, target: Target, settings: JudgeSettings, libraries: tuple[str, ...] = ()
) -> None:
    """Raises InternalError where not even a plain kernel compiles and links with the libraries.

    A good answer is kept for the life of the process.
    """
    result = _compile_undisturbed(_KNOWN_GOOD, _Plain(_PlainOptions(libraries=libraries)), target, toolchain, settings)
    if libraries and result.output.exit.code == LINK_FAILED:
        said = readable_log(result.output.data, limit_bytes=2000)
        remedy = f"install {', '.join(libraries)} for {toolchain.root}"
        raise InternalError(f"a library of the challenge is not in the toolkit: {said}", remedy)
    if not result.output.exit.ok or not result.library:
        said = readable_log(result.output.data, limit_bytes=2000) or f"it ended with {result.output.exit}"
        raise InternalError(f"nvcc does not work on this machine: {said}", "gpujudge doctor")


@dataclasses.dataclass(frozen=True, slots=True)
class _PlainOptions:
    std: str = "c++17"
    libraries: tuple[str, ...] = ()


@dataclasses.dataclass(frozen=True, slots=True)
class _Plain:
    """The challenge of the known-good source."""

    build: _PlainOptions = _PlainOptions()
    signature_text: str = "void solve(int* p)"

    def header(self) -> str:
        return 'extern "C" void solve(int* p);\n'


def _compile_error(log: str, started_s: float) -> BuildReport:
    return BuildReport(ok=False, wall_s=time.monotonic() - started_s, log=log)


def _joined(head: str, log: str, limit_bytes: int) -> str:
    return capped(f"{head}\n\n{log}" if log else head, limit_bytes)


@contextlib.contextmanager
def _workplace(settings: JudgeSettings) -> Iterator[str]:
    """Yields the folder to compile in: the jail's own tmpfs, or a temporary folder without a jail."""
    if settings.jail != "off":
        yield "/tmp"
        return
    folder = tempfile.mkdtemp(prefix="gpujudge-build-")
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _memory_file(stack: contextlib.ExitStack, name: str, data: bytes) -> int:
    fd = os.memfd_create(f"build-{name}")
    stack.callback(os.close, fd)
    with os.fdopen(os.dup(fd), "wb") as handle:
        handle.write(data)
    os.lseek(fd, 0, os.SEEK_SET)
    return fd


def _contents(fd: int, limit_bytes: int) -> bytes:
    return os.pread(fd, min(limit_bytes, os.fstat(fd).st_size), 0)
