"""ptxas in a jail: what a GPU makes of the PTX of a submission's kernels."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import PurePath

from judge.compile.architecture import is_ptx_alone, ptxas_architecture
from judge.compile.compiler_jail import compiler_policy, contents, memory_file, require_work, run_script, workplace
from judge.compile.diagnostics import parse_resources, readable_log
from judge.compile.target import Target
from judge.compile.toolchain import INSIDE, Toolchain
from judge.judgement import KernelResources
from judge.settings import JudgeSettings
from records import dataclass

#: What messages call a submission.
FILE_NAME = "kernel.py"
_REPORT_BYTES = 1 << 20
#: The exit code of the script where ptxas refused a kernel.
_FAILED = 11
_ERROR_OF_PTXAS = re.compile(r"^ptxas \S+, line (?P<line>\d+); error\s*: (?P<text>.*)$", re.MULTILINE)
_FILE = re.compile(r"^\s*\.file\s+(?P<number>\d+)\s+\"(?P<path>[^\"]*)\"")
#: Where an instruction stands, and, if that is a function, where it is called.
_PLACE = re.compile(r"(?:^\s*\.loc|\binlined_at)\s+(?P<file>\d+)\s+(?P<line>\d+)")


@dataclass(frozen=True, slots=True)
class Assembled:
    """The machine code of each kernel, and its resources.

    There is no machine code where PTX is all that is wanted. ``problem`` says why there is none.
    """

    machine_code: tuple[bytes, ...]
    kernels: tuple[KernelResources, ...]
    problem: str = ""


def assemble_ptx(kernels: Sequence[bytes], target: Target, toolchain: Toolchain, settings: JudgeSettings) -> Assembled:
    """Returns ptxas's output for the PTX of kernels. Raises InternalError where the machine is at fault."""
    wanted = not is_ptx_alone(target.arch)
    arch = newest_form(target.arch)
    cuda = INSIDE if settings.jail != "off" else str(toolchain.root)
    # As Triton calls ptxas, against a fault of the releases of CUDA 13.
    careful = " --regAllocOptLevel=2" if toolchain.version.startswith("13.") else ""
    with ExitStack() as stack:
        folder = stack.enter_context(workplace(settings))
        sources = [memory_file(stack, "ptx", ptx) for ptx in kernels]
        reports = [memory_file(stack, "report", b"") for _ in kernels]
        codes = [memory_file(stack, "code", b"") for _ in kernels] if wanted else []
        lines = [f"cd {folder}", "failed=0"]
        for number, (source, report) in enumerate(zip(sources, reports, strict=True)):
            if not wanted:
                arch = _architecture_of(kernels[number], target)
            lines += [
                f"cat /proc/self/fd/{source} >{number}.ptx",
                f"{cuda}/bin/ptxas -v -w -lineinfo{careful} -arch={arch} {number}.ptx -o {number}.cubin"
                f" >/proc/self/fd/{report} 2>&1 & p{number}=$!",
            ]
        lines += [f"wait $p{number} || failed=1" for number in range(len(kernels))]
        lines += [f"cat {number}.cubin >/proc/self/fd/{code} 2>/dev/null" for number, code in enumerate(codes)]
        lines.append(f"exit $((failed * {_FAILED}))")
        output = run_script(
            compiler_policy(toolchain, settings, folder), "\n".join(lines), settings, (*sources, *reports, *codes)
        )
        require_work(output)
        told = [contents(fd, _REPORT_BYTES).decode("utf-8", "replace") for fd in reports]
        made = tuple(contents(fd, settings.build.artifact_bytes) for fd in codes)
    if output.timed_out:
        return Assembled((), (), f"ptxas took longer than {settings.build.wall_s:g} s.")
    if not output.exit.ok:
        places = [place for ptx, text in zip(kernels, told, strict=True) for place in errors_by_line(ptx, text)]
        log = readable_log("\n".join([*dict.fromkeys(places)] or told).encode(), limit_bytes=4000, truncated=False)
        return Assembled((), (), log if places else f"ptxas does not take what Triton made of a kernel:\n{log}")
    return Assembled(made, tuple(resource for text in told for resource in parse_resources(text)))


def errors_by_line(ptx: bytes, report: str) -> list[str]:
    """Returns the errors of ptxas's report on a kernel, each with the line of the submission that has the cause.

    Errors in instructions that come from no line of it are left out.
    """
    lines = ptx.decode("utf-8", "replace").splitlines()
    names = {found["number"]: PurePath(found["path"]).name for line in lines if (found := _FILE.match(line))}
    errors = []
    for error in _ERROR_OF_PTXAS.finditer(report):
        before = (line for line in reversed(lines[: int(error["line"])]) if line.lstrip().startswith(".loc"))
        places = _PLACE.finditer(next(before, ""))
        own = next((place["line"] for place in places if names.get(place["file"]) == FILE_NAME), None)
        if own is not None:
            errors.append(
                f"{FILE_NAME}:{own}: error: ptxas does not take what Triton made of this line: {error['text']}"
            )
    return errors


def _architecture_of(ptx: bytes, target: Target) -> str:
    """Returns the architecture that a kernel for the emulator was made for: that of the target, or a later one."""
    found = re.search(rb"^\.target (sm_8[09])\b", ptx[:4096], re.MULTILINE)
    return found[1].decode() if found else ptxas_architecture(target.arch)


def newest_form(arch: str) -> str:
    """Returns the architecture with the features that Triton uses of it: ``sm_90a`` for ``sm_90``."""
    return f"{arch}a" if arch in ("sm_90", "sm_100", "sm_103", "sm_120") else arch
