"""Which parts of shared memory lines name, and which line leaves its part."""

from __future__ import annotations

import pytest

from emulator.runtime.report import SharedExtent
from emulator.shared_parts import find_overruns, uses_by_line

KERNEL = """__global__ void k(int n) {
    extern __shared__ float buffer[];
    float* keys = buffer;
    float* values = buffer + n;
%s
}
"""


def extent(line: int, begin: int, end: int, *, is_write: bool = False, launch: int = 1) -> SharedExtent:
    return SharedExtent(
        "k", "/src/k.cu", launch, begin, end, line, is_write, ((1, 0, 0), (2, 0, 0)), ((7, 0, 0), (3, 0, 0))
    )


def used(statement: str) -> tuple[set[str], set[str]]:
    """Returns the parts that the line with this statement reads, and those that it writes."""
    uses = uses_by_line(KERNEL % statement)
    return {name for _, name in uses.read[5]}, {name for _, name in uses.written[5]}


@pytest.mark.parametrize(
    ("statement", "read", "written"),
    [
        ("values[0] = keys[1];", {"keys"}, {"values"}),
        ("values[0] += keys[1];", {"keys", "values"}, {"values"}),
        ("keys[values[0] == 1] = 2;", {"values"}, {"keys"}),
        ("atomicAdd(&keys[1], 1);", {"keys"}, {"keys"}),
        ("keys[0]++;", {"keys"}, {"keys"}),
        ("float x = *keys;", {"keys"}, {"keys"}),
        ("points[0].keys = 1;", set(), set()),
        ("// keys[0] = 1;", set(), set()),
        ('printf("keys[%d] ", values[0]);', {"values"}, set()),
    ],
)
def test_what_a_line_uses(statement: str, read: set[str], written: set[str]) -> None:
    assert used(statement.replace("%d", "x")) == (read, written)


@pytest.mark.parametrize(
    "change",
    ["keys += 1;", "keys++;", "++keys;", "advance(&keys);", "std::swap(keys, values);", "auto f = [](float* keys) {};"],
)
def test_a_pointer_that_may_change_is_no_part(change: str) -> None:
    uses = uses_by_line(KERNEL % f"{change}\n    x = keys[0];")

    assert {name for _, name in uses.read[6]} == {"?"}


def test_macros_and_statements_of_several_lines_use_all_that_they_name() -> None:
    uses = uses_by_line("#define KEY(i) keys[i]\n" + KERNEL % "    x = KEY(1) +\n        values[0];")

    assert {name for _, name in uses.read[6]} == {name for _, name in uses.read[7]} == {"keys", "values"}


def test_an_array_outside_of_functions_and_kernels_in_a_namespace() -> None:
    body = "float* end = all + 9;\nend[0] = all[1];"
    source = f"extern __shared__ float all[];\nnamespace a {{\n__global__ void k() {{\n{body}\n}}\n}}"

    uses = uses_by_line(source)

    assert (uses.read[5], uses.written[5]) == ({(0, "all")}, {(0, "end")})


SOURCE = KERNEL % "keys[i] = 1;\nvalues[i] = 1;\nx = keys[i + 1];\ny = values[i];"
FILLED = (extent(5, 0, 256, is_write=True), extent(6, 256, 512, is_write=True))


def test_a_line_that_reads_past_its_part() -> None:
    (overrun,) = find_overruns((*FILLED, extent(7, 4, 260), extent(8, 256, 512)), {"/src/k.cu": SOURCE})

    assert overrun.message == (
        "k.cu:7 in k, thread (7,0,0) of block (3,0,0): it reads 4 bytes past the end of keys, which are the first of "
        "values (k.cu:6)"
    )


def test_a_line_that_reads_before_its_part() -> None:
    (overrun,) = find_overruns((*FILLED, extent(7, 0, 256), extent(8, 252, 508)), {"/src/k.cu": SOURCE})

    assert overrun.message == (
        "k.cu:8 in k, thread (1,0,0) of block (2,0,0): it reads 4 bytes before the start of values, which are the last "
        "of keys (k.cu:5)"
    )


@pytest.mark.parametrize(
    "extents",
    [
        pytest.param((*FILLED, extent(7, 0, 512)), id="it walks over both parts"),
        pytest.param((*FILLED, extent(7, 0, 256), extent(8, 256, 512)), id="each stays in its part"),
        pytest.param(
            (extent(5, 4, 260, is_write=True), extent(6, 256, 512, is_write=True)), id="which one left its part?"
        ),
        pytest.param(
            (extent(5, 0, 256, is_write=True), extent(8, 252, 256), extent(7, 0, 252)), id="a name for the end"
        ),
        pytest.param((*FILLED, extent(7, 4, 260, launch=2)), id="another launch, with other sizes"),
        pytest.param((*FILLED, extent(99, 4, 260)), id="a line that names no part"),
    ],
)
def test_nothing_is_said_where_it_is_not_certain(extents: tuple[SharedExtent, ...]) -> None:
    assert find_overruns(extents, {"/src/k.cu": SOURCE}) == ()
    assert find_overruns(extents, {}) == ()


HOSTILE = (
    "__shared__ x ", "*a)[", "float*p", "namespace ", "keys[", "swap(", "keys ", "&keys[(", "/*", '"\\', "{", "{}",
    "#define \\\n", "#define A keys\n", "float* keys%d = b;", "keys                    ", "(", "&keys ", "auto x = (",
    "a=",
)  # fmt: skip


@pytest.mark.parametrize("unit", HOSTILE)
def test_sources_that_repeat_one_thing_for_ever_are_read_all_the_same(unit: str) -> None:
    text = "".join(unit % number if "%d" in unit else unit for number in range((64 << 10) // len(unit)))

    uses_by_line(f"{text}\n}}")
    uses_by_line(f"__global__ void k() {{ extern __shared__ float b[]; float* keys = b; {text};\n}}")
