"""Runs other projects' CUDA programs on the emulator, and writes the table of docs/emulator-programs.md.

    python benchmarks/outside_programs.py --cuda-samples DIR --hecbench DIR --rodinia DIR --work DIR

DIR are copies of the projects; --work keeps builds and results, so that a second call runs only what is not there.
Of each program it says whether it ran, what its own check said, and what the emulator found; else why it did not run.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

# Where the package is not installed, the path above is what finds these: so they come after it.
from benchmarks.outside_lists import (  # noqa: E402
    ALSO_NEED,
    EXPECT_FAILURE,
    HEADERS,
    HECBENCH,
    NEEDS,
    NOTES,
    RODINIA,
    SAMPLE_ARGUMENTS,
    SAMPLE_CONSTANTS,
)
from emulator import native  # noqa: E402

PAGE = ROOT / "docs" / "emulator-programs.md"
FLAGS = ("-cudart", "shared", "-lineinfo", "-g", "-w", "-gencode", "arch=compute_80,code=compute_80")
BUILD_LIMIT_S = 300
_BY_EXIT_CODE = re.compile(r"\?\s*EXIT_SUCCESS\s*:\s*EXIT_FAILURE\b")
_PASS = re.compile(
    r"\b(pass(?:ed)?|success(?:ful(?:ly)?)?|okay|ok|correct|match(?:es|ed)?|verified|completed)\b", re.IGNORECASE
)
_FAIL = re.compile(r"\b(fail(?:ed|ure)?|(?:mis|dis)match(?:es)?|incorrect|wrong|error(?:s)? found)\b", re.IGNORECASE)
_TELLING = re.compile(r"error|cannot|unsupported|(?:not|n't) support|waiv", re.IGNORECASE)


@dataclass(frozen=True)
class Program:
    """``run`` is what the emulator is given. ``lacks`` says why the program is not tried.

    ``constants`` has a regular expression of what the sources have, and what they get in its place.
    """

    project: str
    name: str
    folder: Path
    build: tuple[tuple[str, ...], ...] = ()
    run: tuple[str, ...] = ()
    lacks: str = ""
    constants: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Result:
    """``check`` is how the program says that it is right, empty if it does not. ``cpu_s``: with the emulator's own.

    ``smaller``: its constants or arguments are smaller than the program's own. ``earlier``: of a version of the
    emulator that did less.
    """

    project: str
    name: str
    runs: bool
    right: bool | None = None
    check: str = ""
    found: tuple[str, ...] = ()
    cpu_s: float = 0.0
    why: str = ""
    smaller: bool = False
    earlier: bool = False


def cuda_samples(top: Path) -> Iterator[Program]:
    """Yields the samples that are programs of their own, as their CMakeLists.txt describe them."""
    for folder in sorted(top.glob("Samples/[0-6]_*/*")):
        description = folder / "CMakeLists.txt"
        if not description.exists() or "add_subdirectory" in (text := description.read_text()):
            continue
        made = re.search(r"^\s*add_executable\(\s*(\S+)([^)]*)\)", text, flags=re.MULTILINE)
        linked = " ".join(re.findall(r"(?:target_link_libraries|find_package)\(([^)]*)\)", text))
        lacks = next((what for name, what in NEEDS.items() if re.search(rf"\b{name}", linked)), "")
        sources = [name for name in made[2].split() if name.endswith((".cu", ".cpp", ".c"))] if made else []
        options: list[str] = ["-std=c++17", "--extended-lambda", f"-I{top / 'Common'}", "-I.", "-Iinc"]
        options += ["-rdc=true"] if _needs_device_runtime(folder) else []
        options += ["-Xcompiler", "-fopenmp"] if "OpenMP" in linked else []
        libraries = ["-lcudadevrt"] if "-rdc=true" in options else []
        libraries += [f"-L{top.parent}", "-lcuda"] if "cuda_driver" in linked else []
        build = ("nvcc", *FLAGS, *options, *sources, *libraries, "-o", "program")
        yield Program(
            "cuda-samples",
            folder.name,
            folder,
            (build, *_kernel_files(text, top)),
            ("./program", *SAMPLE_ARGUMENTS.get(folder.name, "").split()),
            lacks or ALSO_NEED.get(folder.name, ""),
            SAMPLE_CONSTANTS.get(folder.name, ()),
        )


def _needs_device_runtime(folder: Path) -> bool:
    sources = [source.read_text(errors="replace") for source in folder.glob("*.cu")]
    return folder.name.startswith("cdp") or any("cudaGraphSetConditional" in source for source in sources)


def _kernel_files(description: str, top: Path) -> Iterator[tuple[str, ...]]:
    """Yields the commands that make what a sample loads through the driver API: a fat binary or PTX."""
    of = dict(re.findall(r'set\((CUDA_(?:FATBIN|PTX)_FILE|CUDA_KERNEL_SOURCE) "\$\{\w+\}/([^"]+)"\)', description))
    for variable, flag, flags in (("CUDA_FATBIN_FILE", "-fatbin", FLAGS[2:]), ("CUDA_PTX_FILE", "-ptx", FLAGS[2:4])):
        if variable in of:
            source = of["CUDA_KERNEL_SOURCE"]
            yield ("nvcc", *flags, "-std=c++17", f"-I{top / 'Common'}", flag, source, "-o", of[variable])


def _link_driver(folder: Path) -> None:
    """Makes a ``libcuda.so`` to link with, which has just the names of the driver API."""
    if (folder / "libcuda.so").exists():
        return
    header = (native.cuda_include() / "cuda.h").read_text()
    names = set(re.findall(r"\bCUDAAPI\s+(cu[A-Z]\w*)\s*\(", header))
    names |= {f"{name}{version}" for name in names for version in ("_v2", "_v3", "_v4")}
    source = folder / "libcuda.c"
    source.write_text("\n".join(f"void {name}(void) {{}}" for name in sorted(names)))
    command = ["gcc", "-shared", "-fPIC", "-w", "-Wl,-soname,libcuda.so.1", str(source), "-o", "libcuda.so"]
    subprocess.run(command, check=True, cwd=folder)


def hecbench(top: Path) -> Iterator[Program]:
    """Yields the programs, built by their own makefiles."""
    for name, arguments in HECBENCH:
        make = ("make", "ARCH=compute_80", "CC=nvcc -cudart shared -lineinfo -g -w", "program=program")
        run = ("./program", *arguments.split())
        yield Program("HeCBench", name, top / "src" / f"{name}-cuda", (make,), run)


#: Names of the runtime that CUDA 13 no longer has.
_RENAMED = ("-DcudaThreadSynchronize=cudaDeviceSynchronize", "-DcudaThreadExit=cudaDeviceReset")


def rodinia(top: Path) -> Iterator[Program]:
    """Yields the programs that make their own input."""
    for name, sources, arguments in RODINIA:
        build = ("nvcc", *FLAGS, *_RENAMED, "-I.", *sources.split(), "-lm", "-o", "program")
        yield Program("Rodinia", name, top / "cuda" / name, (build,), ("./program", *arguments.split()))


def examine(program: Program, work: Path, limit_s: float) -> Result:
    """Builds the program in a copy of its folder's project, and runs it on the emulator."""
    if program.lacks:
        return Result(program.project, program.name, False, why=f"needs {program.lacks}")
    _set_constants(program)
    for command in () if (program.folder / "program").exists() else program.build:
        done = _call(command, program.folder, BUILD_LIMIT_S)
        if done.code:
            return Result(program.project, program.name, False, why=_build_error(done.text))
    report = work / f"{program.project}-{program.name.replace('/', '-')}.json"
    report.unlink(missing_ok=True)
    emulate = [
        *(sys.executable, "-m", "emulator", "--cache", str(work / "cache"), "--threads", "2"),
        *("--format", "json", "--output", str(report)),
    ]
    before = _children_s()
    done = _call([*emulate, *program.run], program.folder, limit_s)
    cpu_s = _children_s() - before
    problems, unsupported = _problems(report)
    if done.code is None:
        why = f"not done after {limit_s:.0f} s"
    elif unsupported:
        why = f"not supported: {unsupported[0]}"
    elif done.code:
        why = f"exit code {done.code}: {_error(done.text)}"
    else:
        why = ""
    passed = _PASS.search(done.text)
    failed = None if program.name in EXPECT_FAILURE else _FAIL.search(done.text)
    told = failed or passed
    check = f'it says "{told[0]}"' if told else "its exit code" if _checks_by_exit_code(program.folder) else ""
    right = not failed if check else None
    found = tuple(dict.fromkeys(kind for kind in problems if kind not in ("leaked memory", "not supported")))
    smaller = bool(program.constants) or program.name in SAMPLE_ARGUMENTS
    return Result(program.project, program.name, not why, None if why else right, check, found, cpu_s, why, smaller)


def _set_constants(program: Program) -> None:
    for source in program.folder.glob("*.c*") if program.constants else ():
        own = text = source.read_text()
        for pattern, value in program.constants:
            text = re.sub(pattern, value, text)
        if text != own:
            source.write_text(text)
            (program.folder / "program").unlink(missing_ok=True)


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _checks_by_exit_code(folder: Path) -> bool:
    sources = [*folder.glob("*.cu"), *folder.glob("*.cpp")]
    return any(_BY_EXIT_CODE.search(source.read_text(errors="replace")) for source in sources)


def _build_error(text: str) -> str:
    header = re.search(r"fatal error: (\S+): No such file", text)
    lacks = next((what for name, what in HEADERS.items() if header and name in header[1]), "")
    return f"needs {lacks}" if lacks else f"does not build: {_error(text)}"


def _problems(report: Path) -> tuple[list[str], list[str]]:
    if not report.exists():
        return [], []
    processes = json.loads(report.read_text())["processes"]
    kinds = [problem["kind"] for process in processes for problem in process["problems"]]
    return kinds, [process["unsupported"] for process in processes if process["unsupported"]]


@dataclass(frozen=True)
class _Done:
    code: int | None
    text: str


def _call(command: Sequence[str], folder: Path, limit_s: float) -> _Done:
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command,
        cwd=folder,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        start_new_session=True,
    ) as process:
        try:
            output, _ = process.communicate(timeout=limit_s)
            return _Done(process.returncode, output.decode(errors="replace"))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return _Done(None, output.decode(errors="replace"))


def _error(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    telling = [line for line in lines if _TELLING.search(line)]
    line = (telling or lines or [""])[0]
    return re.sub(r"\S*/(?=[\w.-]+)", "", line)[:140]


def page(results: Sequence[Result]) -> str:
    """Returns the document."""
    parts = [_INTRODUCTION]
    for project in dict.fromkeys(result.project for result in results):
        rows = [result for result in results if result.project == project]
        fit = [result for result in rows if not result.why.startswith("needs ")]
        ran = [result for result in fit if result.runs]
        right = [result for result in ran if result.right]
        silent = [result for result in ran if result.right is None]
        parts += [
            f"## {project}",
            f"{len(rows)} programs; {len(rows) - len(fit)} of them need what is not here (the last column says what). "
            f"Of the other {len(fit)}, {len(ran)} run to their end ({len(ran) / max(len(fit), 1):.0%}), {len(right)} "
            f"of those are right by their own check, {len(silent)} have none. *CPU s* is processor time, with the "
            f"compilation of kernels.",
            "| program | runs | right | how it was checked | CPU s | found, or why it does not run |\n"
            "|---|---|---|---|--:|---|\n" + "\n".join(map(_row, rows)),
        ]
    return "\n\n".join(parts) + "\n"


def _row(result: Result) -> str:
    right = {True: "yes", False: "no", None: ""}[result.right]
    check = (result.check or "not at all") if result.runs else ""
    seconds = f"{result.cpu_s:.1f}" if result.runs else ""
    why = re.sub(r"/\S*/(?=[\w.-]+)", "", result.why)
    found = [*(result.found if result.runs else ()), *(["made smaller"] if result.smaller else [])]
    found += ["earlier"] if result.earlier else []
    note = "" if result.right else NOTES.get(result.name, "")
    rest = "; ".join(filter(None, [why, ", ".join(found), note])).replace("|", "\\|")
    return f"| {result.name} | {'yes' if result.runs else 'no'} | {right} | {check} | {seconds} | {rest} |"


_INTRODUCTION = """\
# Programs of other projects on the emulator

`benchmarks/outside_programs.py` wrote this page from copies of the projects, built for `compute_80`, with default
checks, on two virtual cores beside other work. A program counts as right if its own check says so and nothing it prints
says otherwise. Those that were not done had a small share of the processors.

Of cuda-samples, *made smaller* are those whose own sizes or repetitions take many minutes here: `SAMPLE_CONSTANTS` and
`SAMPLE_ARGUMENTS` in `benchmarks/outside_lists.py` have what they got. Of HeCBench it is a selection, with smaller
arguments than for a GPU; of Rodinia, the programs that need no input files. *Earlier*: the row was not run again; it is
of a version of the emulator without textures, the driver API and launches from kernels."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--cuda-samples", type=Path)
    parser.add_argument("--hecbench", type=Path)
    parser.add_argument("--rodinia", type=Path)
    parser.add_argument("--work", type=Path, required=True, help="builds and results")
    parser.add_argument("--only", default="", help="a regular expression of names, tried again")
    parser.add_argument("--limit", type=float, default=60, help="seconds for each run")
    given = parser.parse_args()
    found: list[tuple[Path | None, Callable[[Path], Iterator[Program]]]] = [
        (given.cuda_samples, cuda_samples),
        (given.hecbench, hecbench),
        (given.rodinia, rodinia),
    ]
    work = given.work.resolve()
    work.mkdir(parents=True, exist_ok=True)
    native.ensure(work / "cache")
    kept = work / "results.json"
    results = {(r["project"], r["name"]): Result(**r) for r in json.loads(kept.read_text())} if kept.exists() else {}
    _link_driver(work)
    programs: list[Program] = []
    for top, list_them in found:
        if top is None:
            continue
        copy = work / top.name
        if not copy.exists():
            shutil.copytree(top, copy, ignore=shutil.ignore_patterns(".git"))
        programs += list_them(copy)
    wanted = [
        program
        for program in programs
        if (re.search(given.only, program.name) if given.only else (program.project, program.name) not in results)
    ]
    for program in wanted:
        result = results[program.project, program.name] = examine(program, work, given.limit)
        print(_row(result), flush=True)
        kept.write_text(json.dumps([asdict(one) for one in results.values()], indent=1))
    PAGE.write_text(page(sorted(results.values(), key=lambda r: (r.project.lower(), r.name.lower()))))


if __name__ == "__main__":
    main()
