from __future__ import annotations

from judge.compile.listing import Instruction
from judge.compile.source_files import own_lines
from judge.languages.triton.intermediate import read_ir

LINES = own_lines(b"", "kernel.py")
TEXT = """\
#blocked = #ttg.blocked<{sizePerThread = [1]}>
#loc = loc("/tmp/gpujudge-build-1/kernel.py":11:1)
#loc5 = loc("a"(#loc))
module {
  tt.func public @add(%a: !tt.ptr<f32> loc("a"(#loc)), %n: i32 loc(#loc5)) attributes {noinline = false} {
    %cst = arith.constant 1 : i32 loc(#loc6)
    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({
    ^bb0(%p: f32 loc(callsite(#loc6 at #loc2))):
      %q = arith.addf %p, %p : f32 loc(#loc4)
    }) : (tensor<4xf32>) -> f32 loc(#loc3)
    tt.return loc(#loc)
  } loc(#loc)
} loc(#loc)
#loc1 = loc("/usr/triton/language/standard.py":314:12)
#loc2 = loc("s"("/tmp/gpujudge-build-1/kernel.py":16:9))
#loc3 = loc(callsite(#loc1 at #loc2))
#loc4 = loc(callsite("/tmp/gpujudge-build-1/kernel.py":7:3 at #loc3))
#loc6 = loc(unknown)
"""


def test_each_line_has_that_of_the_source() -> None:
    assert read_ir(TEXT, LINES) == (
        Instruction("#blocked = #ttg.blocked<{sizePerThread = [1]}>"),
        Instruction("module {", 11),
        Instruction("  tt.func public @add(%a: !tt.ptr<f32>, %n: i32) attributes {noinline = false} {", 11),
        Instruction("    %cst = arith.constant 1 : i32"),
        Instruction('    %s = "tt.reduce"(%x) <{axis = 0 : i32}> ({', 16),
        Instruction("    ^bb0(%p: f32):", 16),
        Instruction("      %q = arith.addf %p, %p : f32", 7),
        Instruction("    }) : (tensor<4xf32>) -> f32", 16),
        Instruction("    tt.return", 11),
        Instruction("  }", 11),
        Instruction("}", 11),
    )


def test_places_that_name_each_other_have_no_line() -> None:
    text = "a loc(#loc)\n#loc = loc(#loc1)\n#loc1 = loc(#loc)\n"
    chain = "".join(f"#loc{at} = loc(#loc{at + 1})\n" for at in range(5000))
    for forged in (text, f"a loc(#loc0)\n{chain}", "a loc(#loc9)", 'a loc("kernel.py":0:0)'):
        assert read_ir(forged, LINES) == (Instruction("a"),)
    assert read_ir("}\n} {\n} loc(", LINES)[-1] == Instruction("} loc(")
