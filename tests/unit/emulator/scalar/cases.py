"""Every instruction that PTX has for sm_80 and that computes: opcode, types and modifiers, as small pieces of PTX.

A case computes ``%d`` from ``%a``, ``%b``, ``%c``, ``%e``. To add one, write ``every(pattern, "inputs > output")``:
names in braces are filled in with each of their values. Registers for what lies between: ``%p``, ``%q`` (predicates),
``%h``, ``%g`` (16 bits), ``%t``, ``%u`` (32), ``%w``, ``%z`` (64).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from dataclasses import dataclass

INTEGERS = "u16 s16 u32 s32 u64 s64"
BYTES_TOO = "u8 s8 " + INTEGERS
HALVES = "f16 bf16 f16x2 bf16x2"
MODES = ".rn .rz .rm .rp"


@dataclass(frozen=True, slots=True)
class Case:
    body: str
    inputs: tuple[str, ...]  # types, or the special pools of ``operands``
    output: str

    @property
    def name(self) -> str:
        return self.body.removesuffix(";")

    @property
    def opcodes(self) -> set[str]:
        return set(re.findall(r"(?:^|;)\s*(?:@!?%\w+\s+)?(\w+)", self.body))


def every(pattern: str, types: str, **choices: str) -> Iterator[Case]:
    """``choices``: words, of which "-" stands for nothing."""
    names = list(choices)
    for values in itertools.product(*(c.split() for c in choices.values())):
        filled = {n: "" if v == "-" else v for n, v in zip(names, values, strict=True)}
        # The type with twice the bits of {t}, and the untyped bits of it.
        if "t" in filled and (bits := re.search(r"\d+", filled["t"])):
            filled["w"] = f"{filled['t'][0]}{2 * int(bits[0])}"
            filled["n"] = bits[0]
        inputs, output = types.format(**filled).split(">")
        yield Case(pattern.format(**filled), tuple(inputs.split()), output.strip())


def _integer() -> Iterator[Case]:
    two, one, three = "{t} {t} > {t}", "{t} > {t}", "{t} {t} {t} > {t}"
    yield from every("{op}.{t} %d, %a, %b;", two, op="add sub mul.lo mul.hi div rem min max", t=INTEGERS)
    yield from every("{op}.{t} %d, %a, %b, %c;", three, op="mad.lo mad.hi sad", t=INTEGERS)
    yield from every("{op}.{t} %d, %a;", one, op="abs neg", t="s16 s32 s64")
    yield from every("{op}.sat.s32 %d, %a, %b;", "s32 s32 > s32", op="add sub")
    yield from every("mad.hi.sat.s32 %d, %a, %b, %c;", "s32 s32 s32 > s32")
    yield from every("mul.wide.{t} %d, %a, %b;", "{t} {t} > {w}", t="u16 s16 u32 s32")
    yield from every("mad.wide.{t} %d, %a, %b, %c;", "{t} {t} {w} > {w}", t="u16 s16 u32 s32")
    yield from every("mul24.{m}.{t} %d, %a, %b;", two, m="lo hi", t="u32 s32")
    yield from every("mad24.{m}.{t} %d, %a, %b, %c;", three, m="lo hi", t="u32 s32")
    yield from every("mad24.hi.sat.s32 %d, %a, %b, %c;", "s32 s32 s32 > s32")
    for carried in (
        "{o}.cc.{t} %x, %a, %b; {o}c.{t} %d, %a, %c;",
        "{o}.cc.{t} %x, %a, %b; {o}c.cc.{t} %x, %b, %c; {o}c.{t} %d, %x, %a;",
    ):
        for type_ in ("u32", "s32", "u64", "s64"):
            temporary = "%t" if "32" in type_ else "%w"
            yield from every(carried.replace("%x", temporary), three, o="add sub", t=type_)
            mixed = f"{{o}}.cc.{{t}} {temporary}, %a, %b; {{m}}c.{{t}} %d, %c, 0;"
            yield from every(mixed, three, o="add sub", m="add sub", t=type_)
    for type_ in ("u32", "s32", "u64", "s64"):
        temporary = "%t" if "32" in type_ else "%w"
        body = f"mad.{{first}}.cc.{{t}} {temporary}, %a, %b, %c; madc.{{second}}.{{t}} %d, %a, %b, %c;"
        yield from every(body, three, t=type_, first="lo hi", second="lo hi")
        body = (
            f"add.cc.{{t}} {temporary}, %a, %b; madc.hi.cc.{{t}} {temporary}, %a, {temporary}, %c; addc.{{t}} %d, 0, 0;"
        )
        yield from every(body, three, t=type_)
    yield from every("dp4a.{x}.{y} %d, %a, %b, %c;", "u32 u32 u32 > u32", x="u32 s32", y="u32 s32")
    types = {"d": "u32 s32", "x": "u32 s32", "y": "u32 s32"}
    yield from every("vabsdiff{n}.{d}.{x}.{y}{a} %d, %a, %b, %c;", "u32 u32 u32 > u32", n="2 4", a="- .add", **types)
    yield from every("dp2a.{m}.{x}.{y} %d, %a, %b, %c;", "u32 u32 u32 > u32", m="lo hi", x="u32 s32", y="u32 s32")


_PAIRS = {"x": "u32 s32", "y": "u32 s32"}
_COMBINED = "vadd vsub vabsdiff vmin vmax"


def _video() -> Iterator[Case]:
    """Parts of registers, of which ptxas's sequences and the manual make the same; see ``BY_MANUAL``."""
    two, three = "b32 b32 > u32", "b32 b32 b32 > u32"
    types = {"d": "u32 s32", **_PAIRS}
    yield from every("{o}.{d}.{x}.{y}{s} %d, %a.b3, %b.h0;", two, o=_COMBINED, s="- .sat", **types)
    yield from every("{o}.{d}.{x}.{y}{s}.add %d, %a.h1, %b.b1, %c;", three, o=_COMBINED, s="- .sat", **types)
    yield from every("{o}.s32.{x}.{y}.{p} %d, %a.b0, %b.h1, %c;", three, o=_COMBINED, p="min max", **_PAIRS)
    yield from every("{o}.{d}.{x}.{y} %d.{t_}, %a.h0, %b.b2, %c;", three, o=_COMBINED, t_="b1 h0", **types)
    yield from every("{o}.{d}.{x}.{y} %d, %a, %b;", two, o="vadd vsub", **types)
    yield from every("{o}.s32.s32.s32 %d, %a, %b;", two, o="vmin vmax")
    compared = {"c": "eq ne lt le gt ge", **_PAIRS}
    yield from every("vset.{x}.{y}.{c} %d, %a.b2, %b.b0;", two, **compared)
    yield from every("vset.{x}.{y}.{c}.add %d, %a.h0, %b.b0, %c;", three, **compared)
    yield from every("vset.u32.{y}.{c}.{p} %d, %a.h0, %b.b0, %c;", three, c=compared["c"], y="u32 s32", p="min max")
    yield from every("vset.{x}.{y}.{c} %d.b3, %a.b0, %b.b1, %c;", three, **compared)
    yield from every("vset.s32.s32.{c} %d, %a, %b;", two, c="eq ne lt le gt ge")
    shifted = {"d": "u32 s32", "x": "u32 s32", "m": "clamp wrap"}
    yield from every("{o}.{d}.{x}.u32.{m} %d, %a.h1, %b;", "b32 count > u32", o="vshl vshr", **shifted)
    scaled = {"s": "- .sat", "r": "- .shr7 .shr15"}
    yield from every("vmad.s32.{x}.{y}{s}{r} %d, %a.h0, %b.b1, %c;", three, x="u32 s32", y="s32", **scaled)
    yield from every("vmad.s32.s32.s32{s}{r} %d, %a, %b, %c;", three, **scaled)
    yield from every(
        "vmad.s32.s32.s32{s} %d, {signs};", three, s="- .sat", signs="-%a,%b.h1,%c %a,-%b,%c -%a,-%b,%c %a,%b.b2,-%c"
    )
    yield from every("vmad.s32.u32.s32.po{s}{r} %d, %a.b0, %b.h1, %c;", three, **scaled)
    yield from every("istypep.{k} %p, %cell; selp.u32 %d, %a, 0, %p;", "b32 > u32", k="texref samplerref surfref")


def _by_manual() -> Iterator[Case]:
    """Video instructions of which ptxas's sequences make something else than the manual says.

    On an H200 with CUDA 13.0, ``.h1`` of the result took the upper half of the sum; saturation to a part took a
    negative number for a large one, or was left out; ``vset`` of signed numbers took the third operand for a signed
    one.
    """
    two, three = "b32 b32 > u32", "b32 b32 b32 > u32"
    types = {"d": "u32 s32", **_PAIRS}
    yield from every("{o}.{d}.{x}.{y}.sat %d.{t_}, %a.h0, %b.b2, %c;", three, o=_COMBINED, t_="b1 h1", **types)
    yield from every("{o}.{d}.{x}.{y} %d.h1, %a.h0, %b.b2, %c;", three, o=_COMBINED, **types)
    yield from every(
        "vset.s32.{y}.{c}.{p} %d, %a.h0, %b.b0, %c;", three, c="eq ne lt le gt ge", y="u32 s32", p="min max"
    )
    yield from every(
        "vshr.{d}.{x}.u32.sat.{m} %d.b0, %a.h1, %b.b0, %c;",
        "b32 count b32 > u32",
        d="u32 s32",
        x="u32 s32",
        m="clamp wrap",
    )
    yield from every("{o}.{d}.{x}.{y}.sat %d, %a, %b;", two, o=_COMBINED, **types)
    yield from every("{o}.u32.{x}.{y}.{p} %d, %a, %b, %c;", three, o=_COMBINED, p="min max", **_PAIRS)
    yield from every("vset.{x}.{y}.{c} %d, %a, %b;", two, c="lt ge", **_PAIRS)
    yield from every(
        "vshl.{d}.{x}.u32.sat.{m} %d, %a, %b;", "b32 count > u32", d="u32 s32", x="u32 s32", m="clamp wrap"
    )
    yield from every("vmad.u32.u32.u32{s}{r} %d, %a, %b, %c;", three, s="- .sat", r="- .shr7 .shr15")
    yield from every("vmad.s32.u32.{y}{s} %d, -%a, %b, %c;", three, y="u32 s32", s="- .sat")
    yield from every("vmad.s32.u32.u32{s}{r} %d, %a, %b, -%c;", three, s="- .sat", r="- .shr7")


def _bits() -> Iterator[Case]:
    yield from every("{op}.{t} %d, %a, %b;", "{t} {t} > {t}", op="and or xor", t="b16 b32 b64")
    yield from every("{op}.{t} %d, %a;", "{t} > {t}", op="not cnot", t="b16 b32 b64")
    yield from every("shl.{t} %d, %a, %b;", "{t} count > {t}", t="b16 b32 b64")
    yield from every("shr.{t} %d, %a, %b;", "{t} count > {t}", t="b16 b32 b64 " + INTEGERS)
    for bits in (16, 32, 64):
        counts = f"1 {bits - 1} {bits} {bits + 1} 255 4294967295"
        yield from every("shl.{t} %d, %a, {n_};", "{t} > {t}", t=f"b{bits}", n_=counts)
        yield from every("shr.{t} %d, %a, {n_};", "{t} > {t}", t=f"u{bits} s{bits}", n_=counts)
    yield from every("shf.{way}.{m}.b32 %d, %a, %b, %c;", "b32 b32 count > b32", way="l r", m="clamp wrap")
    yield from every("shf.{way}.{m}.b32 %d, %a, %b, {n_};", "b32 b32 > b32", way="l r", m="clamp wrap", n_="1 31 32 40")
    yield from every("{op}.{t} %d, %a;", "{t} > u32", op="popc clz", t="b32 b64")
    yield from every("brev.{t} %d, %a;", "{t} > {t}", t="b32 b64")
    yield from every("bfind{m}.{t} %d, %a;", "{t} > u32", m="- .shiftamt", t="u32 s32 u64 s64")
    # Positions and lengths are bytes. As constants they lie within the value: ptxas (13.0) has its own ideas of others.
    yield from every("bfe.{t} %d, %a, %b, %c;", "{t} byte byte > {t}", t="u32 s32 u64 s64")
    yield from every("bfe.{t} %d, %a, {p}, {n_};", "{t} > {t}", t="u32 s32 u64 s64", p="0 3 20", n_="0 1 5 12")
    yield from every("bfi.{t} %d, %a, %b, %c, %e;", "{t} {t} byte byte > {t}", t="b32 b64")
    yield from every("bfi.{t} %d, %a, %b, {p}, {n_};", "{t} {t} > {t}", t="b32 b64", p="0 3 20", n_="0 1 5 12")
    yield from every("szext.{m}.{t} %d, %a, %b;", "{t} count > {t}", m="clamp wrap", t="u32 s32")
    yield from every("bmsk.{m}.b32 %d, %a, %b;", "count count > b32", m="clamp wrap")
    yield from every("fns.b32 %d, %a, %b, %c;", "b32 bit few > b32")
    yield from every("prmt.b32{m} %d, %a, %b, %c;", "b32 b32 b32 > b32", m="- .f4e .b4e .rc8 .ecl .ecr .rc16")
    yield from every("prmt.b32 %d, %a, %b, {s};", "b32 b32 > b32", s="0x3210 0x7654 0x0123 0x5410 0x7632 0xBA98 0xFEDC")
    tables = " ".join(str(t) for t in sorted({*range(0, 256, 7), 0x80, 0xE8, 0x96, 0xCA, 0xFE, 0xFF, 0xF0, 0xCC, 0xAA}))
    yield from every("lop3.b32 %d, %a, %b, %c, {table};", "b32 b32 b32 > b32", table=tables)
    lop = "setp.lt.s32 %q, %a, %b; lop3.{op}.b32 %t|%p, %a, %b, %c, {table}, {x}%q; "
    yield from every(
        lop + "selp.u32 %u, 1, 0, %p; add.u32 %d, %t, %u;", "b32 b32 b32 > b32", op="or and", table="0x80 0xCA", x="- !"
    )
    yield from every("mov.{t} %d, %a;", "{t} > {t}", t="b16 b32 b64 u16 s16 u32 s32 u64 s64 f32 f64")
    yield from every("mov.b64 %w, {{%a, %b}}; shr.u64 %d, %w, 8;", "b32 b32 > b64")
    yield from every("mov.b64 {{%t, %u}}, %a; sub.u32 %d, %t, %u;", "b64 > b32")
    yield from every("mov.b64 {{_, %d}}, %a;", "b64 > b32")
    yield from every("mov.b32 {{%h, %g}}, %a; mov.b32 %d, {{%g, %h}};", "b32 > b32")
    yield from every("mov.b64 %d, {{%b, %a, %a, %b}};", "b16 b16 > b64")
    yield from every("mov.b64 {{%h, %d, %g, _}}, %a;", "b64 > b16")


def _comparisons() -> Iterator[Case]:
    pick = "selp.u32 %d, 1, 0, %p;"
    both = "selp.u32 %t, 1, 0, %p; selp.u32 %u, 2, 0, %q; or.b32 %d, %t, %u;"
    ordered, unordered = "eq ne lt le gt ge", "equ neu ltu leu gtu geu num nan"
    two, to = "{t} {t} > u32", "{t} {t} > {to}"
    yield from every("setp.{c}.{t} %p, %a, %b; " + pick, two, c=ordered, t="u16 s16 u32 s32 u64 s64")
    yield from every("setp.{c}.{t} %p, %a, %b; " + pick, two, c="lo ls hi hs", t="u16 u32 u64")
    yield from every("setp.{c}.{t} %p, %a, %b; " + pick, two, c="eq ne", t="b16 b32 b64")
    yield from every("setp.{c}{f}.f32 %p, %a, %b; " + pick, "f32 f32 > u32", c=f"{ordered} {unordered}", f="- .ftz")
    yield from every("setp.{c}.f64 %p, %a, %b; " + pick, "f64 f64 > u32", c=f"{ordered} {unordered}")
    yield from every("setp.{c}{f}.f16 %p, %a, %b; " + pick, "f16 f16 > u32", c=f"{ordered} {unordered}", f="- .ftz")
    yield from every("setp.{c}.f16x2 %p|%q, %a, %b; " + both, "f16x2 f16x2 > u32", c=f"{ordered} {unordered}")
    combined = "setp.gt.{t} %q, %b, %c; setp.{c}.{l}.{t} %p|%q, %a, %b, {n_}%q; " + both
    yield from every(combined, "{t} {t} {t} > u32", c="lt ne", l="and or xor", n_="- !", t="s32 u64 f32")
    logic = "setp.gt.s32 %p, %a, 0; setp.lt.s32 %q, %b, 7; {op}.pred %p, %p, %q; not.pred %q, %p; " + both
    yield from every(logic, "s32 s32 > u32", op="and or xor")
    yield from every("set.{c}.{to}.{t} %d, %a, %b;", to, c="eq lt ge", to="u32 s32 f32", t=INTEGERS)
    yield from every("set.{c}.{to}.{t} %d, %a, %b;", to, c="eq neu lt geu num nan", to="u32 s32 f32", t="f32 f64")
    yield from every("set.{c}.{to}.f16 %d, %a, %b;", "f16 f16 > {to}", c="eq neu lt geu nan", to="u16 s16 u32 s32 f16")
    yield from every("set.{c}.f16.{t} %d, %a, %b;", "{t} {t} > f16", c="eq lt", t="s32 u64 f32 f64")
    yield from every("set.{c}.f16x2.f16x2 %d, %a, %b;", "f16x2 f16x2 > f16x2", c="eq neu lt geu nan")
    combined = "setp.gt.{t} %q, %b, %c; set.{c}.{l}.{to}.{t} %d, %a, %b, {n_}%q;"
    yield from every(combined, "{t} {t} {t} > {to}", c="le", l="and or xor", n_="- !", to="u32 f32", t="s32 f32")
    selection = "setp.lt.s32 %p, %c, 5; selp.{t} %d, %a, %b, {n_}%p;"
    yield from every(selection, "{t} {t} s32 > {t}", t="b16 b32 b64 u16 s32 u64 f32 f64", n_="- !")
    yield from every("slct.{t}.s32 %d, %a, %b, %c;", "{t} {t} s32 > {t}", t="b16 b32 b64 u16 s32 u64 f32 f64")
    yield from every("slct{f}.{t}.f32 %d, %a, %b, %c;", "{t} {t} f32 > {t}", t="b32 b64 f32", f="- .ftz")
    yield from every(
        "testp.{k}.{t} %p, %a; " + pick,
        "{t} > u32",
        k="finite infinite number notanumber normal subnormal",
        t="f32 f64",
    )


def _floating() -> Iterator[Case]:
    one, two, three = "{t} > {t}", "{t} {t} > {t}", "{t} {t} {t} > {t}"
    yield from every(
        "{op}{m}{f}{s}.f32 %d, %a, %b;", "f32 f32 > f32", op="add sub mul", m=MODES, f="- .ftz", s="- .sat"
    )
    yield from every(
        "{op}{m}{f}{s}.f32 %d, %a, %b, %c;", "f32 f32 f32 > f32", op="fma mad", m=MODES, f="- .ftz", s="- .sat"
    )
    yield from every("{op}.f32 %d, %a, %b;", "f32 f32 > f32", op="add sub mul")
    yield from every("{op}{m}.f64 %d, %a, %b;", "f64 f64 > f64", op="add sub mul div", m=MODES)
    yield from every("{op}{m}.f64 %d, %a, %b, %c;", "f64 f64 f64 > f64", op="fma mad", m=MODES)
    yield from every("{op}{m}{f}.f32 %d, %a;", "f32 > f32", op="rcp sqrt", m=MODES, f="- .ftz")
    yield from every("div{m}{f}.f32 %d, %a, %b;", "f32 f32 > f32", m=MODES, f="- .ftz")
    yield from every("{op}{m}.f64 %d, %a;", "f64 > f64", op="rcp sqrt", m=MODES)
    yield from every("{op}{f}.f32 %d, %a;", "f32 > f32", op="neg abs", f="- .ftz")
    yield from every("{op}.{t} %d, %a;", one, op="neg abs", t=f"f64 {HALVES}")
    yield from every("{op}.ftz.{t} %d, %a;", one, op="neg abs", t="f16 f16x2")
    yield from every("{op}{f}{k}.f32 %d, %a, %b;", "f32 f32 > f32", op="min max", f="- .ftz", k="- .NaN")
    yield from every("{op}.f64 %d, %a, %b;", "f64 f64 > f64", op="min max")
    yield from every("{op}{k}.{t} %d, %a, %b;", two, op="min max", k="- .NaN", t=HALVES)
    yield from every("{op}.ftz{k}.{t} %d, %a, %b;", two, op="min max", k="- .NaN", t="f16 f16x2")
    yield from every(
        "{op}{m}{f}{s}.{t} %d, %a, %b;", two, op="add sub mul", m="- .rn", f="- .ftz", s="- .sat", t="f16 f16x2"
    )
    yield from every("fma.rn{f}{s}.{t} %d, %a, %b, %c;", three, f="- .ftz", s="- .sat .relu", t="f16 f16x2")
    yield from every("fma.rn{s}.{t} %d, %a, %b, %c;", three, s="- .relu", t="bf16 bf16x2")
    yield from every("copysign.{t} %d, %a, %b;", two, t="f32 f64")
    yield from every("{op}.approx{f}.f32 %d, %a;", "f32 > f32", op="rcp sqrt rsqrt sin cos lg2 ex2", f="- .ftz")
    yield from every("{op}{f}.f32 %d, %a, %b;", "f32 f32 > f32", op="div.approx div.full", f="- .ftz")
    yield from every("{op}.approx.ftz.f64 %d, %a;", "f64 > f64", op="rcp rsqrt")
    yield from every("rsqrt.approx.f64 %d, %a;", "f64 > f64")
    yield from every("tanh.approx.f32 %d, %a;", "f32 > f32")
    yield from every("{op}.approx.{t} %d, %a;", one, op="ex2 tanh", t="f16 f16x2")


def _conversions() -> Iterator[Case]:
    whole, to = ".rni .rzi .rmi .rpi", "{t} > {to}"
    for target, source in itertools.product(BYTES_TOO.split(), repeat=2):
        fits = int(source[1:]) + (source[0] != target[0]) <= int(target[1:]) and (source[0], target[0]) != ("s", "u")
        yield from every("cvt{s}.{to}.{t} %d, %a;", to, to=target, t=source, s="-" if fits else "- .sat")
    yield from every("cvt{m}{f}.{to}.f32 %d, %a;", "f32 > {to}", m=whole, f="- .ftz", to=BYTES_TOO)
    yield from every("cvt{m}.{to}.{t} %d, %a;", to, m=whole, to=BYTES_TOO, t="f16 f64")
    yield from every("cvt{m}.sat.{to}.{t} %d, %a;", to, m=".rzi", to=BYTES_TOO, t="f16 f32 f64")
    yield from every("cvt{m}.{to}.{t} %d, %a;", to, m=MODES, to="f32 f64 f16", t=BYTES_TOO)
    yield from every("cvt.rn.sat.{to}.{t} %d, %a;", to, to="f32 f64 f16", t="s8 u16 s32 u64")
    yield from every("cvt{m}{s}.{t}.{t} %d, %a;", "{t} > {t}", m=whole, s="- .sat", t="f32 f64 f16")
    yield from every("cvt{m}.ftz.f32.f32 %d, %a;", "f32 > f32", m=whole)
    yield from every("cvt{s}{f}.f32.f32 %d, %a;", "f32 > f32", s=".sat", f="- .ftz")
    yield from every("cvt{m}{f}{s}.f32.f64 %d, %a;", "f64 > f32", m=MODES, f="- .ftz", s="- .sat")
    yield from every("cvt{m}{f}{s}.f16.f32 %d, %a;", "f32 > f16", m=MODES, f="- .ftz", s="- .sat")
    yield from every("cvt{m}{s}.f16.f64 %d, %a;", "f64 > f16", m=MODES, s="- .sat")
    yield from every("cvt{f}{s}.{to}.f32 %d, %a;", "f32 > {to}", f="- .ftz", s="- .sat", to="f64")
    yield from every("cvt{s}.{to}.f16 %d, %a;", "f16 > {to}", s="- .sat", to="f32 f64")
    yield from every("cvt{m}{r}.{to}.f32 %d, %a;", "f32 > {to}", m=".rn .rz", r="- .relu", to="f16 bf16")
    yield from every("cvt{m}{r}.{to}.f32 %d, %a, %b;", "f32 f32 > {to}", m=".rn .rz", r="- .relu", to="f16x2 bf16x2")
    yield from every("cvt{m}{r}.satfinite.{to}.f32 %d, %a;", "f32 > {to}", m=".rn .rz", r="- .relu", to="f16 bf16")
    yield from every(
        "cvt{m}.satfinite{r}.{to}.f32 %d, %a, %b;", "f32 f32 > {to}", m=".rn", r="- .relu", to="f16x2 bf16x2"
    )
    yield from every("cvt.f32.bf16 %d, %a;", "bf16 > f32")
    yield from every("cvt.rna{s}.tf32.f32 %d, %a;", "f32 > tf32", s="- .satfinite")
    yield from every("cvt.pack.sat.{to}.s32 %d, %a, %b;", "s32 s32 > b32", to="u16 s16")
    yield from every("cvt.pack.sat.{to}.s32.b32 %d, %a, %b, %c;", "s32 s32 b32 > b32", to="u8 s8 u4 s4")


def _memory() -> Iterator[Case]:
    """``%cell`` (global and generic) and ``%slot`` (shared) are addresses of 16 bytes of the thread's own."""
    for place, at in ((".global", "%cell"), (".shared", "%slot"), ("", "%cell")):
        atomic = f"st{place}.b{{n}} [{at}], %a; atom{place}.{{op}}.{{t}} %x, [{at}], %b; ld{place}.b{{n}} %y, [{at}]; "
        plain = f"st{place}.b{{n}} [{at}], %a; red{place}.{{op}}.{{t}} [{at}], %b; ld{place}.b{{n}} %d, [{at}];"
        for names, kinds in (
            ("add min max", "u32 s32 u64"),
            ("min max", "s64"),
            ("inc dec", "u32"),
            ("and or xor", "b32 b64"),
            ("add", "f32 f64"),
        ):
            for kind in kinds.split():
                words = ("%t", "%u") if "32" in kind else ("%w", "%z")
                join = f"mul.lo.u{kind[1:]} %y, %y, 3; xor.b{kind[1:]} %d, %x, %y;"
                if kind[0] == "f":
                    join = "mov.b{n} %d, %y;"
                text = (atomic + join).replace("%x", words[0]).replace("%y", words[1])
                yield from every(text, "{t} {t} > {t}", op=names, t=kind)
                yield from every(plain, "{t} {t} > {t}", op=names, t=kind)
        for kind in ("b32", "b64"):
            words = ("%t", "%u") if "32" in kind else ("%w", "%z")
            body = f"st{place}.{kind} [{at}], %a; atom{place}.exch.{kind} {words[0]}, [{at}], %b; "
            body += f"atom{place}.cas.{kind} {words[0]}, [{at}], %c, {words[0]}; ld{place}.{kind} {words[1]}, [{at}]; "
            yield Case(body + f"sub.u{kind[1:]} %d, {words[0]}, {words[1]};", (kind, kind, kind), kind)
        body = f"st{place}.b16 [{at}], %a; atom{place}.cas.b16 %h, [{at}], %b, %c; ld{place}.b16 %g, [{at}]; "
        yield Case(body + "mov.b32 %d, {%h, %g};", ("b16", "b16", "b16"), "b32")
        for kind in ("f16", "f16x2"):
            bits, word = ("16", "%h") if kind == "f16" else ("32", "%t")
            body = f"st{place}.b{bits} [{at}], %a; atom{place}.add.noftz.{kind} {word}, [{at}], %b; "
            yield Case(body + f"ld{place}.b{bits} %d, [{at}];", (kind, kind), kind)


def _warp() -> Iterator[Case]:
    modes = ("up 0", "down 31", "bfly 31", "idx 31", "up 4096", "down 6175", "bfly 7199", "idx 6175", "idx 7")
    for mode, control in (m.split() for m in modes):
        text = f"shfl.sync.{mode}.b32 %d|%p, %a, {{b}}, {control}, -1; @!%p not.b32 %d, %d;"
        yield from every(text, "b32 lane > b32", b="%b 1 16 37")
    yield from every("shfl.sync.{m}.b32 %d, %a, %b, %c, -1;", "b32 lane control > b32", m="up down bfly idx")
    pick = " selp.u32 %d, 1, 0, %q;"
    yield from every(
        "setp.gt.s32 %p, %a, {n_}; vote.sync.{m}.pred %q, {x}%p, -1;" + pick,
        "s32 > u32",
        m="all any uni",
        n_="0 -2147483648",
        x="- !",
    )
    yield from every("setp.gt.s32 %p, %a, %b; vote.sync.ballot.b32 %d, {x}%p, -1;", "s32 s32 > b32", x="- !")
    yield from every("match.any.sync.b{n_} %d, %a, -1;", "few{n_} > b32", n_="32 64")
    yield from every(
        "match.all.sync.b{n_} %d|%q, %a, -1;" + pick.replace("%d", "%t") + " add.u32 %d, %d, %t;",
        "few{n_} > b32",
        n_="32 64",
    )
    yield from every(
        "redux.sync.{op} %d, %a, -1;",
        "b32 > b32",
        op="add.u32 add.s32 min.u32 min.s32 max.u32 max.s32 and.b32 or.b32 xor.b32",
    )
    # By groups: the mask is a register.
    halves = "and.b32 %t, %b, 16; mov.u32 %u, 65535; shl.b32 %u, %u, %t; "
    yield from every(halves + "redux.sync.{op} %d, %a, %u;", "b32 own > b32", op="add.u32 min.s32 max.u32 xor.b32")
    yield from every(halves + "match.any.sync.b32 %d, %a, %u;", "few32 own > b32")
    yield from every(halves + "setp.gt.s32 %p, %a, 0; vote.sync.ballot.b32 %d, %p, %u;", "b32 own > b32")
    yield from every(halves + "shfl.sync.bfly.b32 %d, %a, 3, 31, %u;", "b32 own > b32")


CASES: tuple[Case, ...] = tuple(
    itertools.chain(_integer(), _video(), _bits(), _comparisons(), _floating(), _conversions(), _memory(), _warp())
)

#: Not for a GPU: ptxas (13.0) reads whole unsigned operands as signed, and keeps 34 bits of shifts.
BY_MANUAL: tuple[Case, ...] = tuple(_by_manual())
