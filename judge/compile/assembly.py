"""Compiles a source to PTX and to the machine code of one GPU, in the jail, and returns both as listings."""

from __future__ import annotations

import contextlib
import functools
import shlex
import shutil
import sysconfig
from collections.abc import Sequence
from dataclasses import field
from pathlib import Path

from judge.compile.architecture import check_architecture, specific_architecture
from judge.compile.challenge import Challenge
from judge.compile.compiler_jail import (
    compiler_policy,
    contents,
    memory_file,
    place_sources,
    require_work,
    run_script,
    workplace,
)
from judge.compile.cutlass import headers_for, missing_headers
from judge.compile.diagnostics import parse_resources, readable_log
from judge.compile.jailed_compiler import language_options
from judge.compile.kernels import kernel_name
from judge.compile.listing import Instruction, PtxFunction, read_ptx, read_sass
from judge.compile.source_files import own_lines
from judge.compile.toolchain import INSIDE, Toolchain, find_toolchain
from judge.errors import InternalError, KilledFromOutside, ToolchainMissing
from judge.judgement import KernelResources
from judge.sandbox.bind import Bind
from judge.settings import JudgeSettings
from records import dataclass

_FAILED = 12
_DISASSEMBLER = "/nvdisasm"
#: Nobody reads more of a listing.
_MOST_BYTES = 8 << 20


#: The kinds of listings in the order in which compilers make them, and what people call them.
LISTINGS = {"ttir": "TTIR", "ttgir": "TTGIR", "ptx": "PTX", "sass": "SASS"}


@dataclass(frozen=True, slots=True)
class PlainBuild:
    """The build options of a source that is for no challenge."""

    std: str = "c++17"
    libraries: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class NoChallenge:
    """Stands for the challenge of a source that is for none: no header, any functions."""

    build: PlainBuild = field(default_factory=PlainBuild)
    signature_text: str = ""

    def header(self) -> str:
        return ""


@dataclass(frozen=True, slots=True)
class FunctionAssembly:
    """A kernel, or a device function that was not inlined; the SASS of those stands in the kernels that call them.

    ``block_threads``: the most threads of a block that its launch bounds allow, or None. ``ttir`` and ``ttgir`` are
    what Triton makes of a kernel before that is PTX.
    """

    symbol: str
    is_kernel: bool
    block_threads: int | None
    resources: KernelResources | None
    ptx: tuple[Instruction, ...]
    sass: tuple[Instruction, ...]
    ttir: tuple[Instruction, ...] = ()
    ttgir: tuple[Instruction, ...] = ()

    def listing(self, kind: str) -> tuple[Instruction, ...]:
        """Returns one of its listings by its kind, which is one of ``LISTINGS``."""
        found: tuple[Instruction, ...] = getattr(self, kind)
        return found

    @property
    def name(self) -> str:
        """The name as the author wrote it."""
        return kernel_name(self.symbol)


@dataclass(frozen=True, slots=True)
class Assembly:
    """The machine code of a source for one GPU ``architecture`` (``sm_90a``). Kernels come first."""

    architecture: str
    functions: tuple[FunctionAssembly, ...]

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of listings that there are of it."""
        return tuple(kind for kind in LISTINGS if any(each.listing(kind) for each in self.functions))


@dataclass(frozen=True, slots=True)
class NotAssembled:
    """The source does not compile; ``log`` says why, in words for its author."""

    log: str


def assemble(source: bytes, challenge: Challenge, arch: str, settings: JudgeSettings) -> Assembly | NotAssembled:
    """Compiles ``source`` for the GPU architecture ``arch`` (``sm_80``) and disassembles it.

    Raises InternalError for a name that is no such architecture, or where a tool is missing or fails.
    """
    check_architecture(arch)
    arch = specific_architecture(arch)
    toolchain = find_toolchain(settings.nvcc)
    disassembler = find_disassembler(toolchain)
    walled = settings.jail != "off"
    if (missing := missing_headers(source)) is not None:
        return NotAssembled(missing)
    headers = headers_for(source)
    with workplace(settings) as folder, contextlib.ExitStack() as stack:
        binds = [Bind(disassembler, _DISASSEMBLER), *([headers.bind] if headers else [])]
        policy = compiler_policy(toolchain, settings, folder, binds=binds)
        given, placing = place_sources(stack, source, challenge.header())
        taken = [memory_file(stack, name, b"") for name in ("ptx", "sass", "resources")]
        script = _script(
            [*language_options(challenge), *(headers.options(walled=walled) if headers else ())],
            arch,
            cuda=INSIDE if walled else str(toolchain.root),
            disassembler=_DISASSEMBLER if walled else str(disassembler),
            placing=placing,
            taken=taken,
        )
        output = run_script(policy, script, settings, (*given, *taken))
        ptx, sass, resources = (contents(fd, _MOST_BYTES).decode("utf-8", "replace") for fd in taken)
    log = readable_log(output.data, limit_bytes=settings.build.log_bytes, truncated=output.truncated)
    if output.exit.code == _FAILED:
        return NotAssembled(log)
    require_work(output)
    if output.timed_out or output.exit.oom_killed or output.exit.cpu_limited:
        return NotAssembled(f"The compiler took longer than {settings.build.wall_s:g} s, or more memory than it may.")
    if output.exit.perhaps_from_outside:
        raise KilledFromOutside("the compiler was killed from outside")
    if not output.exit.ok:
        raise InternalError(f"the disassembler failed: {log or output.exit}")
    lines = own_lines(source)
    return Assembly(arch, _functions(read_ptx(ptx, lines), read_sass(sass, lines), parse_resources(resources)))


def _functions(
    in_ptx: Sequence[PtxFunction],
    sass: dict[str, tuple[Instruction, ...]],
    resources: Sequence[KernelResources],
) -> tuple[FunctionAssembly, ...]:
    of = {each.kernel: each for each in resources}
    made = [
        FunctionAssembly(
            each.symbol,
            each.is_kernel,
            each.block_threads,
            of.get(each.symbol),
            each.listing,
            sass.get(each.symbol, ()),
        )
        for each in in_ptx
    ]
    return tuple(sorted(made, key=lambda function: not function.is_kernel))


def _script(
    options: Sequence[str], arch: str, *, cuda: str, disassembler: str, placing: str, taken: Sequence[int]
) -> str:
    """Returns the POSIX shell script that writes PTX, SASS and ptxas's report to its descriptors ``taken``.

    It exits with ``_FAILED`` where the source is at fault.
    """
    ptx, sass, resources = taken
    nvcc = shlex.join([f"{cuda}/bin/nvcc", *options, f"-arch={arch}", "-ptx", "kernel.cu", "-o", "kernel.ptx"])
    ptxas = f"{cuda}/bin/ptxas -v -lineinfo -arch={arch} kernel.ptx -o kernel.cubin"
    lines = [
        f"{{ {placing}; }} || exit 1",
        f"{nvcc} || exit {_FAILED}",
        f"{ptxas} >resources.log 2>&1 || {{ cat resources.log; exit {_FAILED}; }}",
        f"{shlex.quote(disassembler)} -c -gi kernel.cubin >kernel.sass || exit 1",
        f"head -c {_MOST_BYTES} kernel.ptx >/proc/self/fd/{ptx} || exit 1",
        f"head -c {_MOST_BYTES} kernel.sass >/proc/self/fd/{sass} || exit 1",
        f"head -c 1000000 resources.log >/proc/self/fd/{resources} || exit 1",
    ]
    return "\n".join(lines) + "\n"


def find_disassembler(toolchain: Toolchain) -> Path:
    """Returns nvdisasm: the toolkit's own, that of this environment's packages, or one on PATH.

    A newer one reads what an older compiler wrote. Raises ToolchainMissing.
    """
    found = _disassembler(toolchain.root)
    if found is None:
        raise ToolchainMissing("nvdisasm is missing", "pip install nvidia-cuda-nvdisasm, or put nvdisasm on PATH")
    return found


@functools.cache
def _disassembler(root: Path) -> Path | None:
    candidates = [root / "bin" / "nvdisasm"]
    for key in ("purelib", "platlib"):
        candidates += sorted((Path(sysconfig.get_paths()[key]) / "nvidia").glob("cu*/bin/nvdisasm"), reverse=True)
    if on_path := shutil.which("nvdisasm"):
        candidates.append(Path(on_path))
    return next((path.resolve() for path in candidates if path.is_file()), None)
