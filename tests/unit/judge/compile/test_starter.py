from __future__ import annotations

from judge.compile.starter import starter
from judge.packs.form.argument import Argument
from judge.packs.form.expressions import parse_expression
from judge.packs.form.signature import parse_c_type, signature_text


def _argument(name: str, c_type: str, role: str) -> Argument:
    element, is_pointer, *_ = parse_c_type(c_type)
    shape = (parse_expression("M"), parse_expression("2*N")) if is_pointer else ()
    return Argument(name, c_type, role, element, shape, description=f"about {name}")  # type: ignore[arg-type]


ARGUMENTS = (
    _argument("A", "const half*", "in"),
    _argument("C", "int8_t*", "inout"),
    _argument("alpha", "float", "scalar"),
)


def test_starter_explains_the_arguments() -> None:
    text = starter("A title", ARGUMENTS, signature_text(ARGUMENTS))
    assert text.startswith("// A title\n")
    assert "//   A      device, read [M x 2*N], about A\n" in text
    assert "//   alpha  float, about alpha\n" in text
    assert text.endswith('extern "C" void solve(const half* A, int8_t* C, float alpha) {\n}\n')
