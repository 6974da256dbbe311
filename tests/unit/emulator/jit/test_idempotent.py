"""Which stores count as those of a constant."""

from __future__ import annotations

import pytest

from emulator.jit.idempotent import constant_stores
from emulator.ptx.ir import Instruction
from emulator.ptx.parser import parse_body, parse_module

_KERNEL = """.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 p) {
.reg .b32 %r<9>;
.reg .b64 %rd<3>;
.reg .pred %q<2>;
ld.param.u64 %rd1, [p];
mov.u32 %r4, %tid.x;
BODY
ret;
}
"""


@pytest.mark.parametrize(
    ("body", "is_constant"),
    [
        ("mov.b32 %r1, 1; st.global.u32 [%rd1], %r1;", True),
        ("mov.b32 %r1, 1; mov.b32 %r2, 2; st.global.v2.u32 [%rd1], {%r1, %r2};", True),
        ("st.global.u32 [%rd1], %r4;", False),
        ("mov.b32 %r1, 1; st.global.v2.u32 [%rd1], {%r1, %r4};", False),
        ("mov.b32 %r1, 1; mov.b32 %r1, %r4; st.global.u32 [%rd1], %r1;", False),
        ("setp.eq.u32 %q1, %r4, 0; @%q1 mov.b32 %r1, 1; st.global.u32 [%rd1], %r1;", False),
    ],
)
def test_only_immediates_are_constants(body: str, is_constant: bool) -> None:
    module = parse_module(_KERNEL.replace("BODY", body))
    (entry,) = module.entries.values()
    parse_body(module, entry)
    instructions = [it for it in entry.body if isinstance(it, Instruction)]

    assert bool(constant_stores(instructions)) == is_constant
