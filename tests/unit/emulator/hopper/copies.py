"""Cases of bulk copies, tensor maps, mbarriers that count bytes, ``elect`` and ``stmatrix``."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.unit.emulator.hopper.device import DATA_TYPES, Array, Device, tensor_map

DTYPES = {"u8": np.uint8, "u16": np.uint16, "u32": np.uint32, "f16": np.float16, "f32": np.float32}
WINDOW = 32 << 10

#: Waits for phase 0 of the mbarrier at %bar.
WAIT = """again: mbarrier.try_wait.parity.shared::cta.b64 %p2, [%bar], 0;
        @!%p2 bra again;"""
HEAD = """
    .extern .shared .align 1024 .b8 window[];
    .visible .entry k({parameters}) {{
        .reg .b32 %r<16>, %c<5>, %bar, %base; .reg .b64 %rd<16>; .reg .pred %p<8>;
        mov.u32 %bar, window; add.u32 %base, %bar, 2047; and.b32 %base, %base, 0xfffffc00;
        mov.u32 %r1, %tid.x; setp.eq.u32 %p1, %r1, 0;
        @%p1 mbarrier.init.shared::cta.b64 [%bar], 1;
        fence.mbarrier_init.release.cluster;
        bar.sync 0;
"""
#: The window from %base on to the array at %rd1: each of 32 threads a word, and so on.
STORE = """
        shl.b32 %r4, %r1, 2;
        copy: add.u32 %r5, %base, %r4; cvt.u64.u32 %rd9, %r4; add.u64 %rd9, %rd1, %rd9;
        ld.shared.u32 %r6, [%r5]; st.global.u32 [%rd9], %r6;
        add.u32 %r4, %r4, 128; setp.lt.u32 %p3, %r4, {size}; @%p3 bra copy;
        ret;
    }}"""
FILL = """
        shl.b32 %r4, %r1, 2;
        fill: add.u32 %r5, %base, %r4; cvt.u64.u32 %rd9, %r4; add.u64 %rd9, %rd1, %rd9;
        ld.global.u32 %r6, [%rd9]; st.shared.u32 [%r5], %r6;
        add.u32 %r4, %r4, 128; setp.lt.u32 %p3, %r4, {size}; @%p3 bra fill;
        fence.proxy.async.shared::cta; bar.sync 0;
"""


def parameters_of(*names: str) -> str:
    return ", ".join(f".param .u64 {name}" for name in names)


def swizzled(data: Array, mode: int) -> Array:
    """Bytes of a box in the order of shared memory: modes 1, 2 and 3 mix pieces of 16 bytes within 32, 64 and 128."""
    out = np.zeros_like(data)
    for begin in range(0, len(data), 16):
        at = begin ^ ((begin >> 7) & ((1 << mode) - 1)) << 4
        out[at : at + 16] = data[begin : begin + 16]
    return out


@dataclass(frozen=True)
class TensorCopy:
    """A box of a tensor at ``start``. Sizes, boxes and so on have the first (innermost) dimension first."""

    kind: str
    sizes: tuple[int, ...]
    box: tuple[int, ...]
    start: tuple[int, ...]
    swizzle: int = 0
    steps: tuple[int, ...] = ()
    reduction: str = ""

    def __str__(self) -> str:
        return "-".join(
            str(x).replace(" ", "")
            for x in (self.kind, self.sizes, self.box, self.start, self.swizzle, self.steps, self.reduction)
        )

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def tensor(self) -> Array:
        count = int(np.prod(self.sizes))
        return (np.arange(count) * 7 % 251).astype(DTYPES[self.kind]).reshape(self.sizes[::-1])

    @property
    def strides(self) -> tuple[int, ...]:
        size = np.dtype(DTYPES[self.kind]).itemsize
        return tuple(int(np.prod(self.sizes[:d])) * size for d in range(1, self.rank))

    def places(self) -> list[tuple[tuple[int, ...], tuple[int, ...]]]:
        """(index in the box, index in the tensor) of its elements that lie in the tensor, outermost first."""
        steps = self._steps
        counts = [-(-b // s) for b, s in zip(self.box, steps, strict=True)]
        found = []
        for index in itertools.product(*(range(c) for c in counts[::-1])):
            at = tuple(self.start[d] + index[self.rank - 1 - d] * steps[d] for d in range(self.rank))
            if all(0 <= x < size for x, size in zip(at, self.sizes, strict=True)):
                found.append((index, at[::-1]))
        return found

    @property
    def _steps(self) -> tuple[int, ...]:
        """Hardware ignores the step of the innermost dimension."""
        return (1, *self.steps[1:]) if self.steps else (1,) * self.rank

    @property
    def box_shape(self) -> tuple[int, ...]:
        steps = self._steps
        return tuple(-(-b // s) for b, s in zip(self.box, steps, strict=True))[::-1]


def tensor_copies() -> list[TensorCopy]:
    found = [
        TensorCopy("f32", (64,), (32,), (16,)),
        TensorCopy("f32", (64,), (32,), (-8,)),
        TensorCopy("f32", (60,), (32,), (40,)),
        TensorCopy("u8", (64, 20), (32, 8), (16, 16)),
        TensorCopy("u16", (40, 12), (16, 4), (-8, -1)),
        TensorCopy("f16", (32, 6, 5), (16, 3, 2), (8, 4, 1)),
        TensorCopy("f32", (8, 5, 4, 3), (4, 2, 3, 2), (4, 1, 2, 2)),
        TensorCopy("f32", (8, 3, 3, 3, 4), (4, 2, 2, 2, 2), (0, 1, 1, -1, 3)),
        TensorCopy("u32", (64, 32), (16, 16), (4, 5), steps=(1, 2)),
        TensorCopy("u32", (64, 32), (32, 8), (4, 1), steps=(2, 3)),
    ]
    found += [TensorCopy("f16", (128, 64), (8 << mode, 32), (16, 3), mode) for mode in (1, 2, 3)]
    found += [TensorCopy("u8", (256, 64), (16 << mode, 64), (128, 10), mode) for mode in (1, 2, 3)]
    return found


def tensor_stores() -> list[TensorCopy]:
    """Hardware refuses stores that begin before the tensor."""
    return [case for case in tensor_copies() if min(case.start) >= 0]


def illegal_loads() -> list[TensorCopy]:
    """The innermost coordinate does not lie at a multiple of 16 bytes."""
    return [
        TensorCopy("f32", (64,), (32,), (1,)),
        TensorCopy("u16", (40, 12), (16, 4), (-4, 1)),
        TensorCopy("u32", (64, 32), (16, 16), (3, 5), steps=(1, 2)),
    ]


def illegal_stores() -> list[TensorCopy]:
    return [
        *illegal_loads(),
        TensorCopy("f32", (64,), (32,), (-8,)),
        TensorCopy("f32", (64, 8), (32, 4), (0, -1)),
        TensorCopy("f16", (40, 12), (16, 4), (28, 9), reduction="add"),
    ]


def tensor_reductions() -> list[TensorCopy]:
    return [
        TensorCopy(kind, (40, 12), (16, 4), (32, 9), reduction=operation)
        for kind, operation in [
            ("f32", "add"),
            ("f16", "add"),
            ("u32", "add"),
            ("u32", "min"),
            ("u32", "max"),
            ("f16", "max"),
        ]
        + [("u32", operation) for operation in ("and", "or", "xor", "inc", "dec")]
    ]


def _coordinates(case: TensorCopy) -> tuple[str, str]:
    names = [f"%c{d}" for d in range(case.rank)]
    return "".join(f"mov.s32 {n}, {x};" for n, x in zip(names, case.start, strict=True)), ", ".join(names)


def run_tensor_load(device: Device, case: TensorCopy) -> str:
    tensor = case.tensor()
    box = np.zeros(case.box_shape, tensor.dtype)
    for index, at in case.places():
        box[index] = tensor[at]
    expected = swizzled(box.reshape(-1).view(np.uint8), case.swizzle)
    size = -(-len(expected) // 128) * 128
    moves, names = _coordinates(case)
    text = (
        HEAD.format(parameters=parameters_of("out", "map"))
        + f"""ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [map]; {moves}
        @%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [%bar], {len(expected)};
        @%p1 cp.async.bulk.tensor.{case.rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes
            [%base], [%rd2, {{{names}}}], [%bar];
        {WAIT}"""
        + STORE.format(size=size)
    )
    source = device.upload(tensor)
    mapped = tensor_map(
        device, source, case.kind, case.sizes, case.strides, case.box, steps=case.steps, swizzle=case.swizzle
    )
    out = np.zeros(size, np.uint8)
    target = device.upload(out)
    device.launch(text, 1, 32, WINDOW, target, mapped)
    return differs(case, device.download(target, out)[: len(expected)], expected)


_OPERATIONS: dict[str, Callable[[Array, Array], Array]] = {
    "": lambda _, new: new,
    "add": lambda old, new: old + new,
    "min": np.minimum,
    "max": np.maximum,
    "and": lambda old, new: old & new,
    "or": lambda old, new: old | new,
    "xor": lambda old, new: old ^ new,
    "inc": lambda old, new: np.where(old >= new, 0, old + 1).astype(old.dtype),
    "dec": lambda old, new: np.where((old == 0) | (old > new), new, old - 1).astype(old.dtype),
}


def run_tensor_store(device: Device, case: TensorCopy) -> str:
    before = case.tensor()
    box = (np.arange(int(np.prod(case.box_shape))) * 5 % 97).astype(before.dtype).reshape(case.box_shape)
    expected = before.copy()
    operation = _OPERATIONS[case.reduction]
    for index, at in case.places():
        expected[at] = operation(before[at][None], box[index][None])[0]
    data = swizzled(box.reshape(-1).view(np.uint8), case.swizzle)
    size = -(-len(data) // 128) * 128
    data = np.concatenate([data, np.zeros(size - len(data), np.uint8)])
    moves, names = _coordinates(case)
    opcode = f"cp.reduce.async.bulk.tensor.{case.rank}d.global.shared::cta.{case.reduction}"
    if not case.reduction:
        opcode = f"cp.async.bulk.tensor.{case.rank}d.global.shared::cta"
    text = (
        HEAD.format(parameters=parameters_of("from", "map"))
        + "ld.param.u64 %rd1, [from];"
        + FILL.format(size=size)
        + f"""ld.param.u64 %rd2, [map]; {moves}
        @%p1 {opcode}.tile.bulk_group [%rd2, {{{names}}}], [%base];
        @%p1 cp.async.bulk.commit_group;
        @%p1 cp.async.bulk.wait_group 0;
        ret;
    }}"""
    )
    target = device.upload(before)
    mapped = tensor_map(
        device, target, case.kind, case.sizes, case.strides, case.box, steps=case.steps, swizzle=case.swizzle
    )
    device.launch(text, 1, 32, WINDOW, device.upload(data), mapped)
    return differs(case, device.download(target, before), expected)


def differs(case: object, found: Array, expected: Array) -> str:
    wrong = int(np.count_nonzero(found != expected))
    return f"{case}: {wrong} of {expected.size} elements differ" if wrong else ""


def run_linear(device: Device) -> str:
    """Global to shared memory and back, 1040 bytes; then added to what is there."""
    data = np.arange(260, dtype=np.uint32)
    out = np.full(260, 7, np.uint32)
    text = (
        HEAD.format(parameters=parameters_of("from", "to", "sums"))
        + f"""ld.param.u64 %rd1, [from]; ld.param.u64 %rd2, [to]; ld.param.u64 %rd3, [sums];
        @%p1 mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 1040;
        @%p1 cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%base], [%rd1], 1040, [%bar];
        @%p1 mbarrier.arrive.shared::cta.b64 _, [%bar];
        {WAIT}
        @%p1 cp.async.bulk.global.shared::cta.bulk_group [%rd2], [%base], 1040;
        @%p1 cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%rd3], [%base], 1040;
        @%p1 cp.async.bulk.commit_group;
        @%p1 cp.async.bulk.wait_group 0;
        ret;
    }}"""
    )
    to, sums = device.upload(np.zeros_like(out)), device.upload(out)
    device.launch(text, 1, 32, WINDOW, device.upload(data), to, sums)
    return differs("copy", device.download(to, data), data) + differs("sum", device.download(sums, out), data + 7)


def run_mbarrier(device: Device) -> str:
    """Phases that end by arrivals, by bytes, and by both; a state, and both parities."""
    text = (
        HEAD.format(parameters=parameters_of("out"))
        + """ld.param.u64 %rd1, [out];
        @!%p1 bra done;
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%bar], 1; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1], %r2;
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%bar], 0; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1+4], %r2;
        mbarrier.arrive.expect_tx.shared::cta.b64 %rd2, [%bar], 48;
        mbarrier.test_wait.shared::cta.b64 %p2, [%bar], %rd2; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1+8], %r2;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 32;
        mbarrier.test_wait.shared::cta.b64 %p2, [%bar], %rd2; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1+12], %r2;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 16;
        mbarrier.test_wait.shared::cta.b64 %p2, [%bar], %rd2; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1+16], %r2;
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%bar], 0; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1+20], %r2;
        mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%bar], 1048560;
        mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%bar], 1048560;
        mbarrier.test_wait.parity.shared::cta.b64 %p2, [%bar], 1; selp.u32 %r2, 1, 0, %p2; st.global.u32 [%rd1+24], %r2;
        mbarrier.arrive.release.cta.shared::cta.b64 %rd2, [%bar], 1;
        mbarrier.test_wait.acquire.cta.shared::cta.b64 %p2, [%bar], %rd2; selp.u32 %r2, 1, 0, %p2;
        st.global.u32 [%rd1+28], %r2;
        mbarrier.inval.shared::cta.b64 [%bar];
        done: ret;
    }"""
    )
    out = np.full(8, 9, np.uint32)
    target = device.upload(out)
    device.launch(text, 1, 32, WINDOW, target)
    return differs("mbarrier", device.download(target, out), np.array([1, 0, 0, 0, 1, 1, 0, 1], np.uint32))


def run_elect(device: Device) -> str:
    """One lane of the mask is elected, and all know which."""
    text = (
        HEAD.format(parameters=parameters_of("out"))
        + """ld.param.u64 %rd1, [out]; mul.wide.u32 %rd2, %r1, 4; add.u64 %rd1, %rd1, %rd2;
        elect.sync %r2|%p2, 0xffffffff;
        setp.eq.u32 %p3, %r2, %r1; selp.u32 %r3, 1, 0, %p2; selp.u32 %r4, 2, 0, %p3; or.b32 %r3, %r3, %r4;
        vote.sync.ballot.b32 %r5, %p2, 0xffffffff; popc.b32 %r5, %r5; shl.b32 %r5, %r5, 8; or.b32 %r3, %r3, %r5;
        st.global.u32 [%rd1], %r3; ret;
    }"""
    )
    out = np.zeros(32, np.uint32)
    target = device.upload(out)
    device.launch(text, 1, 32, WINDOW, target)
    found = np.sort(device.download(target, out))
    return differs("elect", found, np.array([256] * 31 + [259], np.uint32))


def run_stmatrix(device: Device) -> str:
    """Four matrices, as they are and transposed."""
    wrong = ""
    fragment = np.arange(256, dtype=np.uint16).reshape(4, 8, 4, 2)  # matrix, row, lane of the row, half
    words = fragment.reshape(4, 32, 2).copy().view(np.uint32).reshape(4, 32)
    for transposed in (False, True):
        rows = fragment.reshape(4, 8, 8)
        expected = rows.transpose(0, 2, 1).copy() if transposed else rows
        trans = ".trans" if transposed else ""
        text = (
            HEAD.format(parameters=parameters_of("out", "from"))
            + f"""ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [from];
            mul.wide.u32 %rd3, %r1, 4; add.u64 %rd2, %rd2, %rd3;
            {"".join(f"ld.global.u32 %c{i}, [%rd2+{128 * i}];" for i in range(4))}
            shl.b32 %r2, %r1, 4; add.u32 %r2, %base, %r2;
            stmatrix.sync.aligned.m8n8.x4{trans}.shared.b16 [%r2], {{%c0, %c1, %c2, %c3}};
            bar.sync 0;"""
            + STORE.format(size=512)
        )
        out = np.zeros(256, np.uint16)
        target = device.upload(out)
        device.launch(text, 1, 32, WINDOW, target, device.upload(words))
        wrong += differs(f"stmatrix{trans}", device.download(target, out), expected.reshape(-1))
    return wrong


SINGLE = (run_linear, run_mbarrier, run_elect, run_stmatrix)

assert set(DTYPES) == set(DATA_TYPES)
