"""PTX text to the typed form."""

from __future__ import annotations

import pytest

from emulator.ptx import PtxError, Unsupported, parse_module
from emulator.ptx.ir import Address, Guard, Imm, Instruction, Pair, Reg, Sink, Special, Sym, Vec
from emulator.ptx.parser import parse_body
from emulator.ptx.program import build_program

HEADER = '.version 9.0\n.target sm_80\n.address_size 64\n.file 1 "/x/kernel.cu"\n.file 2 "/cuda/math.h"\n'


def body(text: str, declarations: str = "") -> list[Instruction]:
    module = parse_module(f"{HEADER}{declarations}\n.visible .entry k(.param .u64 p) {{\n{text}\n}}")
    function = module.functions["k"]
    parse_body(module, function)
    return list(function.instructions())


REGISTERS = ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .pred %p<3>; .reg .f32 %f<5>;\n"


@pytest.mark.parametrize("version", ["1.0", "6.5", "8.7", "9.2"])
def test_versions_of_ptx(version: str) -> None:
    assert parse_module(HEADER.replace("9.0", version)).version == version


def test_a_version_of_a_later_toolkit_or_of_none() -> None:
    with pytest.raises(Unsupported, match=r"^PTX of version 10\.1: build the program with nvcc 13"):
        parse_module(HEADER.replace("9.0", "10.1"))
    for version in ("0.9", "9", "9.x", "latest"):
        with pytest.raises(PtxError, match=f"^.version {version}: there is no such version of PTX$"):
            parse_module(HEADER.replace("9.0", version))


def test_operands_are_classified() -> None:
    (one,) = body(REGISTERS + "@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1+-8];")
    assert one.name == "ld.global.v2.u32"
    assert one.guard == Guard("%p1", True)
    assert one.operands == (Vec((Reg("%r1"), Sink())), Address(Reg("%rd1"), -8))
    (two,) = body(REGISTERS + "setp.lt.and.s32 %p0|%p1, %r1, -5, !%p2;")
    assert two.operands == (Pair(Reg("%p0"), Reg("%p1")), Reg("%r1"), Imm(-5), Reg("%p2", negated=True))
    (three,) = body(REGISTERS + "mov.u32 %r1, %tid.x;")
    assert three.operands[1] == Special("%tid.x")
    (four,) = body(REGISTERS + "mov.f32 %f1, 0f3F800000;")
    assert four.operands[1] == Imm(0x3F800000, 32)
    (five,) = body(REGISTERS + "st.shared.u32 [buffer+4], %r1;")
    assert five.operands[0] == Address(Sym("buffer"), 4)


def test_what_a_parameter_points_to_does_not_align_it() -> None:
    parameters = (
        ".param .f32 a, .param .u64 .ptr .global .align 1 b, .param .u64 .ptr .align 16 c, .param .align 2 .b8 d[6]"
    )
    module = parse_module(f"{HEADER}.visible .entry k({parameters}) {{\nret;\n}}")
    assert [each.align for each in module.functions["k"].parameters] == [4, 8, 8, 2]


@pytest.mark.parametrize(("text", "value"), [("0x1FU", 31), ("-7", -7), ("017", 15), ("0b101", 5), ("0XC13BU", 0xC13B)])
def test_integer_literals(text: str, value: int) -> None:
    (one,) = body(REGISTERS + f"mov.b32 %r1, {text};")
    assert one.operands[1] == Imm(value)


def test_inner_scopes_have_names_of_their_own() -> None:
    instructions = body(
        ".reg .b32 %r<3>;\n{ .reg .b32 t; mov.b32 t, %r1; bra L; L: }\n{ .reg .b32 t; mov.b32 t, %r2; bra L; L: }"
    )
    first, jump1, second, jump2 = instructions
    assert first.operands[0] != second.operands[0]
    assert jump1.operands[0] != jump2.operands[0]


def test_locations_lead_to_the_kernels_own_file() -> None:
    instructions = body(
        ".reg .f32 %f<3>;\n.loc 1 3 0\nneg.f32 %f1, %f2;\n"
        ".loc 1 7 5\n.loc 2 99 1, function_name $L__info_string0, inlined_at 1 7 5\nabs.f32 %f1, %f2;\n"
        ".loc 1 0 5\nneg.f32 %f1, %f2;"
    )
    assert [(i.location.file, i.location.line) for i in instructions] == [
        ("/x/kernel.cu", 3),
        ("/x/kernel.cu", 7),
        ("/x/kernel.cu", 7),
    ]


def test_module_variables() -> None:
    module = parse_module(
        HEADER
        + ".const .align 4 .b8 c[8] = {1, 2, 255};\n.global .align 4 .f32 f = 0f3F800000;\n"
        + ".extern .shared .align 16 .b8 dynamic[];\n.global .align 8 .u64 table[2] = {generic(c)+4, 7};\n"
        + ".visible .global .align 4 .u32 zero[3];\n"
    )
    assert module.variables["c"].initial == bytes([1, 2, 255])
    assert module.variables["c"].size == 8
    assert module.variables["f"].initial == b"\0\0\x80\x3f"
    assert (module.variables["dynamic"].size, module.variables["dynamic"].space) == (0, "shared")
    (relocation,) = module.variables["table"].relocations
    assert (relocation.symbol, relocation.addend, relocation.offset, relocation.size) == ("c", 4, 0, 8)
    assert module.variables["zero"].size == 12
    assert module.variables["zero"].initial is None


def test_parameters_are_laid_out_by_alignment() -> None:
    module = parse_module(
        HEADER + ".visible .entry k(.param .u32 a, .param .u64 b, .param .align 8 .b8 c[12], .param .u8 d)"
        ".maxntid 128, 2, 1 { ret; }"
    )
    program = build_program(module, "k")
    assert program.layout.parameters == {"a": (0, 4), "b": (8, 8), "c": (16, 12), "d": (28, 1)}
    assert program.entry.max_threads == 256


def test_calls_are_inlined_with_parameters_in_registers() -> None:
    module = parse_module(
        HEADER
        + ".func (.param .b32 r) twice(.param .b32 x) { .reg .b32 %r<3>; ld.param.u32 %r1, [x];"
        + " add.u32 %r2, %r1, %r1; st.param.b32 [r+0], %r2; ret; }\n"
        + ".visible .entry k() { .reg .b32 %r<3>; { .param .b32 param0; st.param.b32 [param0+0], %r1;"
        + " .param .b32 retval0;"
        + " call.uni (retval0), twice, (param0); ld.param.b32 %r2, [retval0+0]; } ret; }"
    )
    program = build_program(module, "k")
    opcodes = [i.opcode for b in program.cfg.blocks for i in b.instructions]
    assert "call" not in opcodes
    assert opcodes.count("param") == 4
    assert program.layout.local_bytes == 0


def test_a_function_that_calls_itself_is_there_once() -> None:
    module = parse_module(
        HEADER
        + ".func leaf() { nanosleep.u32 1; ret; }\n"
        + ".func again() { call.uni leaf, (); call.uni again, (); call.uni again, (); ret; }\n"
        + ".visible .entry k() { call.uni leaf, (); call.uni again, (); ret; }"
    )
    program = build_program(module, "k")
    opcodes = [i.opcode for b in program.cfg.blocks for i in b.instructions]
    assert not {"call", "enter"} & set(opcodes)
    assert opcodes.count("nanosleep") == 2  # once in the kernel, once in the function
    assert opcodes.count("stackcheck") == 1
    assert [len(set(targets)) for targets in program.branch_tables.values()] == [3]
    assert program.uses_stack


def test_a_function_that_is_not_there_is_refused_by_name() -> None:
    module = parse_module(HEADER + ".extern .func gone();\n.visible .entry k() { call.uni gone, (); ret; }")
    with pytest.raises(Unsupported, match="gone"):
        build_program(module, "k")


def test_liveness_and_blocks() -> None:
    module = parse_module(
        HEADER
        + ".visible .entry k() { .reg .b32 %r<4>; .reg .pred %p<2>; mov.u32 %r1, 5; mov.u32 %r2, 0;\n"
        + "L: add.u32 %r2, %r2, %r1; setp.lt.u32 %p1, %r2, 50; @%p1 bra L; mov.u32 %r3, %r2; ret; }"
    )
    cfg = build_program(module, "k").cfg
    assert [len(b.instructions) for b in cfg.blocks] == [2, 3, 2]
    assert cfg.blocks[1].live_in == {"%r1", "%r2"}
    assert cfg.blocks[2].live_in == {"%r2"}
    assert cfg.loop_heads == {1}


def test_warp_synchronous_instructions_begin_blocks_where_the_mask_changes() -> None:
    shuffle = "shfl.sync.bfly.b32 %r1, %r1, 1, 31, {};"
    module = parse_module(
        HEADER
        + ".visible .entry k() { .reg .b32 %r<4>; add.u32 %r1, %r1, 1;"
        + "".join(shuffle.format(mask) for mask in ("-1", "-1", "15"))
        + " ret; }"
    )
    assert [len(b.instructions) for b in build_program(module, "k").cfg.blocks] == [1, 2, 2]


@pytest.mark.parametrize("text", ["", "hello", HEADER + ".visible .entry k( {", HEADER + ".visible .entry k() { mov"])
def test_what_is_not_ptx_is_refused(text: str) -> None:
    with pytest.raises(PtxError):
        build_program(parse_module(text), "k")


def test_a_branch_to_nowhere_is_refused() -> None:
    with pytest.raises(PtxError, match="nowhere"):
        build_program(parse_module(HEADER + ".visible .entry k() { bra nowhere; }"), "k")


def test_a_branch_to_a_register_is_refused() -> None:
    with pytest.raises(PtxError, match="not a label"):
        build_program(parse_module(HEADER + ".visible .entry k() { .reg .b32 %r<2>; bra %r1; }"), "k")


def test_an_argument_that_is_not_a_variable_is_refused() -> None:
    callee = ".func f(.param .b32 a) { ret; }"
    kernel = ".visible .entry k() { .reg .b32 %r<2>; call.uni f, (%r1); ret; }"
    with pytest.raises(PtxError, match="not a parameter"):
        build_program(parse_module(HEADER + callee + kernel), "k")
