"""Compiles a submission to an artifact, or to a compile error that its author can read.

``build_submission`` ends in time with a report, whatever the source is. It raises InternalError only where the machine
or the operator is at fault.
"""

from __future__ import annotations

import dataclasses
import hashlib
import signal
import time

from judge.compile import cache
from judge.compile.adapter import Adapter
from judge.compile.architecture import lacks_instructions, nvcc_flags
from judge.compile.artifact import Artifact
from judge.compile.challenge import Challenge
from judge.compile.compiler_jail import require_work
from judge.compile.cutlass import headers_for, missing_headers
from judge.compile.diagnostics import capped, exhausted, parse_resources, readable_log
from judge.compile.exported_solve import check_solve, needed_adapter, wanted_overload
from judge.compile.jailed_compiler import (
    CompilerJob,
    CompilerResult,
    compiler_options,
    recorder_source,
    run_compiler,
)
from judge.compile.known_good import require_working
from judge.compile.narrowing import FOLDERS, narrowed_includes
from judge.compile.plan import FAILURES, LINK_FAILED, MAX_RESOURCES_BYTES
from judge.compile.required import architecture_for, unmet
from judge.compile.source import check_source
from judge.compile.source_files import check_files, missing_header, split_files
from judge.compile.target import Target
from judge.compile.toolchain import Toolchain, find_toolchain
from judge.judgement import BuildReport
from judge.sandbox.policy import build_file_bytes
from judge.settings import JudgeSettings
from judge.wire.messages import MAX_KERNELS


def build_submission(
    source: bytes, pack: Challenge, target: Target, settings: JudgeSettings, *, recorded: bool = False
) -> tuple[BuildReport, Artifact | None]:
    """Compiles ``source`` for ``target``. A compile error is a report with ok=False and a log, and no artifact.

    A ``recorded`` program records what it asks of the CUDA runtime (``recorder.cpp``). Raises InternalError
    (ToolchainMissing, JailUnavailable) where the source is not at fault.
    """
    arch = architecture_for(source, target)
    report, artifact = _build_for(arch, source, pack, target, settings, recorded=recorded)
    if report.ok or target.specific in ("", arch) or not lacks_instructions(report.log):
        return report, artifact
    again, artifact = _build_for(target.specific, source, pack, target, settings, recorded=recorded)
    return dataclasses.replace(again, wall_s=report.wall_s + again.wall_s), artifact


def _build_for(
    arch: str, source: bytes, pack: Challenge, target: Target, settings: JudgeSettings, *, recorded: bool
) -> tuple[BuildReport, Artifact | None]:
    started_s = time.monotonic()
    problem = check_source(source, limit_bytes=settings.build.source_bytes, signature=pack.signature_text)
    target = Target(target.kind, arch)
    headers = headers_for(source)
    problem = problem or check_files(source) or unmet(source, target.arch) or missing_headers(source)
    if problem is not None:
        return _compile_error(problem, started_s), None
    toolchain = find_toolchain(settings.nvcc)
    recorder = recorder_source() if recorded else b""
    options = [
        *compiler_options(pack, target),
        *pack.build.libraries,
        *([f"CUTLASS {headers.version}"] if headers else []),
        *([hashlib.sha256(recorder).hexdigest()] * recorded),
    ]
    key = cache.build_key(source, pack.header(), pack.signature_text, options, toolchain.identity)
    cached = cache.load(settings.data_dir, key, shared=settings.shared_builds)
    if cached is not None:
        report, artifact = cached
        return dataclasses.replace(report, wall_s=time.monotonic() - started_s, cached=True), artifact
    narrowed = narrowed_includes(source, toolchain.root)
    job = CompilerJob(source, pack, target, toolchain, settings, recorder=recorder, narrowed=narrowed)
    result = run_compiler(job)
    if narrowed and not result.output.exit.ok and not result.limited:
        job = dataclasses.replace(job, narrowed=())
        result = run_compiler(job)
    overload = wanted_overload(result.symbols, pack)
    adapter = needed_adapter(result.symbols, result.definitions, source, pack)
    if overload is not None:
        result = run_compiler(dataclasses.replace(job, alias=overload))
    elif adapter is not None:
        result = run_compiler(dataclasses.replace(job, adapter=adapter))
    report, artifact = _judge_result(result, source, pack, target, toolchain, settings, started_s, adapter)
    if not result.crashed and (artifact is not None or not result.limited):
        cache.store(settings.data_dir, key, report, artifact, shared=settings.shared_builds)
    return report, artifact


def _judge_result(
    result: CompilerResult,
    source: bytes,
    pack: Challenge,
    target: Target,
    toolchain: Toolchain,
    settings: JudgeSettings,
    started_s: float,
    adapter: Adapter | None,
) -> tuple[BuildReport, Artifact | None]:
    limits, output = settings.build, result.output
    log = readable_log(output.data, limit_bytes=limits.log_bytes, truncated=output.truncated)
    require_work(output)
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
            require_working(toolchain, target, settings, tuple(pack.build.libraries))
        ran_out = exhausted(log, memory_bytes=limits.memory_bytes, file_bytes=build_file_bytes(limits))
        if ran_out is not None:
            return _compile_error(_joined(ran_out, log, limits.log_bytes), started_s), None
        # An error outside the user's file may be the toolchain's fault.
        if output.exit.code not in FAILURES or not any(file.name in log for file in split_files(source)):
            require_working(toolchain, target, settings)
        text = log or "The compiler failed without saying why."
        if output.exit.code == LINK_FAILED:
            text = _joined("The program could not be linked.", log, limits.log_bytes)
        if (missing := missing_header(log, [toolchain.root / each for each in FOLDERS])) is not None:
            text = _joined(missing, log, limits.log_bytes)
        return _compile_error(text, started_s), None
    problem, extern_c = (
        check_solve(result.symbols, result.definitions, source, pack)
        if adapter is None
        else (None, adapter.symbol == "solve")
    )
    if problem is not None:
        return _compile_error(_joined(problem, log, limits.log_bytes), started_s), None
    if not 0 < len(result.library) <= limits.artifact_bytes:
        text = f"The compiled library has {len(result.library):,} bytes; at most {limits.artifact_bytes:,} are taken."
        return _compile_error(text, started_s), None
    kernels = parse_resources(result.resources)
    # What is not known of a kernel cannot be held against its launches.
    if len(kernels) > MAX_KERNELS or len(result.resources) > MAX_RESOURCES_BYTES:
        text = f"The source makes too many kernels: at most {MAX_KERNELS:,} are taken, fewer if their names are long."
        return _compile_error(text, started_s), None
    report = BuildReport(
        ok=True,
        wall_s=time.monotonic() - started_s,
        log=log,
        registers=max((kernel.registers for kernel in kernels), default=None),
        spills=max((kernel.spill_stores_bytes + kernel.spill_loads_bytes for kernel in kernels), default=None),
        kernels=kernels,
        notes=() if adapter is None else adapter.notes,
    )
    registers = tuple((kernel.kernel, kernel.registers) for kernel in kernels if kernel.registers)
    return report, Artifact(
        result.library,
        target,
        extern_c,
        result.own_streams,
        registers=registers,
        call_lines=result.call_lines,
        compiler_version=toolchain.version,
        compiler_options=(
            f"-std={pack.build.std}",
            *nvcc_flags(target.arch),
            *([f"CUTLASS {headers.version}"] if (headers := headers_for(source)) else []),
        ),
    )


def _compile_error(log: str, started_s: float) -> BuildReport:
    return BuildReport(ok=False, wall_s=time.monotonic() - started_s, log=log)


def _joined(head: str, log: str, limit_bytes: int) -> str:
    return capped(f"{head}\n\n{log}" if log else head, limit_bytes)
