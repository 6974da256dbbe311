"""Calls of the CUDA device runtime: which there are, what becomes of them, and what stands for a kernel."""

from __future__ import annotations

import pytest

from emulator.ptx import parse_module
from emulator.ptx.device_runtime import add_kernel_handles, helper_of, is_refused
from emulator.ptx.errors import Unsupported
from emulator.ptx.inline import inline_calls
from emulator.ptx.ir import Instruction, Module
from emulator.ptx.parameters import promote_call_parameters

_TEXT = """
.version 8.4
.target sm_80
.address_size 64
.extern .func (.param .b64 r) __cudaCDP2GetParameterBufferV2
(.param .b64 a, .param .align 4 .b8 b[12], .param .align 4 .b8 c[12], .param .b32 d);
.extern .func (.param .b32 r) __cudaCDP2Memcpy3DAsync (.param .b64 a, .param .b64 b);
.visible .entry child() { ret; }
.visible .entry parent() {
    .reg .b64 %p;
    mov.u64 %p, child;
    {
    .param .b64 f; st.param.b64 [f], %p;
    .param .align 4 .b8 grid[12];
    st.param.b32 [grid], 1; st.param.b32 [grid+4], 2; st.param.b32 [grid+8], 3;
    .param .align 4 .b8 block[12];
    st.param.b32 [block], 4; st.param.b32 [block+4], 5; st.param.b32 [block+8], 6;
    .param .b32 shared; st.param.b32 [shared], 7;
    .param .b64 out;
    call.uni (out), __cudaCDP2GetParameterBufferV2, (f, grid, block, shared);
    ld.param.b64 %p, [out];
    }
    ret;
}
.visible .entry copies() {
    .reg .b32 %r;
    {
    .param .b64 what; st.param.b64 [what], 0;
    .param .b64 stream; st.param.b64 [stream], 0;
    .param .b32 out;
    call.uni (out), __cudaCDP2Memcpy3DAsync, (what, stream);
    ld.param.b32 %r, [out];
    }
    ret;
}
"""


def _calls(module: Module, name: str) -> list[Instruction]:
    kernel, _ = inline_calls(module, module.functions[name])
    promote_call_parameters([kernel])
    return [i for i in kernel.instructions() if i.opcode.startswith("call")]


def test_a_structure_is_passed_in_its_parts() -> None:
    (call,) = _calls(parse_module(_TEXT), "parent")
    assert (call.opcode, call.modifiers) == ("call_device", ("GetParameterBufferV2",))
    assert len(call.operands) == 1 + 1 + 3 + 3 + 1


def test_what_is_missing_is_refused_by_name() -> None:
    with pytest.raises(Unsupported, match="__cudaCDP2Memcpy3DAsync"):
        _calls(parse_module(_TEXT), "copies")


def test_kernels_have_addresses_where_code_launches_kernels() -> None:
    module, plain = parse_module(_TEXT), parse_module(_TEXT)
    add_kernel_handles(module, [_TEXT])
    assert {"child", "parent", "copies"} <= set(module.variables)
    add_kernel_handles(plain, [_TEXT.replace("__cudaCDP2", "other")])
    assert plain.variables == {}


@pytest.mark.parametrize(
    ("name", "helper", "refused"),
    [
        ("__cudaCDP2LaunchDeviceV2_ptsz", "LaunchDeviceV2", False),
        ("cudaGraphSetConditional", "GraphSetConditional", False),
        ("cudaGraphKernelNodeSetParam", None, True),
        ("__cudaDeviceSynchronizeDeprecationAvoidance", None, True),
        ("LaunchDeviceV2", None, False),
        ("_Z5helloi", None, False),
    ],
)
def test_names(name: str, helper: str | None, refused: bool) -> None:
    assert (helper_of(name), is_refused(name)) == (helper, refused)
