"""Cases of vector atomics: each element by itself, by many threads at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tests.unit.emulator.hopper.device import Array, Device
from tests.unit.emulator.jit import ieee
from tests.unit.emulator.jit.ieee import FORMATS
from tests.unit.emulator.scalar.batches import pool
from tests.unit.emulator.scalar.floating import is_nan
from tests.unit.emulator.scalar.text import Instruction, type_of
from tests.unit.emulator.scalar.thread import evaluate

THREADS = 64
_MANY = 8 * THREADS


@dataclass(frozen=True)
class VectorAtomic:
    kind: str
    count: int
    operation: str

    @property
    def name(self) -> str:
        return f"{self.operation}{'' if self.kind == 'f32' else '.noftz'}.v{self.count}.{self.kind}"

    def __str__(self) -> str:
        return self.name


def vector_atomics() -> list[VectorAtomic]:
    found = [VectorAtomic("f32", count, "add") for count in (2, 4)]
    for kind, counts in (("f16", (2, 4, 8)), ("bf16", (2, 4, 8)), ("f16x2", (2, 4)), ("bf16x2", (2, 4))):
        found += [VectorAtomic(kind, count, name) for count in counts for name in ("add", "min", "max")]
    return found


def _text(case: VectorAtomic, *, shared: bool) -> str:
    """Each thread: ``atom``, then ``red``, with its own operand, on its own cell or one; the old values are stored."""
    bits = type_of(case.kind).bits
    size = bits // 8 * case.count
    old, new = ("{" + ", ".join(f"%{letter}{n}" for n in range(case.count)) + "}" for letter in "ov")
    parts = f"ld.global.b{bits} %v{{n}}, [%from+{{at}}];"
    load = "".join(parts.format(n=n, at=n * bits // 8) for n in range(case.count))
    store = "".join(f"st.global.b{bits} [%out+{n * bits // 8}], %o{n};" for n in range(case.count))
    return f"""
    .visible .entry k(.param .u64 cells, .param .u64 from, .param .u64 out) {{
        .reg .b32 %i, %t, %n; .reg .b64 %cell, %from, %out; .reg .b{bits} %o<8>, %v<8>;
        mov.u32 %i, %tid.x; mov.u32 %t, %ctaid.x; mov.u32 %n, %ntid.x; mad.lo.u32 %i, %t, %n, %i;
        ld.param.u64 %cell, [cells]; ld.param.u64 %from, [from]; ld.param.u64 %out, [out];
        mad.wide.u32 %from, %i, {size}, %from; mad.wide.u32 %out, %i, {size}, %out;
        mad.wide.u32 %cell, %i, {0 if shared else size}, %cell;
        {load}
        atom.relaxed.gpu.global.{case.name} {old}, [%cell], {new};
        red.relaxed.gpu.global.{case.name} [%cell], {new};
        {store} ret;
    }}"""


def _same(kind: str, found: int, expected: int) -> bool:
    """NaN is NaN, whatever its bits."""
    part = type_of(kind).part
    form = FORMATS[f"{part.kind}{part.bits}"]
    for at in range(0, type_of(kind).bits, part.bits):
        a, b = (word >> at & (1 << part.bits) - 1 for word in (found, expected))
        if a != b and not (is_nan(ieee.decode(a, form)) and is_nan(ieee.decode(b, form))):
            return False
    return True


def run_edges(device: Device, case: VectorAtomic) -> str:
    """A place for each thread: all kinds of numbers."""
    type_ = type_of(case.kind)
    word = {16: np.uint16, 32: np.uint32}[type_.bits]
    rng = np.random.default_rng(case.count)
    start, given = (rng.choice(np.array(pool(case.kind), word), THREADS * case.count) for _ in range(2))
    cells, out = device.upload(start), device.upload(np.zeros_like(given))
    device.launch(_text(case, shared=False), 1, THREADS, 0, cells, device.upload(given), out)
    once = Instruction(case.operation, ("ftz",) if case.kind == "f32" else (), (type_,), ())
    wrong = []
    results = zip(
        start.tolist(), given.tolist(), device.download(cells, start), device.download(out, given), strict=True
    )
    for before, operand, after, old in results:
        expected = evaluate(once, [before, operand])
        assert isinstance(expected, int)
        expected = evaluate(once, [expected, operand])
        assert isinstance(expected, int)
        if old != before or not _same(case.kind, int(after), expected):
            wrong.append(f"{before:#x}, {operand:#x}: {after:#x}, not {expected:#x}")
    return "\n".join([str(case), *wrong[:8]]) if wrong else ""


def run_sums(device: Device, count: int) -> str:
    """Many threads of many blocks add small integers to one vector of float32: no addition is lost."""
    case = VectorAtomic("f32", count, "add")
    given: Array = (np.arange(_MANY * count) % 5).astype(np.float32)
    cells, out = device.upload(np.zeros(count, np.float32)), device.upload(np.zeros_like(given))
    device.launch(_text(case, shared=True), _MANY // THREADS, THREADS, 0, cells, device.upload(given), out)
    found = device.download(cells, np.zeros(count, np.float32))
    expected = 2 * given.reshape(-1, count).sum(axis=0)
    return "" if np.array_equal(found, expected) else f"{case}: {found}, not {expected}"
