"""Modules that are linked into one."""

from __future__ import annotations

from emulator.ptx.link import link

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"


def test_what_is_a_modules_own_stays_apart() -> None:
    """Both have a ``$str``; ``f`` is defined in the second, and its weak ``g`` is the first's."""
    first = HEADER + ".global .align 1 .b8 $str[2] = {65, 0};\n.extern .func f();\n.weak .func g() { trap; }\n"
    first += ".visible .entry k() { .reg .b64 %r; mov.b64 %r, $str; call.uni f, (); ret; }"
    second = HEADER + ".global .align 1 .b8 $str[2] = {66, 0};\n.weak .func g() { exit; }\n"
    second += ".visible .func f() { .reg .b64 %r; mov.b64 %r, $str; call.uni g, (); ret; }"
    module = link([first, second])

    assert sorted(v.initial for v in module.variables.values() if v.initial) == [b"A\0", b"B\0"]
    assert module.functions["f"].defined
    assert "trap" in module.bodies["g"]
    used = {name: body.split("mov.b64 %r, ")[1].split(";")[0] for name, body in module.bodies.items() if "mov" in body}
    assert {name: module.variables[string].initial for name, string in used.items()} == {"k": b"A\0", "f": b"B\0"}
