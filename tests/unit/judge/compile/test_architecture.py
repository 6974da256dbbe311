from __future__ import annotations

import pytest

from judge.backends.registry import BUILTIN_BACKENDS
from judge.compile.architecture import gpu_architecture, needs_hopper, nvcc_flags, ptxas_architecture
from judge.compile.target import Target
from judge.errors import InternalError
from judge.judgement import DeviceInfo


@pytest.mark.parametrize(
    ("kind", "capability", "arch", "flag"),
    [
        ("emulator", "8.0", "compute_80", "arch=compute_80,code=compute_80"),
        ("cuda", "8.6", "sm_86", "arch=compute_86,code=[compute_86,sm_86]"),
        ("cuda", "9.0", "sm_90", "arch=compute_90a,code=[compute_90a,sm_90a]"),
        ("cuda", "12.0", "sm_120", "arch=compute_120a,code=[compute_120a,sm_120a]"),
    ],
)
def test_what_is_compiled_for_a_device(kind: str, capability: str, arch: str, flag: str) -> None:
    target = BUILTIN_BACKENDS.of(kind).target(DeviceInfo("device", kind, "Device", capability))
    assert target == Target(kind, arch)
    assert nvcc_flags(target.arch)[-1] == flag


def test_registers_are_reported_for_a_gpu() -> None:
    assert [ptxas_architecture(arch) for arch in ("compute_80", "sm_86", "sm_90")] == ["sm_80", "sm_86", "sm_90a"]


@pytest.mark.parametrize("arch", ["", "sm 90", "-O3", "sm_90,"])
def test_what_can_be_no_architecture_is_no_target(arch: str) -> None:
    with pytest.raises(ValueError, match="no architecture of cuda"):
        Target("cuda", arch)


@pytest.mark.parametrize("arch", ["host", "sm_", "compute_80a"])
def test_what_is_no_architecture_of_nvcc_is_refused(arch: str) -> None:
    with pytest.raises(InternalError, match=f"no architecture '{arch}'"):
        nvcc_flags(arch)


def test_a_gpu_without_a_compute_capability_is_refused() -> None:
    with pytest.raises(InternalError, match="no architecture"):
        gpu_architecture("")


@pytest.mark.parametrize(
    "source",
    [
        b'asm volatile("wgmma.fence.sync.aligned;");',
        b'asm("cp.async.bulk.commit_group;");',
        b'asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));',
        b"auto cluster = cg::this_cluster();",
        b"__global__ void __cluster_dims__(2) k();",
        b"void k(const __grid_constant__ CUtensorMap map);",
        b"cudaGridDependencySynchronize();",
        b"#if __CUDA_ARCH__ >= 900",
    ],
)
def test_sources_for_hopper(source: bytes) -> None:
    assert needs_hopper(source)


@pytest.mark.parametrize(
    "source",
    [
        b'asm("cp.async.ca.shared.global [%0], [%1], 16;");',
        b"int this_cluster = i %clusters;",
        b"cluster_group[mapa] = cluster_dims;",
        b"cuda::barrier<cuda::thread_scope_block> bar;",
        b"#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800",
    ],
)
def test_other_sources(source: bytes) -> None:
    assert not needs_hopper(source)


@pytest.mark.parametrize(("capability", "specific"), [("8.0", ""), ("9.0", "compute_90a"), ("8.9", "")])
def test_hopper_is_compiled_for_where_it_is_modelled(capability: str, specific: str) -> None:
    target = BUILTIN_BACKENDS.of("emulator").target(DeviceInfo("emulator", "emulator", "CPU emulator", capability))
    assert target == Target("emulator", "compute_80", specific)
