"""Listings of the kernels of a Triton submission, from Triton's own code to a GPU's, by the lines of its file."""

from __future__ import annotations

from contextlib import ExitStack

from judge.compile.architecture import check_architecture
from judge.compile.assembly import Assembly, FunctionAssembly, NotAssembled, find_disassembler
from judge.compile.compiler_jail import compiler_policy, contents, memory_file, run_script, workplace
from judge.compile.listing import Instruction, read_ptx, read_sass
from judge.compile.source_files import OwnLines, own_lines
from judge.compile.target import Target
from judge.compile.toolchain import Toolchain, find_toolchain
from judge.errors import InternalError
from judge.languages.base import Buildable
from judge.languages.triton.building import check_source, compile_kernels
from judge.languages.triton.intermediate import read_ir
from judge.languages.triton.machine_code import FILE_NAME, assemble_ptx
from judge.sandbox.bind import Bind
from judge.settings import JudgeSettings

_DISASSEMBLER = "/nvdisasm"
_MOST_BYTES = 8 << 20


def assemble(source: bytes, challenge: Buildable, arch: str, settings: JudgeSettings) -> Assembly | NotAssembled:
    """Returns the machine code of the kernels that ``solve`` launches. Raises InternalError for machine faults."""
    if not hasattr(challenge, "call_shapes"):
        return NotAssembled("Name the challenge: the kernels are those that solve launches for the sizes of its cases.")
    check_architecture(arch)
    problem = check_source(source, challenge, settings)
    if problem is not None:
        return NotAssembled(problem)
    target, toolchain = Target("cuda", arch.rstrip("af")), find_toolchain(settings.nvcc)
    compiled = compile_kernels(source, challenge, target, settings, keeps_stages=True)
    if compiled.problem or not compiled.kernels:
        return NotAssembled(compiled.problem or "solve launches no kernel.")
    assembled = assemble_ptx([kernel.image for kernel in compiled.kernels], target, toolchain, settings)
    if assembled.problem:
        return NotAssembled(assembled.problem)
    own = own_lines(source, FILE_NAME)
    listings = [_disassembled(code, own, toolchain, settings) for code in assembled.machine_code]
    resources = {each.kernel: each for each in assembled.kernels}
    made = []
    for kernel, stages, sass in zip(compiled.kernels, compiled.stages, listings, strict=True):
        ttir, ttgir = (read_ir(text, own) for text in stages)
        for function in read_ptx(kernel.image.decode(), own):
            # Functions that a kernel calls stand in its own text.
            is_it = function.symbol == kernel.name
            made.append(
                FunctionAssembly(
                    function.symbol,
                    function.is_kernel,
                    function.block_threads,
                    resources.get(function.symbol),
                    function.listing,
                    sass.get(function.symbol, ()),
                    ttir if is_it else (),
                    ttgir if is_it else (),
                )
            )
    return Assembly(arch, tuple(made))


def _disassembled(
    code: bytes, own: OwnLines, toolchain: Toolchain, settings: JudgeSettings
) -> dict[str, tuple[Instruction, ...]]:
    disassembler = find_disassembler(toolchain)
    program = _DISASSEMBLER if settings.jail != "off" else str(disassembler)
    with workplace(settings) as folder, ExitStack() as stack:
        given, taken = memory_file(stack, "code", code), memory_file(stack, "sass", b"")
        script = (
            f"cd {folder} && cat /proc/self/fd/{given} >kernel.cubin && {program} -c -gi kernel.cubin"
            f" | head -c {_MOST_BYTES} >/proc/self/fd/{taken}"
        )
        policy = compiler_policy(toolchain, settings, folder, binds=[Bind(disassembler, _DISASSEMBLER)])
        output = run_script(policy, script, settings, (given, taken))
        if not output.exit.ok:
            raise InternalError(f"the disassembler failed: {output.data.decode('utf-8', 'replace')[:300]}")
        return read_sass(contents(taken, _MOST_BYTES).decode("utf-8", "replace"), own)
