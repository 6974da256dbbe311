"""Programs that nvcc linked from several objects (-rdc=true), and dynamic parallelism, which is refused by name."""

from __future__ import annotations

import numpy as np
import pytest

from emulator import CudaError
from emulator.ptx.link import link
from tests.unit.emulator.runtime.conftest import PROGRAMS, Build, Device

HEADER = ".version 9.0\n.target sm_80\n.address_size 64\n"


@pytest.mark.nvcc
def test_two_objects_are_one_program(device: Device, build: Build) -> None:
    program = build("linked", "-rdc=true", str(PROGRAMS / "linked_other.cu"))
    at, out = device.array(64, np.int32)
    program.run_sums(at)
    device.runtime.synchronize()
    assert list(out) == [7 * t + (t + 3) + 5 for t in range(64)]

    assert program.set_base(100) == 0
    program.run_sums(at)
    device.runtime.synchronize()
    assert list(out) == [7 * t + (t + 3) + 100 for t in range(64)]


@pytest.mark.nvcc
def test_kernels_that_launch_kernels_are_refused_by_name_and_line(device: Device, build: Build) -> None:
    program = build("linked", "-rdc=true", "-DNESTED", str(PROGRAMS / "linked_other.cu"), "-lcudadevrt")
    at, _ = device.array(64, np.int32)
    program.run_nested(at)
    with pytest.raises(CudaError):
        device.runtime.synchronize()
    assert "dynamic parallelism" in (told := device.runtime.take_report().unsupported or "")
    assert "linked.cu:" in told


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
