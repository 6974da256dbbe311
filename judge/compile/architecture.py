"""nvcc's architectures: ``compute_80`` asks for PTX alone, ``sm_90`` for that GPU's machine code."""

from __future__ import annotations

import re

from judge.errors import InternalError

#: The first architecture with arch-specific instructions (wgmma, TMA of Hopper and later): only ``sm_90a`` offers them.
_FIRST_SPECIFIC = 90


def gpu_architecture(compute_capability: str) -> str:
    """Returns ``sm_90`` for ``9.0``. Raises InternalError for what is not a compute capability."""
    architecture = "sm_" + compute_capability.replace(".", "")
    check_architecture(architecture)
    return architecture


def check_architecture(arch: str) -> None:
    """Raises InternalError unless the name has the form of an architecture of nvcc."""
    if not re.fullmatch(r"compute_(?:\d+|(?:9\d|\d{3})[af])|sm_\d+[af]?", arch):
        raise InternalError(f"nvcc compiles for no architecture '{arch}'")


def is_ptx_alone(arch: str) -> bool:
    """Returns whether the architecture is a virtual one, without machine code."""
    return arch.startswith("compute_")


def nvcc_flags(arch: str) -> tuple[str, ...]:
    """Returns nvcc's options: for PTX alone, or for the GPU's cubin with the PTX it was made from."""
    check_architecture(arch)
    if is_ptx_alone(arch):
        return ("-cudart", "shared", "--compress-mode=none", "-gencode", f"arch={arch},code={arch}")
    number = specific_architecture(arch).removeprefix("sm_")
    code = f"arch=compute_{number},code=[compute_{number},sm_{number}]"
    return ("-cudart", "static", "-Xptxas", "-v", "-gencode", code)


def specific_architecture(arch: str) -> str:
    """Returns ``sm_90a`` for ``sm_90``, so that kernels may use what only that GPU has; older ones unchanged."""
    number = arch.removeprefix("sm_")
    return f"{arch}a" if number.isdigit() and int(number) >= _FIRST_SPECIFIC else arch


#: What only sources for Hopper say: clusters, tensor maps, mbarriers that count bytes, ``wgmma``, dependent launches,
#: what CUTLASS and CuTe name after it, and code that an older architecture leaves out.
_HOPPER = re.compile(
    rb"wgmma|setmaxnreg|elect\.sync|\bcp\.(?:reduce\.)?async\.bulk|mbarrier\.(?:try_wait|expect_tx|arrive\.expect_tx)"
    rb"|barrier\.cluster|%n?cluster(?:id|_n?cta(?:id|rank))\b|\bmapa\.|__cluster_|\bthis_cluster\s*\(|CUtensorMap|cuda::ptx"
    rb"|cudaLaunchAttributeClusterDimension|cp_async_bulk|\bSm90\b|\bSM90_|\bgriddepcontrol\b"
    rb"|\bcuda(?:GridDependencySynchronize|TriggerProgrammaticLaunchCompletion)\b|\bstmatrix\.|::\s*cluster_group\b"
    rb"|\b__CUDA_ARCH__\s*>=?\s*(?:89|90)0\b"
)
#: How compilers say that an architecture has no such instruction, or a header that it has no such function.
_LACKING = re.compile(
    r"requires \.target sm_|_is_not_supported_before_SM_|no instance of overloaded function \"atomic\w+\""
)


def needs_hopper(source: bytes) -> bool:
    """Returns whether a source names an instruction or a function that only Hopper has."""
    return _HOPPER.search(source) is not None


def lacks_instructions(log: str) -> bool:
    """Returns whether a build failed since the source uses what a later architecture may have."""
    return _LACKING.search(log) is not None


def ptxas_architecture(arch: str) -> str:
    """Returns the GPU for which ptxas reports registers."""
    return "sm_" + arch.removeprefix("compute_") if is_ptx_alone(arch) else specific_architecture(arch)
