"""Listings are read from what cicc and nvdisasm print, with the line of the submission for each instruction."""

from __future__ import annotations

from judge.compile.listing import Instruction, read_ptx, read_sass

PTX = """.version 9.0
.target sm_90a

\t// .globl\thelper
.visible .func  (.param .b32 func_retval0) helper(
\t.param .b32 helper_param_0
)
{
\t.reg .f32 \t%f<2>;

\t.loc\t1 2 0
\tld.param.f32 \t%f1, [helper_param_0];
\tret;

}
.extern .func only_declared
;
.visible .entry scale(
\t.param .u64 scale_param_0
)
.maxntid 32, 4, 1
{
\t.loc\t1 7 5
\tmov.u32 \t%r1, %tid.x;
\t.loc\t2 40 3, function_name $L__info_string0, inlined_at 1 8 9
\tadd.s32 \t%r1, %r1, 1;
\t.loc\t3 90 1, function_name $L__info_string1, inlined_at 2 40 3
\tadd.s32 \t%r1, %r1, 2;
\t.loc\t3 91 1
\tadd.s32 \t%r1, %r1, 3;
$L__BB0_2:
\tret;

}
\t.file\t1 "/tmp/kernel.cu"
\t.file\t2 "/cuda/include/outer.cuh"
\t.file\t3 "/cuda/include/inner.cuh"
"""

SASS = """\t.target\tsm_90a
//--------------------- .text.scale     --------------------------
\t.section\t.text.scale,"ax",@progbits
scale:
.text.scale:
\t//## File "/tmp/kernel.cu", line 7
        /*0000*/                   LDC R1, c[0x0][0x28] ;
\t//## File "/cuda/include/inner.cuh", line 90 inlined at "/cuda/include/outer.cuh", line 40
\t//## File "/cuda/include/outer.cuh", line 40 inlined at "/tmp/kernel.cu", line 8
\t//## File "/tmp/kernel.cu", line 8
        /*0010*/              @!P0 LDG.E R0, desc[UR6][R2.64] ;
\t//## File "/tmp/kernel.cu", line 2 inlined at "/tmp/kernel.cu", line 9
\t//## File "/tmp/kernel.cu", line 9
        /*0020*/                   FADD R0, R0, R0 ;
\t//## File "/cuda/include/inner.cuh", line 5
        /*0030*/                   EXIT ;
        .type           $scale$helper,@function
$scale$helper:
        /*0040*/                   RET.REL.NODEC R2 `(scale) ;
.L_x_0:
        /*0050*/                   BRA `(.L_x_0);
        /*0060*/                   NOP;
        /*0070*/                   NOP;
.L_x_1:

//--------------------- .nv.shared.reserved.0 --------------------------
        /*0000*/                   NOT.SHOWN ;
"""


def test_ptx_has_functions_with_bodies_and_the_lines_that_called_headers() -> None:
    helper, scale = read_ptx(PTX)
    assert (helper.symbol, helper.is_kernel, helper.block_threads) == ("helper", False, None)
    assert helper.listing[0].text.startswith(".visible .func")
    assert helper.listing[1] == Instruction(".reg .f32 %f<2>;", None)
    assert helper.listing[2] == Instruction("ld.param.f32 %f1, [helper_param_0];", 2)
    assert (scale.symbol, scale.is_kernel, scale.block_threads) == ("scale", True, 128)
    assert [each.line for each in scale.listing[1:]] == [7, 8, 8, None, None, None]
    assert scale.listing[-2].is_label


def test_sass_has_the_innermost_line_of_the_submission_and_no_padding() -> None:
    listings = read_sass(SASS)
    assert list(listings) == ["scale"]
    assert listings["scale"] == (
        Instruction("LDC R1, c[0x0][0x28]", 7),
        Instruction("@!P0 LDG.E R0, desc[UR6][R2.64]", 8),
        Instruction("FADD R0, R0, R0", 2),
        Instruction("EXIT", None),
        Instruction("$scale$helper:"),
        Instruction("RET.REL.NODEC R2 `(scale)", None),
    )


def test_braces_of_inline_assembly_do_not_end_a_function() -> None:
    text = (
        ".visible .entry k()\n{\n\t{add.f16 %rs1,%rs1,%rs2;\n}\n\tst.global.v2.f32 \t[%rd1], {%f1, %f2};\n\tret;\n}\n"
    )
    (function,) = read_ptx(text)
    assert [instruction.text for instruction in function.listing][-1] == "ret;"


def test_what_is_no_listing_gives_none() -> None:
    assert read_ptx("") == read_ptx(".entry") == read_ptx(".visible .entry a(\n") == ()
    assert read_sass("") == read_sass("//---- .text.a ----\n.L_x_0:\n") == {}
